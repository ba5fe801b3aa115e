# Hitachi Ultrastar 15K450, 450 GB, 15000 rpm: HUS154545VLF400
#
# Sources:
#   [S] Hitachi, Ultrastar 15K450 (FC-AL) Hard Disk Drive Specification, section 4.5.1, table 7
#       (manualsdump.com, hitachi-hus154545vlf400, page 27)
# "assumed" marks what none of them tells.

name = hitachi-ultrastar-15k450
capacity = 879097968 sectors	# derived: IDEMA LBA1-03, 97696368 + 1953504 * (GB - 50)
rpm = 15000			# assumed: the 15 of the family's name
heads = 8			# assumed: four disks
cylinders = 106600		# derived: the capacity on tracks as below
logical_block = 512 B
physical_block = 512 B

# Derived: 16 zones of as many cylinders each; sectors per track fall evenly from the outermost, which
# transfers 150 MB/s with all switches (assumed),
# to the innermost with 90 MB/s (assumed: 15000 rpm drives use a narrower band of the disk).
# Derived: skews are the sectors that pass during a switch.
# first and last cylinder, sectors per track, sectors, track skew, cylinder skew
zone = 0,6661,1289,68698544,129,129
zone = 6662,13324,1255,66896520,126,126
zone = 13325,19986,1220,65021120,122,122
zone = 19987,26649,1186,63218544,119,119
zone = 26650,33311,1151,61343696,116,116
zone = 33312,39974,1117,59540568,112,112
zone = 39975,46636,1083,57719568,109,109
zone = 46637,53299,1048,55862592,105,105
zone = 53300,59961,1014,54042144,102,102
zone = 59962,66624,979,52184616,98,98
zone = 66625,73286,945,50364720,95,95
zone = 73287,79949,911,48559944,92,92
zone = 79950,86611,876,46687296,88,88
zone = 86612,93274,842,44881968,85,85
zone = 93275,99936,807,43009872,81,81
zone = 99937,106599,773,41066256,78,78

# [S] table 7, typical, read; others assumed.
# Derived: the curve a + b * sqrt(d - 1) + c * (d - 1) through 0.4 ms for one cylinder, 3.3 ms
# on average and 6.6 ms for the full stroke (E. K. Lee's form, as in DiskSim's manual).
seek = 1, 0.4000 ms
seek = 2, 0.4128 ms
seek = 4, 0.4222 ms
seek = 8, 0.4339 ms
seek = 16, 0.4497 ms
seek = 32, 0.4716 ms
seek = 64, 0.5025 ms
seek = 128, 0.5462 ms
seek = 256, 0.6087 ms
seek = 512, 0.6982 ms
seek = 1024, 0.8277 ms
seek = 2048, 1.0164 ms
seek = 4096, 1.2948 ms
seek = 4442, 1.3352 ms
seek = 8883, 1.7721 ms
seek = 13325, 2.1272 ms
seek = 17767, 2.4399 ms
seek = 26650, 2.9916 ms
seek = 35533, 3.4833 ms
seek = 44417, 3.9368 ms
seek = 53300, 4.3629 ms
seek = 71067, 5.1576 ms
seek = 88833, 5.8980 ms
seek = 106599, 6.5999 ms
head_switch = 0.4 ms		# assumed
write_settle = 0.5 ms		# [S] table 7: a write's average is 3.8 ms
settle_on_switch = no		# drives write as fast as they read: 132.8 and 132.6, 201 and 200 MB/s (jshook/perfscripts)

bus_read = 1280 ns		# assumed: 400 MB/s, Fibre Channel 4 Gb/s
bus_write = 1280 ns

segments = 17	# assumed: 16 MB in all
segment_sectors = 704 KiB	# assumed: for sixteen streams and a spare one, where the buffer is small
write_segments = 16	# assumed: random writes at 1.4 to 2.1 times the rate of reads, as measured drives (fio-plot)
write_buffer = 4096 KiB	# assumed: about a fifth of the buffer
write_cache = back		# assumed: as shipped
readahead = max			# assumed: a segment's worth
readahead_max = 576 KiB	# assumed: what a segment holds beside the request
readahead_stream = 576 KiB	# assumed: two streams get half of the rate or near it (xbitlabs, HDDs of 2010, page 11: Hitachi)
readahead_on_idle_hit = yes	# a reader slower than the media finds the next sectors read
keep_requested = yes	# assumed: what is read again comes from the buffer, as burst rates of benchmarks show
destage_idle = 1 ms		# assumed
overhead = 0.08 ms	# class; xbitlabs, 1 TB roundup, page 9: E7K1000 and RE3 read 100 MB/s in 8 KB at depth 4
overhead_read_miss_after_read = 0.02 ms	# derived: what a miss takes more
overhead_read_miss_after_write = 0.02 ms
overhead_write_miss_after_read = 0.02 ms
overhead_write_miss_after_write = 0.02 ms
ncq_depth = 64			# assumed: a usual depth on SCSI
