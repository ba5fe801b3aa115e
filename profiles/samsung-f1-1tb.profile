# Samsung Spinpoint F1, 1 TB, 3.5 inch, 7200 rpm: HD103UJ
#
# Sources:
#   [L] louwrentius/fio-plot, git history: fio 4 KiB random over the whole drive, depth 1 to 32
# "assumed" marks what none of them tells.
#
# Fitted: the seek curve, ncq_rotation, ncq_unseen, ncq_fair and ncq_age_limit by a search for the rates, p50 and p99 of
# random reads at depths 1 to 32 [L]. Evidence are p90, p99.9 and all that is no random read.

name = samsung-f1-1tb
capacity = 1953525168 sectors	# derived: IDEMA LBA1-03, 97696368 + 1953504 * (GB - 50)
rpm = 7200			# data sheet
heads = 6			# assumed: three platters of 334 GB
cylinders = 222245		# derived: the capacity on tracks as below
logical_block = 512 B
physical_block = 512 B		# assumed: its age

# Derived: 16 zones of as many cylinders each; sectors per track fall evenly from the outermost to the innermost.
# Assumed: 1920 and 1010, of 118 MB/s and 62 MB/s; skews are the sectors that pass during a switch.
# first and last cylinder, sectors per track, sectors, track skew, cylinder skew
zone = 0,13889,1920,160012800,217,217
zone = 13890,27779,1859,154929060,210,210
zone = 27780,41669,1799,149928660,203,203
zone = 41670,55560,1738,144855348,196,196
zone = 55561,69450,1677,139761180,189,189
zone = 69451,83340,1617,134760780,183,183
zone = 83341,97231,1556,129686376,176,176
zone = 97232,111121,1495,124593300,169,169
zone = 111122,125011,1435,119592900,162,162
zone = 125012,138902,1374,114517404,155,155
zone = 138903,152792,1313,109425420,148,148
zone = 152793,166682,1253,104425020,142,142
zone = 166683,180573,1192,99348432,135,135
zone = 180574,194463,1131,94257540,128,128
zone = 194464,208353,1071,89257140,121,121
zone = 208354,222244,1010,84173808,114,114

# Derived: the curve a + b * sqrt(d - 1) + c * (d - 1) from two cylinders on.
# Fitted: a = 2.5 ms, 10.1 ms over a third of the cylinders, 17 ms over all of them. One cylinder: assumed.
# Derived: up to 4 cylinders no more than 0.9 ms * (1 + sqrt(d - 1)): two cylinders never take more than one and one.
seek = 1, 0.9000 ms
seek = 2, 1.8000 ms
seek = 4, 2.4588 ms
seek = 8, 2.5637 ms
seek = 16, 2.5934 ms
seek = 32, 2.6343 ms
seek = 64, 2.6918 ms
seek = 128, 2.7728 ms
seek = 256, 2.8877 ms
seek = 512, 3.0509 ms
seek = 1024, 3.2838 ms
seek = 2048, 3.6173 ms
seek = 4096, 4.0973 ms
seek = 9260, 4.9460 ms
seek = 18520, 6.0364 ms
seek = 27781, 6.9038 ms
seek = 37041, 7.6557 ms
seek = 55561, 8.9595 ms
seek = 74082, 10.1000 ms
seek = 92602, 11.1362 ms
seek = 111122, 12.0982 ms
seek = 148163, 13.8655 ms
seek = 185204, 15.4852 ms
seek = 222244, 17.0000 ms
head_switch = 0.9 ms		# assumed
write_settle = 0.5 ms		# assumed
settle_on_switch = no		# assumed: it writes as fast as it reads

bus_read = 1706 ns		# assumed: 300 MB/s, Serial ATA 3 Gb/s
bus_write = 1706 ns

segments = 17			# assumed
segment_sectors = 1664 KiB	# assumed
write_segments = 36		# fitted to 148 to 152 random writes/s [L]
write_buffer = 4096 KiB	# assumed
write_cache = back		# assumed: as shipped
readahead = max			# assumed
readahead_max = 1536 KiB	# assumed: what a segment holds beside the request
readahead_stream = 1536 KiB	# assumed
readahead_on_idle_hit = yes	# assumed: as its class
keep_requested = yes		# assumed: as its class
destage_idle = 1 ms		# assumed
overhead = 0.04 ms		# assumed: as its class
overhead_read_miss_after_read = 0.06 ms		# assumed: what a miss takes more
overhead_read_miss_after_write = 0.06 ms
overhead_write_miss_after_read = 0.06 ms
overhead_write_miss_after_write = 0.06 ms
ncq_depth = 31			# Linux keeps one of 32
ncq_rotation = 0.35		# fitted
ncq_unseen = 4			# fitted
ncq_fair = 8			# fitted: 7 to 14 are alike, as measured depths are 8 and 16
ncq_age_limit = 1800 ms		# fitted
max_sectors = 1280 KiB		# Linux since 4.3
max_segments = 168		# AHCI of Linux (AHCI_MAX_SG)
