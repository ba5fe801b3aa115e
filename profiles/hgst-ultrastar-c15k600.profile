# HGST Ultrastar C15K600, 600 GB, 2.5 inch, 15000 rpm, 512n: HUC156060CSS200
#
# Sources:
#   [S] HGST, Ultrastar C15K600 Hard Disk Drive Specification, section 4.4.1, table 6
#       (manualshelf.com, hgst/c15k600-450gb-20-pack, page 27)
# "assumed" marks what none of them tells.

name = hgst-ultrastar-c15k600
capacity = 1172123568 sectors	# derived: IDEMA LBA1-03, 97696368 + 1953504 * (GB - 50)
rpm = 15000			# assumed: the 15 of the family's name
heads = 6			# assumed: three disks
cylinders = 109581		# derived: the capacity on tracks as below
logical_block = 512 B
physical_block = 512 B

# Derived: 16 zones of as many cylinders each; sectors per track fall evenly from the outermost, which
# transfers 250 MB/s with all switches (assumed),
# to the innermost with 165 MB/s (assumed: 15000 rpm drives use a narrower band of the disk).
# Derived: skews are the sectors that pass during a switch.
# first and last cylinder, sectors per track, sectors, track skew, cylinder skew
zone = 0,6847,2148,88257024,215,215
zone = 6848,13696,2099,86256306,210,210
zone = 13697,20545,2051,84283794,206,206
zone = 20546,27394,2002,82270188,201,201
zone = 27395,34243,1953,80256582,196,196
zone = 34244,41091,1905,78272640,191,191
zone = 41092,47940,1856,76270464,186,186
zone = 47941,54789,1807,74256858,181,181
zone = 54790,61638,1759,72284346,176,176
zone = 61639,68487,1710,70270740,171,171
zone = 68488,75335,1661,68247168,167,167
zone = 75336,82184,1613,66284622,162,162
zone = 82185,89033,1564,64271016,157,157
zone = 89034,95882,1515,62257410,152,152
zone = 95883,102731,1467,60284898,147,147
zone = 102732,109580,1418,58099512,142,142

# [S] table 6, typical, read; others assumed.
# Derived: the curve a + b * sqrt(d - 1) + c * (d - 1) through 0.4 ms for one cylinder, 2.9 ms
# on average and 5.8 ms for the full stroke (E. K. Lee's form, as in DiskSim's manual).
seek = 1, 0.4000 ms
seek = 2, 0.4106 ms
seek = 4, 0.4184 ms
seek = 8, 0.4281 ms
seek = 16, 0.4412 ms
seek = 32, 0.4594 ms
seek = 64, 0.4850 ms
seek = 128, 0.5214 ms
seek = 256, 0.5733 ms
seek = 512, 0.6479 ms
seek = 1024, 0.7559 ms
seek = 2048, 0.9139 ms
seek = 4096, 1.1476 ms
seek = 4566, 1.1935 ms
seek = 9132, 1.5686 ms
seek = 13698, 1.8749 ms
seek = 18264, 2.1455 ms
seek = 27395, 2.6249 ms
seek = 36527, 3.0540 ms
seek = 45659, 3.4509 ms
seek = 54790, 3.8248 ms
seek = 73054, 4.5244 ms
seek = 91318, 5.1784 ms
seek = 109580, 5.7999 ms
head_switch = 0.4 ms		# assumed
write_settle = 0.2 ms		# [S] table 6: a write's average is 3.1 ms
settle_on_switch = no		# drives write as fast as they read: 132.8 and 132.6, 201 and 200 MB/s (jshook/perfscripts)

bus_read = 427 ns		# assumed: 1200 MB/s, SAS 12 Gb/s
bus_write = 427 ns

segments = 24	# assumed: 128 MB in all
segment_sectors = 4096 KiB	# assumed: for sixteen streams and a spare one, where the buffer is small
write_segments = 16	# assumed: random writes at 1.4 to 2.1 times the rate of reads, as measured drives (fio-plot)
write_buffer = 32768 KiB	# assumed: about a fifth of the buffer
write_cache = back		# assumed: as shipped
readahead = max			# assumed: a segment's worth
readahead_max = 3584 KiB	# assumed: what a segment holds beside the request
readahead_stream = 3584 KiB	# assumed: two streams get half of the rate or near it (xbitlabs, HDDs of 2010, page 11: Hitachi)
readahead_on_idle_hit = yes	# a reader slower than the media finds the next sectors read
keep_requested = yes	# assumed: what is read again comes from the buffer, as burst rates of benchmarks show
destage_idle = 1 ms		# assumed
overhead = 0.04 ms	# assumed: as Hitachi's best of 2009; xbitlabs, 1 TB roundup, page 9: a 7K1000.B reads 100 MB/s in 4 KB at depth 4
overhead_read_miss_after_read = 0.06 ms	# derived: what a miss takes more
overhead_read_miss_after_write = 0.06 ms
overhead_write_miss_after_read = 0.06 ms
overhead_write_miss_after_write = 0.06 ms
ncq_depth = 64			# assumed: a usual depth on SCSI
