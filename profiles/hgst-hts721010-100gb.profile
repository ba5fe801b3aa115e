# Hitachi Travelstar 7K100, 100 GB, 2.5 inch, 7200 rpm: HTS721010G9SA00
#
# Sources:
#   [L] louwrentius/fio-plot, git history: fio 4 KiB random over the whole drive, depth 1 to 32
# "assumed" marks what none of them tells.
#
# Fitted: the seek curve, ncq_rotation, ncq_unseen and ncq_age_limit by a search for the rates, p50 and p99 of random
# reads at depths 1 to 32 [L]. Evidence are p90, p99.9 and all that is no random read.

name = hgst-hts721010-100gb
capacity = 195371568 sectors	# derived: IDEMA LBA1-03, 97696368 + 1953504 * (GB - 50)
rpm = 7200			# data sheet
heads = 4			# assumed: two platters
cylinders = 63848		# derived: the capacity on tracks as below
logical_block = 512 B
physical_block = 512 B		# assumed: its age

# Derived: 16 zones of as many cylinders each; sectors per track fall evenly from the outermost to the innermost.
# Assumed: 1000 and 530, of 62 MB/s and 33 MB/s; skews are the sectors that pass during a switch.
# first and last cylinder, sectors per track, sectors, track skew, cylinder skew
zone = 0,3989,1000,15960000,113,113
zone = 3990,7980,969,15469116,110,110
zone = 7981,11970,937,14954520,106,106
zone = 11971,15961,906,14463384,102,102
zone = 15962,19951,875,13965000,99,99
zone = 19952,23942,843,13457652,95,95
zone = 23943,27932,812,12959520,92,92
zone = 27933,31923,781,12467884,88,88
zone = 31924,35913,749,11954040,85,85
zone = 35914,39904,718,11462152,81,81
zone = 39905,43894,687,10964520,78,78
zone = 43895,47885,655,10456420,74,74
zone = 47886,51875,624,9959040,71,71
zone = 51876,55866,593,9466652,67,67
zone = 55867,59856,561,8953560,64,64
zone = 59857,63847,530,8458108,60,60

# Derived: the curve a + b * sqrt(d - 1) + c * (d - 1) from two cylinders on.
# Fitted: a = 8 ms, 13.2 ms over a third of the cylinders, 22 ms over all of them. One cylinder: assumed.
# Derived: up to 64 cylinders no more than 0.9 ms * (1 + sqrt(d - 1)): two cylinders never take more than one and one.
seek = 1, 0.9000 ms
seek = 2, 1.8000 ms
seek = 4, 2.4588 ms
seek = 8, 3.2812 ms
seek = 16, 4.3857 ms
seek = 32, 5.9110 ms
seek = 64, 8.0435 ms
seek = 128, 8.1210 ms
seek = 256, 8.1853 ms
seek = 512, 8.2901 ms
seek = 1024, 8.4660 ms
seek = 2048, 8.7702 ms
seek = 2660, 8.9381 ms
seek = 4096, 9.3113 ms
seek = 5321, 9.6154 ms
seek = 7981, 10.2494 ms
seek = 10641, 10.8612 ms
seek = 15962, 12.0464 ms
seek = 21283, 13.2001 ms
seek = 26603, 14.3334 ms
seek = 31924, 15.4527 ms
seek = 42565, 17.6609 ms
seek = 53207, 19.8407 ms
seek = 63847, 22.0000 ms
head_switch = 0.9 ms		# assumed
write_settle = 0.5 ms		# assumed
settle_on_switch = no		# assumed: it writes as fast as it reads

bus_read = 3413 ns		# assumed: 150 MB/s, Serial ATA 1.5 Gb/s
bus_write = 3413 ns

segments = 17			# assumed
segment_sectors = 320 KiB	# assumed
write_segments = 8		# assumed
write_buffer = 1024 KiB	# assumed
write_cache = back		# assumed: as shipped
readahead = max			# assumed
readahead_max = 256 KiB	# assumed: what a segment holds beside the request
readahead_stream = 256 KiB	# assumed
readahead_on_idle_hit = yes	# assumed: as its class
keep_requested = yes		# assumed: as its class
destage_idle = 1 ms		# assumed
overhead = 0.04 ms		# assumed: as its class
overhead_read_miss_after_read = 0.06 ms		# assumed: what a miss takes more
overhead_read_miss_after_write = 0.06 ms
overhead_write_miss_after_read = 0.06 ms
overhead_write_miss_after_write = 0.06 ms
ncq_depth = 31			# Linux keeps one of 32
ncq_rotation = 0.05		# fitted
ncq_unseen = 1			# fitted
ncq_age_limit = 4000 ms		# fitted
max_sectors = 1280 KiB		# Linux since 4.3
max_segments = 168		# AHCI of Linux (AHCI_MAX_SG)
