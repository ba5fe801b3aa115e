# IBM Ultrastar 146Z10, 146.8 GB, 10000 rpm: IC35L146UWDY10
#
# Sources:
#   [S] IBM, Ultrastar 146Z10 hard disk drive specifications, section 4.5.2, figures 7 and 8
#       (manualowl.com, IBM/IC35L036UWDY10, page 29)
# "assumed" marks what none of them tells.

name = ibm-ultrastar-146z10
capacity = 286749480 sectors	# assumed: 146.8 GB
rpm = 10000			# assumed: the 10 of the family's name
heads = 12			# assumed: six disks
cylinders = 36360		# derived: the capacity on tracks as below
logical_block = 512 B
physical_block = 512 B

# Derived: 16 zones of as many cylinders each; sectors per track fall evenly from the outermost, which
# transfers 66 MB/s with all switches (assumed),
# to the innermost with 33 MB/s (assumed: half of it).
# Derived: skews are the sectors that pass during a switch.
# first and last cylinder, sectors per track, sectors, track skew, cylinder skew
zone = 0,2271,877,23910528,117,117
zone = 2272,4544,848,23130048,114,114
zone = 4545,6816,818,22301952,110,110
zone = 6817,9089,789,21520764,106,106
zone = 9090,11361,760,20720640,102,102
zone = 11362,13634,731,19938756,98,98
zone = 13635,15906,701,19112064,94,94
zone = 15907,18179,672,18329472,90,90
zone = 18180,20451,643,17530752,86,86
zone = 20452,22724,614,16747464,82,82
zone = 22725,24996,584,15922176,78,78
zone = 24997,27269,555,15138180,74,74
zone = 27270,29541,526,14340864,71,71
zone = 29542,31814,497,13556172,67,67
zone = 31815,34086,467,12732288,63,63
zone = 34087,36359,438,11817360,59,59

# [S] figures 7 and 8, typical, read; single cylinder assumed.
# Derived: the curve a + b * sqrt(d - 1) + c * (d - 1) through 0.6 ms for one cylinder, 4.7 ms
# on average and 10.5 ms for the full stroke (E. K. Lee's form, as in DiskSim's manual).
seek = 1, 0.6000 ms
seek = 2, 0.6211 ms
seek = 4, 0.6368 ms
seek = 8, 0.6566 ms
seek = 16, 0.6837 ms
seek = 32, 0.7218 ms
seek = 64, 0.7767 ms
seek = 128, 0.8570 ms
seek = 256, 0.9764 ms
seek = 512, 1.1571 ms
seek = 1024, 1.4369 ms
seek = 1515, 1.6619 ms
seek = 3030, 2.2460 ms
seek = 4545, 2.7514 ms
seek = 6060, 3.2160 ms
seek = 9090, 4.0747 ms
seek = 12120, 4.8758 ms
seek = 15150, 5.6401 ms
seek = 18180, 6.3782 ms
seek = 24240, 7.7991 ms
seek = 30300, 9.1679 ms
seek = 36359, 10.4996 ms
head_switch = 0.8 ms		# assumed
write_settle = 1.2 ms		# [S] figure 7: a write's average is 5.9 ms
settle_on_switch = no		# drives write as fast as they read: 132.8 and 132.6, 201 and 200 MB/s (jshook/perfscripts)

bus_read = 1600 ns		# assumed: 320 MB/s, Ultra320 SCSI
bus_write = 1600 ns

segments = 17	# assumed: 8 MB in all
segment_sectors = 384 KiB	# assumed: for sixteen streams and a spare one, where the buffer is small
write_segments = 7	# fitted to 172 random writes/s of a drive of 10000 rpm (fio-plot, WD740GD)
write_buffer = 1536 KiB	# assumed: about a fifth of the buffer
write_cache = back		# assumed: as shipped
readahead = max			# assumed: a segment's worth
readahead_max = 320 KiB	# assumed: what a segment holds beside the request
readahead_stream = 320 KiB	# assumed: two streams get half of the rate or near it (xbitlabs, HDDs of 2010, page 11: Hitachi)
readahead_on_idle_hit = yes	# a reader slower than the media finds the next sectors read
keep_requested = yes	# assumed: what is read again comes from the buffer, as burst rates of benchmarks show
destage_idle = 1 ms		# assumed
overhead = 0.1 ms	# assumed
ncq_depth = 64			# assumed: a usual depth on SCSI
