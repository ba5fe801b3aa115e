# Western Digital Ultrastar DC HC620, 14 TB, 3.5 inch, 7200 rpm, 512e, host-managed SMR: HSH721414ALE6M0
#
# Sources:
#   [V] the first pages of its specification, rev. 1.5 and 1.6 (manualmachine.com, vdocument.in): models, Serial ATA
#   [W] warp2search.net, 2018: eight disks, helium, shingled
#   [D] Western Digital's data sheet of the HC620, from memory: not looked up again
#   [Z] zonedstorage.io, such drives' zones, from memory: not looked up again
# "assumed" marks what none of them tells. Nobody measured the drive for this profile, and nothing was fitted to one.
# For the commands about zones no time was found: they take the overhead of a command.

name = wd-ultrastar-dc-hc620-14tb
capacity = 27344764928 sectors	# [Z] 52,156 zones
rpm = 7200			# [D]
heads = 16			# [W]
cylinders = 542220		# derived: the capacity on tracks as below
logical_block = 512 B		# [V] E6: 512e
physical_block = 4096 B		# [V]

host = blk-mq			# Linux from 4.10 on; zones need it
scheduler = mq-deadline		# what Linux has for such disks

zone_size = 256 MiB		# [Z]
conventional_zones = 524	# [Z] one in a hundred
max_open_zones = 128		# [Z]

# Derived: 20 zones of as many cylinders each; sectors per track fall evenly from the outermost, which
# transfers 233 MB/s with all switches [D], to the innermost with half of it (assumed).
# Derived: skews are the sectors that pass during a switch.
# first and last cylinder, sectors per track, sectors, track skew, cylinder skew
zone = 0,27110,4203,1823160528,454,454
zone = 27111,54221,4092,1775011392,442,442
zone = 54222,81332,3982,1727296032,431,431
zone = 81333,108443,3871,1679146896,419,419
zone = 108444,135554,3760,1630997760,407,407
zone = 135555,162665,3650,1583282400,395,395
zone = 162666,189776,3539,1535133264,383,383
zone = 189777,216887,3429,1487417904,371,371
zone = 216888,243998,3318,1439268768,359,359
zone = 243999,271109,3207,1391119632,347,347
zone = 271110,298220,3097,1343404272,335,335
zone = 298221,325331,2986,1295255136,323,323
zone = 325332,352442,2875,1247106000,311,311
zone = 352443,379553,2765,1199390640,299,299
zone = 379554,406664,2654,1151241504,287,287
zone = 406665,433775,2544,1103526144,275,275
zone = 433776,460886,2433,1055377008,263,263
zone = 460887,487997,2322,1007227872,251,251
zone = 487998,515108,2212,959512512,239,239
zone = 515109,542219,2101,910889264,227,227

# Read, 7.7 ms on average [D]; one cylinder and full stroke assumed, as of the HC310.
# Derived: the curve a + b * sqrt(d - 1) + c * (d - 1) through these (E. K. Lee's form, as in DiskSim's manual).
seek = 1, 0.2500 ms
seek = 2, 0.2663 ms
seek = 4, 0.2782 ms
seek = 8, 0.2932 ms
seek = 16, 0.3132 ms
seek = 32, 0.3409 ms
seek = 64, 0.3797 ms
seek = 128, 0.4344 ms
seek = 256, 0.5117 ms
seek = 512, 0.6214 ms
seek = 1024, 0.7772 ms
seek = 2048, 0.9992 ms
seek = 4096, 1.3166 ms
seek = 22592, 2.8307 ms
seek = 45185, 3.9766 ms
seek = 67777, 4.8864 ms
seek = 90370, 5.6740 ms
seek = 135555, 7.0375 ms
seek = 180740, 8.2282 ms
seek = 225925, 9.3085 ms
seek = 271110, 10.3103 ms
seek = 361479, 12.1480 ms
seek = 451849, 13.8295 ms
seek = 542219, 15.4000 ms
head_switch = 0.9 ms		# assumed
write_settle = 0.8 ms		# assumed: as the HC310
settle_on_switch = no		# assumed: it writes as fast as it reads

bus_read = 853 ns		# assumed: 600 MB/s, Serial ATA 6 Gb/s
bus_write = 853 ns

segments = 32			# assumed: 512 MB in all [D]
segment_sectors = 6144 KiB	# assumed: as the HC310
write_segments = 6000		# assumed: as the HC310
write_buffer = 64 MiB		# assumed: as the HC310
write_cache = back		# assumed: as shipped
readahead = max			# assumed
readahead_max = 5120 KiB	# assumed: what a segment holds beside the request
readahead_stream = 4608 KiB	# assumed: as the HC310
readahead_on_idle_hit = yes	# assumed: as its class
keep_requested = yes		# assumed: as its class
destage_idle = 1 ms		# assumed
overhead = 0.04 ms		# assumed: as its class
overhead_read_miss_after_read = 0.06 ms		# assumed: what a miss takes more
overhead_read_miss_after_write = 0.06 ms
overhead_write_miss_after_read = 0.06 ms
overhead_write_miss_after_write = 0.06 ms
ncq_depth = 32			# assumed: what Serial ATA allows
ncq_rotation = 0.12		# assumed: as the HC310
