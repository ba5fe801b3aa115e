# Toshiba MG08, 16 TB, 7200 rpm, helium, 512e: MG08ACA16TE
#
# Sources:
#   [S] itprotoday.com, "Toshiba Forgoes Next-Gen Recording Tech in Designing Its First 16TB Drive":
#       nine platters, 7200 rpm, 512 MB buffer, Serial ATA of 6 Gbit/s
# "assumed" marks what none of them tells.

name = toshiba-mg08-16tb
capacity = 31251759104 sectors	# assumed: what drives of 16 TB report (SFF-8447)
rpm = 7200			# [S]
heads = 18			# [S]
cylinders = 475434		# derived: the capacity on tracks as below
logical_block = 512 B
physical_block = 4096 B

# Derived: 20 zones of as many cylinders each; sectors per track fall evenly from the outermost, which
# transfers 270 MB/s with all switches (assumed),
# to the innermost with 135 MB/s (assumed: half of it).
# Derived: skews are the sectors that pass during a switch.
# first and last cylinder, sectors per track, sectors, track skew, cylinder skew
zone = 0,23770,4869,2083337982,526,526
zone = 23771,47542,4741,2028654936,513,513
zone = 47543,71314,4613,1973884248,499,499
zone = 71315,95085,4485,1919032830,485,485
zone = 95086,118857,4357,1864342872,471,471
zone = 118858,142629,4228,1809144288,457,457
zone = 142630,166400,4100,1754299800,443,443
zone = 166401,190172,3972,1699602912,429,429
zone = 190173,213944,3844,1644832224,416,416
zone = 213945,237716,3716,1590061536,402,402
zone = 237717,261487,3588,1535226264,388,388
zone = 261488,285259,3460,1480520160,374,374
zone = 285260,309031,3332,1425749472,360,360
zone = 309032,332802,3204,1370921112,347,347
zone = 332803,356574,3076,1316208096,333,333
zone = 356575,380346,2947,1261009512,319,319
zone = 380347,404117,2819,1206188082,305,305
zone = 404118,427889,2691,1151468136,291,291
zone = 427890,451661,2563,1096697448,277,277
zone = 451662,475433,2435,1040577194,263,263

# Assumed, as is usual for the class.
# Derived: the curve a + b * sqrt(d - 1) + c * (d - 1) through 0.5 ms for one cylinder, 8.0 ms
# on average and 16.0 ms for the full stroke (E. K. Lee's form, as in DiskSim's manual).
seek = 1, 0.5000 ms
seek = 2, 0.5169 ms
seek = 4, 0.5293 ms
seek = 8, 0.5448 ms
seek = 16, 0.5657 ms
seek = 32, 0.5945 ms
seek = 64, 0.6348 ms
seek = 128, 0.6917 ms
seek = 256, 0.7722 ms
seek = 512, 0.8866 ms
seek = 1024, 1.0494 ms
seek = 2048, 1.2820 ms
seek = 4096, 1.6158 ms
seek = 19810, 3.0411 ms
seek = 39620, 4.1873 ms
seek = 59429, 5.1039 ms
seek = 79239, 5.9017 ms
seek = 118858, 7.2916 ms
seek = 158478, 8.5135 ms
seek = 198098, 9.6280 ms
seek = 237717, 10.6662 ms
seek = 316956, 12.5813 ms
seek = 396195, 14.3446 ms
seek = 475433, 16.0000 ms
head_switch = 0.9 ms		# assumed
write_settle = 0.4 ms	# assumed
settle_on_switch = no		# drives write as fast as they read: 132.8 and 132.6, 201 and 200 MB/s (jshook/perfscripts)

bus_read = 853 ns		# [S] 600 MB/s
bus_write = 853 ns

segments = 48	# [S] 512 MB
segment_sectors = 8192 KiB	# assumed: for sixteen streams and a spare one, where the buffer is small
write_segments = 4096	# fitted to the 550 random writes/s of its class (Exos X20's data sheet)
write_buffer = 131072 KiB	# assumed: about a fifth of the buffer
write_cache = back		# assumed: as shipped
readahead = max			# assumed: a segment's worth
readahead_max = 6144 KiB	# assumed: what a segment holds beside the request
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
