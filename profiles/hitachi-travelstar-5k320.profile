# Hitachi Travelstar 5K320, 320 GB, 2.5 inch, 5400 rpm: HTS543232L9A300
#
# Sources:
#   [S] Hitachi, 5K320 SATA OEM Specification, section 4.4.2, tables 5 to 8
#       (manualsdump.com, hitachi-hts543280l9a300, page 19)
# "assumed" marks what none of them tells.

name = hitachi-travelstar-5k320
capacity = 625142448 sectors	# derived: IDEMA LBA1-03, 97696368 + 1953504 * (GB - 50)
rpm = 5400			# [S] table 8
heads = 4			# assumed: two disks
cylinders = 117480		# derived: the capacity on tracks as below
logical_block = 512 B
physical_block = 512 B

# Derived: 16 zones of as many cylinders each; sectors per track fall evenly from the outermost, which
# transfers 75 MB/s with all switches (assumed),
# to the innermost with 37.5 MB/s (assumed: half of it).
# Derived: skews are the sectors that pass during a switch.
# first and last cylinder, sectors per track, sectors, track skew, cylinder skew
zone = 0,7341,1774,52098832,160,160
zone = 7342,14684,1715,50372980,155,155
zone = 14685,22026,1656,48633408,150,150
zone = 22027,29369,1597,46907084,144,144
zone = 29370,36711,1537,45138616,139,139
zone = 36712,44054,1478,43411816,134,134
zone = 44055,51396,1419,41673192,128,128
zone = 51397,58739,1360,39945920,123,123
zone = 58740,66081,1301,38207768,118,118
zone = 66082,73424,1242,36480024,112,112
zone = 73425,80766,1183,34742344,107,107
zone = 80767,88109,1124,33014128,102,102
zone = 88110,95451,1064,31247552,96,96
zone = 95452,102794,1005,29518860,91,91
zone = 102795,110136,946,27782128,86,86
zone = 110137,117479,887,25967796,80,80

# [S] tables 5 to 7, typical, read.
# Derived: the curve a + b * sqrt(d - 1) + c * (d - 1) through 1.0 ms for one cylinder, 12.0 ms
# on average and 20.0 ms for the full stroke (E. K. Lee's form, as in DiskSim's manual).
seek = 1, 1.0000 ms
seek = 2, 1.0680 ms
seek = 4, 1.1178 ms
seek = 8, 1.1799 ms
seek = 16, 1.2631 ms
seek = 32, 1.3779 ms
seek = 64, 1.5380 ms
seek = 128, 1.7625 ms
seek = 256, 2.0777 ms
seek = 512, 2.5200 ms
seek = 1024, 3.1396 ms
seek = 2048, 4.0045 ms
seek = 4096, 5.2053 ms
seek = 4895, 5.5819 ms
seek = 9790, 7.3743 ms
seek = 14685, 8.7077 ms
seek = 19580, 9.8034 ms
seek = 29370, 11.5832 ms
seek = 39160, 13.0269 ms
seek = 48950, 14.2559 ms
seek = 58740, 15.3324 ms
seek = 78320, 17.1626 ms
seek = 97900, 18.6891 ms
seek = 117479, 19.9999 ms
head_switch = 1.0 ms		# assumed: as long as a single track seek
write_settle = 1.0 ms		# [S] table 5: a write's average is 13 ms
settle_on_switch = no		# drives write as fast as they read: 132.8 and 132.6, 201 and 200 MB/s (jshook/perfscripts)

bus_read = 1707 ns		# assumed: 300 MB/s, Serial ATA 3 Gb/s
bus_write = 1707 ns

segments = 17	# assumed: 8 MB in all
segment_sectors = 384 KiB	# assumed: for sixteen streams and a spare one, where the buffer is small
write_segments = 16	# assumed: random writes at 1.4 to 2.1 times the rate of reads, as measured drives (fio-plot)
write_buffer = 1536 KiB	# assumed: about a fifth of the buffer
write_cache = back		# assumed: as shipped
readahead = max			# assumed: a segment's worth
readahead_max = 320 KiB	# assumed: what a segment holds beside the request
readahead_stream = 320 KiB	# assumed: two streams get half of the rate or near it (xbitlabs, HDDs of 2010, page 11: Hitachi)
readahead_on_idle_hit = yes	# a reader slower than the media finds the next sectors read
keep_requested = yes	# assumed: what is read again comes from the buffer, as burst rates of benchmarks show
destage_idle = 1 ms		# assumed
overhead = 0.041 ms	# assumed: as Hitachi's 7K1000.B; xbitlabs, 1 TB roundup, page 9: a 7K1000.B reads 100 MB/s in 4 KB at depth 4
overhead_read_miss_after_read = 0.059 ms	# derived: what a miss takes more
overhead_read_miss_after_write = 0.059 ms
overhead_write_miss_after_read = 0.059 ms
overhead_write_miss_after_write = 0.059 ms
ncq_depth = 8			# fitted to the 1.4 times of depth 1 that an HGST HTS72101 reads at depth 32 (fio-plot)
ncq_rotation = 0		# class; as a drive of 500 GB (fio-plot)
