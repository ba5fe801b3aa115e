# Hitachi Deskstar 7K1000, 1 TB: HDS721010KLA330, the paper's H2 (the paper: Agrawal et al., FAST 2011).
#
# Sources: [T1] the paper's table 1. [T3] its table 3: 4 KiB requests on one disk with the drive's
# caches out of the way: 78.66 random reads, 71.88 random writes, 118.65 sequential reads and 118.71
# sequential writes a second. [DS] Hitachi's data sheet of the 7K1000: 7200 rpm, 5 disks, 10 heads,
# 32 MB buffer, average seek 8.5 to 8.7 ms.
# To compare with [T3]: --option read_cache=no --option readahead=none --option write_cache=off
#
# Where they disagree:
# - Seek curve: [T1] has 3300 + (cyl * 5) / 10^6 us for long seeks, which is no more than 3301 us, and
#   700 + sqrt(cyl) us, no more than 1084 us, for short ones. A random read in [T3] takes 12.71 ms,
#   of which rotation and transfer are 4.2 ms. [T3] and [DS], which agree, are followed; of [T1] the bases are kept.
# - Cache: [T1] has 500 segments of 600 KB, 300 MB, [DS] 32 MB. [DS] is followed, with [T1]'s segments.

name = hitachi-hds721010kla330
capacity = 1953525168 sectors	# [DS] 1 TB
rpm = 7200			# [T1], [DS]
heads = 10			# [DS]
cylinders = 147583		# [T1]
logical_block = 512 B		# [DS]
physical_block = 512 B		# [DS]

# 30 zones [T1]. Derived: sectors per track fall evenly from 1680 to 840 [T1], cylinders per zone
# fall evenly, as far as the capacity asks for; they stay within [T1]'s 1279 to 8320. 112 sectors
# at the end stay unused. Derived: skews are the sectors of a head and of a cylinder switch.
# first and last cylinder, sectors per track, sectors, track skew, cylinder skew
zone = 0,7014,1680,117852000,283,323
zone = 7015,13883,1651,113407190,278,317
zone = 13884,20607,1622,109063280,273,312
zone = 20608,27188,1593,104835330,268,306
zone = 27189,33624,1564,100659040,263,301
zone = 33625,39915,1535,96566850,258,295
zone = 39916,46062,1506,92573820,254,290
zone = 46063,52065,1477,88664310,249,284
zone = 52066,57923,1448,84823840,244,279
zone = 57924,63637,1419,81081660,239,273
zone = 63638,69207,1390,77423000,234,267
zone = 69208,74632,1361,73834250,229,262
zone = 74633,79912,1332,70329600,224,256
zone = 79913,85048,1303,66922080,219,251
zone = 85049,90040,1274,63598080,215,245
zone = 90041,94887,1246,60393620,210,240
zone = 94888,99590,1217,57235510,205,234
zone = 99591,104148,1188,54149040,200,229
zone = 104149,108562,1159,51158260,195,223
zone = 108563,112832,1130,48251000,190,217
zone = 112833,116957,1101,45416250,185,212
zone = 116958,120937,1072,42665600,181,206
zone = 120938,124773,1043,40009480,176,201
zone = 124774,128465,1014,37436880,171,195
zone = 128466,132012,985,34937950,166,190
zone = 132013,135415,956,32532680,161,184
zone = 135416,138673,927,30201660,156,178
zone = 138674,141787,898,27963720,151,173
zone = 141788,144757,869,25809300,146,167
zone = 144758,147582,840,23729888,142,162

seek_short_base = 0.7 ms	# [T1]
seek_short_factor = 33.669 us	# derived: the two parts meet without a bend
seek_long_base = 3.3 ms		# [T1]
seek_long_factor = 109 ns	# chosen to meet 78.66 random reads/s [T3]
seek_limit = 23853		# derived: where they meet
head_switch = 1.4 ms		# [T1]
cylinder_switch = 1.6 ms	# [T1]
write_settle = 1.2 ms		# chosen to meet 71.88 random writes/s [T3]: what they take longer than reads
settle_on_switch = no		# drives write as fast as they read: 132.8 and 132.6, 201 and 200 MB/s (jshook/perfscripts)

bus_read = 3850 ns		# [T1] 133 MB/s; the interface is Serial ATA of 300 MB/s
bus_write = 3850 ns		# [T1]

segments = 17	# derived: 32 MB [DS] less write_buffer, in segments of
segment_sectors = 1536 KiB	# assumed: room for seventeen streams; [T1] has 600 KB
write_segments = 24	# fitted to 148 to 156 random writes/s of drives of 1 TB and 7200 rpm (fio-plot)
write_buffer = 6144 KiB	# assumed: about a fifth of the buffer
write_cache = back		# assumed: as shipped. The paper models write-through: write_cache=through
readahead = max			# assumed: a segment's worth
readahead_max = 1432 KiB	# assumed: what a segment holds beside the request
readahead_stream = 1432 KiB	# assumed: two streams get half of the rate or near it (xbitlabs, HDDs of 2010, page 11: Hitachi)
readahead_on_idle_hit = yes	# a reader slower than the media finds the next sectors read
read_hits_on_write_data = yes	# assumed
drop_requested = yes	# xbitlabs, Hitachi Deskstar 7K1000, page 4: what was read is read from the platters again
destage_idle = 1 ms		# assumed

overhead = 0.05 ms	# fitted to 80 MB/s in 4 KB at depth 4 of a drive of this family (xbitlabs, 1 TB roundup, page 9)
overhead_read_miss_after_read = 0.05 ms	# derived: what a miss takes more
overhead_read_miss_after_write = 0.05 ms
overhead_write_miss_after_read = 0.05 ms
overhead_write_miss_after_write = 0.05 ms
ncq_depth = 32			# assumed: Serial ATA's most
ncq_rotation = 0		# fitted to the 1.82 times of depth 1 that a Samsung F1 reads at depth 32 (fio-plot)
nr_requests = 128		# [T1] 128-160: with batching
scheduler = fifo		# [T1]
plug_time = 3 ms		# [T1]
