# No drive that is known: one of 500 GB, 7200 rpm, that was measured
#
# Sources:
#   [L] louwrentius/fio-plot, git history: fio 4 KiB random over the whole drive, depth 1 to 64
# "assumed" marks what none of them tells.
#
# Fitted: the seek curve, ncq_rotation and ncq_age_limit by a search for the rates, p50 and p99 of random
# reads at depths 1 to 32 [L]. Evidence are p90, p99.9 and all that is no random read.

name = generic-500gb-7200
capacity = 976773168 sectors	# derived: IDEMA LBA1-03, 97696368 + 1953504 * (GB - 50)
rpm = 7200			# data sheet
heads = 4			# assumed: two platters
cylinders = 197728		# derived: the capacity on tracks as below
logical_block = 512 B
physical_block = 512 B		# assumed: its age

# Derived: 16 zones of as many cylinders each; sectors per track fall evenly from the outermost to the innermost.
# Assumed: 1620 and 850, of 100 MB/s and 52 MB/s; skews are the sectors that pass during a switch.
# first and last cylinder, sectors per track, sectors, track skew, cylinder skew
zone = 0,12357,1620,80079840,183,183
zone = 12358,24715,1569,77558808,177,177
zone = 24716,37073,1517,74988344,171,171
zone = 37074,49431,1466,72467312,166,166
zone = 49432,61789,1415,69946280,160,160
zone = 61790,74147,1363,67375816,154,154
zone = 74148,86505,1312,64854784,148,148
zone = 86506,98863,1261,62333752,142,142
zone = 98864,111221,1209,59763288,137,137
zone = 111222,123579,1158,57242256,131,131
zone = 123580,135937,1107,54721224,125,125
zone = 135938,148295,1055,52150760,119,119
zone = 148296,160653,1004,49629728,114,114
zone = 160654,173011,953,47108696,108,108
zone = 173012,185369,901,44538232,102,102
zone = 185370,197727,850,42014048,96,96

# Derived: the curve a + b * sqrt(d - 1) + c * (d - 1) from two cylinders on.
# Fitted: a = 4 ms, 10.6 ms over a third of the cylinders, 18 ms over all of them. One cylinder: assumed.
# Derived: up to 8 cylinders no more than 0.9 ms * (1 + sqrt(d - 1)): two cylinders never take more than one and one.
seek = 1, 0.9000 ms
seek = 2, 1.8000 ms
seek = 4, 2.4588 ms
seek = 8, 3.2812 ms
seek = 16, 4.0695 ms
seek = 32, 4.1002 ms
seek = 64, 4.1434 ms
seek = 128, 4.2047 ms
seek = 256, 4.2924 ms
seek = 512, 4.4185 ms
seek = 1024, 4.6013 ms
seek = 2048, 4.8691 ms
seek = 4096, 5.2661 ms
seek = 8239, 5.8704 ms
seek = 16477, 6.7935 ms
seek = 24716, 7.5608 ms
seek = 32955, 8.2474 ms
seek = 49432, 9.4807 ms
seek = 65909, 10.6000 ms
seek = 82387, 11.6464 ms
seek = 98864, 12.6409 ms
seek = 131819, 14.5205 ms
seek = 164773, 16.2969 ms
seek = 197727, 18.0000 ms
head_switch = 0.9 ms		# assumed
write_settle = 0.5 ms		# assumed
settle_on_switch = no		# assumed: it writes as fast as it reads

bus_read = 1706 ns		# assumed: 300 MB/s, Serial ATA 3 Gb/s
bus_write = 1706 ns

segments = 17			# assumed
segment_sectors = 1664 KiB	# assumed
write_segments = 30		# assumed: between those of its class
write_buffer = 2048 KiB	# assumed
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
ncq_rotation = 0.15		# fitted
ncq_age_limit = 1500 ms		# fitted
max_sectors = 1280 KiB		# Linux since 4.3
max_segments = 168		# AHCI of Linux (AHCI_MAX_SG)
