# Western Digital Ultrastar DC HC310, 6 TB, 7200 rpm, 512e: HUS726T6TALE6L4
#
# Sources:
#   [S] Western Digital, Ultrastar DC HC310 Hard Disk Drive Specifications, section 4.5,
#       tables 5 to 7 (manualshive.com, western-digital/ultrastar-dc-hc310, page 23)
# "assumed" marks what none of them tells.

name = wd-ultrastar-dc-hc310-6tb
capacity = 11721045168 sectors	# derived: IDEMA LBA1-03, 97696368 + 1953504 * (GB - 50)
rpm = 7200			# [S] table 7
heads = 8			# assumed: four disks
cylinders = 424819		# derived: the capacity on tracks as below
logical_block = 512 B
physical_block = 4096 B

# Derived: 20 zones of as many cylinders each; sectors per track fall evenly from the outermost, which
# transfers 255 MB/s with all switches (assumed),
# to the innermost with 127.5 MB/s (assumed: half of it).
# Derived: skews are the sectors that pass during a switch.
# first and last cylinder, sectors per track, sectors, track skew, cylinder skew
zone = 0,21239,4599,781462080,497,497
zone = 21240,42480,4478,760937584,484,484
zone = 42481,63721,4357,740376296,471,471
zone = 63722,84962,4236,719815008,458,458
zone = 84963,106203,4115,699253720,445,445
zone = 106204,127444,3994,678692432,432,432
zone = 127445,148685,3873,658131144,419,419
zone = 148686,169926,3752,637569856,406,406
zone = 169927,191167,3631,617008568,393,393
zone = 191168,212408,3510,596447280,380,380
zone = 212409,233649,3388,575716064,366,366
zone = 233650,254890,3267,555154776,353,353
zone = 254891,276131,3146,534593488,340,340
zone = 276132,297372,3025,514032200,327,327
zone = 297373,318613,2904,493470912,314,314
zone = 318614,339854,2783,472909624,301,301
zone = 339855,361095,2662,452348336,288,288
zone = 361096,382336,2541,431787048,275,275
zone = 382337,403577,2420,411225760,262,262
zone = 403578,424818,2299,390112992,249,249

# [S] tables 5 and 6, typical, read; full stroke assumed, twice the average.
# Derived: the curve a + b * sqrt(d - 1) + c * (d - 1) through 0.23 ms for one cylinder, 7.4 ms
# on average and 14.8 ms for the full stroke (E. K. Lee's form, as in DiskSim's manual).
seek = 1, 0.2300 ms
seek = 2, 0.2478 ms
seek = 4, 0.2608 ms
seek = 8, 0.2770 ms
seek = 16, 0.2988 ms
seek = 32, 0.3290 ms
seek = 64, 0.3713 ms
seek = 128, 0.4309 ms
seek = 256, 0.5152 ms
seek = 512, 0.6348 ms
seek = 1024, 0.8048 ms
seek = 2048, 1.0474 ms
seek = 4096, 1.3946 ms
seek = 17701, 2.7161 ms
seek = 35402, 3.8193 ms
seek = 53102, 4.6948 ms
seek = 70803, 5.4526 ms
seek = 106205, 6.7641 ms
seek = 141606, 7.9091 ms
seek = 177008, 8.9476 ms
seek = 212410, 9.9105 ms
seek = 283213, 11.6764 ms
seek = 354016, 13.2916 ms
seek = 424818, 14.8000 ms
head_switch = 0.9 ms		# assumed
write_settle = 0.8 ms		# [S] table 5: a write's average is 8.2 ms
settle_on_switch = no		# drives write as fast as they read: 132.8 and 132.6, 201 and 200 MB/s (jshook/perfscripts)

bus_read = 853 ns		# assumed: 600 MB/s, Serial ATA 6 Gb/s
bus_write = 853 ns

segments = 32	# assumed: 256 MB in all
segment_sectors = 6144 KiB	# assumed: for sixteen streams and a spare one, where the buffer is small
write_segments = 6000	# fitted to the 550 random writes/s of its class (Exos X20's data sheet), within 7 %
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
