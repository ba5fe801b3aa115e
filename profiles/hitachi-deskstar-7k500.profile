# Hitachi Deskstar 7K500, 500 GB, 7200 rpm: HDS725050KLA360
#
# Sources:
#   [S] Hitachi, Deskstar 7K500 and E7K500 Hard Disk Drive Specification, section 4.4,
#       tables 10 to 12 (easymanua.ls, hitachi/hds725050kla360, pages 31 and 32)
#   [R] silentpcreview.com, "The Terabyte Landmark: Hitachi Deskstar 7K1000": five platters of 100 GB
# "assumed" marks what none of them tells.

name = hitachi-deskstar-7k500
capacity = 976773168 sectors	# derived: IDEMA LBA1-03, 97696368 + 1953504 * (GB - 50)
rpm = 7200			# assumed: the 7 of the family's name
heads = 10			# [R]
cylinders = 106433		# derived: the capacity on tracks as below
logical_block = 512 B
physical_block = 512 B

# Derived: 30 zones of as many cylinders each; sectors per track fall evenly from the outermost, which
# transfers 64.8 MB/s with all switches ([S] table 10, sustained, zone 0),
# to the innermost with 31.0 MB/s ([S] table 10, sustained, zone 29).
# Derived: skews are the sectors that pass during a switch.
# first and last cylinder, sectors per track, sectors, track skew, cylinder skew
zone = 0,3546,1242,44053740,221,221
zone = 3547,7094,1220,43285600,217,217
zone = 7095,10642,1197,42469560,213,213
zone = 10643,14190,1175,41689000,209,209
zone = 14191,17737,1153,40896910,205,205
zone = 17738,21285,1130,40092400,201,201
zone = 21286,24833,1108,39311840,197,197
zone = 24834,28381,1086,38531280,193,193
zone = 28382,31928,1063,37704610,189,189
zone = 31929,35476,1041,36934680,185,185
zone = 35477,39024,1019,36154120,181,181
zone = 39025,42572,996,35338080,177,177
zone = 42573,46119,974,34547780,173,173
zone = 46120,49667,952,33776960,170,170
zone = 49668,53215,929,32960920,165,165
zone = 53216,56763,907,32180360,162,162
zone = 56764,60311,884,31364320,157,157
zone = 60312,63858,862,30575140,154,154
zone = 63859,67406,840,29803200,150,150
zone = 67407,70954,817,28987160,146,146
zone = 70955,74502,795,28206600,142,142
zone = 74503,78049,773,27418310,138,138
zone = 78050,81597,750,26610000,134,134
zone = 81598,85145,728,25829440,130,130
zone = 85146,88693,706,25048880,126,126
zone = 88694,92240,683,24226010,122,122
zone = 92241,95788,661,23452280,118,118
zone = 95789,99336,639,22671720,114,114
zone = 99337,102884,616,21855680,110,110
zone = 102885,106432,594,20796588,106,106

# Average derived from [S] table 12: 4096 random reads in T = 55.5 s / 1.05; others assumed.
# Derived: the curve a + b * sqrt(d - 1) + c * (d - 1) through 0.8 ms for one cylinder, 8.5 ms
# on average and 17.0 ms for the full stroke (E. K. Lee's form, as in DiskSim's manual).
seek = 1, 0.8000 ms
seek = 2, 0.8353 ms
seek = 4, 0.8612 ms
seek = 8, 0.8936 ms
seek = 16, 0.9372 ms
seek = 32, 0.9976 ms
seek = 64, 1.0826 ms
seek = 128, 1.2029 ms
seek = 256, 1.3742 ms
seek = 512, 1.6194 ms
seek = 1024, 1.9726 ms
seek = 2048, 2.4852 ms
seek = 4096, 3.2366 ms
seek = 4435, 3.3430 ms
seek = 8869, 4.5111 ms
seek = 13304, 5.4531 ms
seek = 17739, 6.2780 ms
seek = 26608, 7.7248 ms
seek = 35478, 9.0061 ms
seek = 44347, 10.1814 ms
seek = 53216, 11.2815 ms
seek = 70955, 13.3229 ms
seek = 88694, 15.2146 ms
seek = 106432, 16.9998 ms
head_switch = 1.48 ms		# derived: [S] table 10 has 76.3 MB/s within a track, 64.8 MB/s with switches
write_settle = 1.0 ms		# assumed
settle_on_switch = no		# drives write as fast as they read: 132.8 and 132.6, 201 and 200 MB/s (jshook/perfscripts)

bus_read = 1707 ns		# [S] table 10: 300 MB/s
bus_write = 1707 ns

segments = 17	# assumed: 16 MB in all
segment_sectors = 736 KiB	# assumed: for sixteen streams and a spare one, where the buffer is small
write_segments = 9	# fitted to 124 random writes/s of a 500 GB drive of 7200 rpm (fio-plot)
write_buffer = 3072 KiB	# assumed: about a fifth of the buffer
write_cache = back		# assumed: as shipped
readahead = max			# assumed: a segment's worth
readahead_max = 608 KiB	# assumed: what a segment holds beside the request
readahead_stream = 608 KiB	# assumed: two streams get half of the rate or near it (xbitlabs, HDDs of 2010, page 11: Hitachi)
readahead_on_idle_hit = yes	# a reader slower than the media finds the next sectors read
keep_requested = yes	# assumed: what is read again comes from the buffer, as burst rates of benchmarks show
destage_idle = 1 ms		# assumed
overhead = 0.041 ms	# assumed: as Hitachi's 7K1000.B; xbitlabs, 1 TB roundup, page 9: a 7K1000.B reads 100 MB/s in 4 KB at depth 4
overhead_read_miss_after_read = 0.059 ms	# derived: what a miss takes more
overhead_read_miss_after_write = 0.059 ms
overhead_write_miss_after_read = 0.059 ms
overhead_write_miss_after_write = 0.059 ms
ncq_depth = 16			# fio-plot, a drive of 500 GB: no more reads at depth 64 than at 32, and 8 % more than at 16
ncq_rotation = 0		# fitted to the 1.63 times of depth 1 that a drive of 500 GB reads at depth 32 (fio-plot)
