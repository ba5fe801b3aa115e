# Seagate Exos X20, 20 TB, 7200 rpm, helium, 512e: ST20000NM007D
#
# Sources:
#   [S] blocksandfiles.com, 2023-10-18, "Seagate pips Toshiba and WD with 24TB drive":
#       ten platters, 7200 rpm, 256 MB cache, 285 MB/s sustained at most, Serial ATA 6 Gb/s
#       (the same site's article of 2022-03-28 has nine platters; the later one is followed)
# "assumed" marks what none of them tells.

name = seagate-exos-x20-20tb
capacity = 39063650304 sectors	# assumed: what drives of 20 TB report (SFF-8447)
rpm = 7200			# [S]
heads = 20			# [S]
cylinders = 506683		# derived: the capacity on tracks as below
logical_block = 512 B
physical_block = 4096 B

# Derived: 20 zones of as many cylinders each; sectors per track fall evenly from the outermost, which
# transfers 285 MB/s with all switches ([S]),
# to the innermost with 142.5 MB/s (assumed: half of it).
# Derived: skews are the sectors that pass during a switch.
# first and last cylinder, sectors per track, sectors, track skew, cylinder skew
zone = 0,25333,5140,2604335200,556,556
zone = 25334,50667,5005,2535933400,541,541
zone = 50668,76001,4869,2467024920,526,526
zone = 76002,101335,4734,2398623120,512,512
zone = 101336,126669,4599,2330221320,497,497
zone = 126670,152003,4464,2261819520,483,483
zone = 152004,177338,4328,2192997600,468,468
zone = 177339,202672,4193,2124509240,453,453
zone = 202673,228006,4058,2056107440,439,439
zone = 228007,253340,3923,1987705640,424,424
zone = 253341,278674,3787,1918797160,409,409
zone = 278675,304008,3652,1850395360,395,395
zone = 304009,329342,3517,1781993560,380,380
zone = 329343,354677,3382,1713659400,366,366
zone = 354678,380011,3246,1644683280,351,351
zone = 380012,405345,3111,1576281480,336,336
zone = 405346,430679,2976,1507879680,322,322
zone = 430680,456013,2841,1439477880,307,307
zone = 456014,481347,2705,1370569400,293,293
zone = 481348,506682,2570,1300635704,278,278

# Assumed, as is usual for the class.
# Derived: the curve a + b * sqrt(d - 1) + c * (d - 1) through 0.5 ms for one cylinder, 8.0 ms
# on average and 16.0 ms for the full stroke (E. K. Lee's form, as in DiskSim's manual).
seek = 1, 0.5000 ms
seek = 2, 0.5164 ms
seek = 4, 0.5284 ms
seek = 8, 0.5434 ms
seek = 16, 0.5636 ms
seek = 32, 0.5915 ms
seek = 64, 0.6306 ms
seek = 128, 0.6857 ms
seek = 256, 0.7637 ms
seek = 512, 0.8744 ms
seek = 1024, 1.0320 ms
seek = 2048, 1.2570 ms
seek = 4096, 1.5798 ms
seek = 21112, 3.0411 ms
seek = 42224, 4.1873 ms
seek = 63335, 5.1039 ms
seek = 84447, 5.9017 ms
seek = 126671, 7.2916 ms
seek = 168894, 8.5135 ms
seek = 211118, 9.6280 ms
seek = 253342, 10.6662 ms
seek = 337789, 12.5813 ms
seek = 422236, 14.3446 ms
seek = 506682, 16.0000 ms
head_switch = 0.9 ms		# assumed
write_settle = 0.4 ms	# class: Seagate Constellation, 8.0 and 8.4 ms on average for reads and writes (data sheet)
settle_on_switch = no		# drives write as fast as they read: 132.8 and 132.6, 201 and 200 MB/s (jshook/perfscripts)

bus_read = 853 ns		# [S] 600 MB/s
bus_write = 853 ns

segments = 32	# [S] 256 MB
segment_sectors = 6144 KiB	# assumed: for sixteen streams and a spare one, where the buffer is small
write_segments = 4096	# fitted to the data sheet's 550 random writes/s, 4 KiB at depth 16
write_buffer = 65536 KiB	# assumed: about a fifth of the buffer
write_cache = back		# assumed: as shipped
readahead = max			# assumed: a segment's worth
readahead_max = 5120 KiB	# assumed: what a segment holds beside the request
readahead_stream = 4608 KiB	# assumed: two streams get half of the rate or near it (xbitlabs, HDDs of 2010, page 11: Hitachi)
readahead_on_idle_hit = yes	# a reader slower than the media finds the next sectors read
keep_requested = yes	# assumed: what is read again comes from the buffer, as burst rates of benchmarks show
destage_idle = 1 ms		# assumed
overhead = 0.04 ms	# assumed: as the best of 2009; xbitlabs, 1 TB roundup, page 9: a 7K1000.B reads 100 MB/s in 4 KB at depth 4
overhead_read_miss_after_read = 0.06 ms	# derived: what a miss takes more
overhead_read_miss_after_write = 0.06 ms
overhead_write_miss_after_read = 0.06 ms
overhead_write_miss_after_write = 0.06 ms
ncq_depth = 32			# assumed: what Serial ATA allows
ncq_rotation = 0.12		# jshook: a drive of 7200 rpm does as one that knows 12 % of the angle
