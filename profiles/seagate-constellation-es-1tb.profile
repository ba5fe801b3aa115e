# Seagate Constellation ES, 1 TB, 7200 rpm: ST31000524NS
#
# Sources:
#   [S] Seagate, Constellation ES Serial ATA Product Manual, Rev. D, sections 3.2 and 3.4
#       (manualsdump.com, seagate-st31000524ns, page 12)
# "assumed" marks what none of them tells.

name = seagate-constellation-es-1tb
capacity = 1953525168 sectors	# [S] 3.2
rpm = 7200			# [S] 3.4
heads = 4			# derived: 347 Gb/in2 [S] is some 500 GB on a disk
cylinders = 260765		# derived: the capacity on tracks as below
logical_block = 512 B
physical_block = 512 B

# Derived: 16 zones of as many cylinders each; sectors per track fall evenly from the outermost, which
# transfers 140 MB/s with all switches ([S] 3.4, at most),
# to the innermost with 70 MB/s (assumed: half of it).
# Derived: skews are the sectors that pass during a switch.
# first and last cylinder, sectors per track, sectors, track skew, cylinder skew
zone = 0,16296,2497,162774436,240,240
zone = 16297,32594,2414,157373488,232,232
zone = 32595,48892,2331,151962552,224,224
zone = 48893,65190,2247,146486424,216,216
zone = 65191,81488,2164,141075488,208,208
zone = 81489,97785,2081,135656228,200,200
zone = 97786,114083,1998,130253616,192,192
zone = 114084,130381,1915,124842680,184,184
zone = 130382,146679,1831,119366552,176,176
zone = 146680,162977,1748,113955616,168,168
zone = 162978,179274,1665,108538020,160,160
zone = 179275,195572,1582,103133744,152,152
zone = 195573,211870,1499,97722808,144,144
zone = 211871,228168,1415,92246680,136,136
zone = 228169,244466,1332,86835744,128,128
zone = 244467,260764,1249,81301092,120,120

# Assumed, as is usual for the class.
# Derived: the curve a + b * sqrt(d - 1) + c * (d - 1) through 0.8 ms for one cylinder, 8.5 ms
# on average and 17.0 ms for the full stroke (E. K. Lee's form, as in DiskSim's manual).
seek = 1, 0.8000 ms
seek = 2, 0.8225 ms
seek = 4, 0.8391 ms
seek = 8, 0.8597 ms
seek = 16, 0.8875 ms
seek = 32, 0.9259 ms
seek = 64, 0.9799 ms
seek = 128, 1.0561 ms
seek = 256, 1.1642 ms
seek = 512, 1.3183 ms
seek = 1024, 1.5387 ms
seek = 2048, 1.8558 ms
seek = 4096, 2.3149 ms
seek = 10865, 3.3431 ms
seek = 21730, 4.5113 ms
seek = 32596, 5.4533 ms
seek = 43461, 6.2781 ms
seek = 65191, 7.7249 ms
seek = 86922, 9.0062 ms
seek = 108652, 10.1815 ms
seek = 130382, 11.2817 ms
seek = 173843, 13.3230 ms
seek = 217304, 15.2146 ms
seek = 260764, 16.9999 ms
head_switch = 0.8 ms		# assumed
write_settle = 1.0 ms		# assumed
settle_on_switch = no		# drives write as fast as they read: 132.8 and 132.6, 201 and 200 MB/s (jshook/perfscripts)

bus_read = 1707 ns		# [S] 3.4: 300 MB/s
bus_write = 1707 ns

segments = 17	# assumed: 32 MB in all
segment_sectors = 1536 KiB	# assumed: for sixteen streams and a spare one, where the buffer is small
write_segments = 21	# fitted to 148 to 152 random writes/s of a drive of 1 TB and 7200 rpm (fio-plot, F1)
write_buffer = 6144 KiB	# assumed: about a fifth of the buffer
write_cache = back		# assumed: as shipped
readahead = max			# assumed: a segment's worth
readahead_max = 1280 KiB	# assumed: what a segment holds beside the request
readahead_stream = 1280 KiB	# assumed: two streams get half of the rate or near it (xbitlabs, HDDs of 2010, page 11: Hitachi)
readahead_on_idle_hit = yes	# a reader slower than the media finds the next sectors read
keep_requested = yes	# assumed: what is read again comes from the buffer, as burst rates of benchmarks show
destage_idle = 1 ms		# assumed
overhead = 0.17 ms	# class; xbitlabs, 1 TB roundup, page 9: at depth 4 Seagate's reads 100 MB/s in 32 KB, not in 16 KB
ncq_depth = 32			# assumed: what Serial ATA allows
ncq_rotation = 0		# fitted to the 1.82 times of depth 1 that a Samsung F1 reads at depth 32 (fio-plot)
