# Seagate BarraCuda 2 TB, 3.5 inch, 7200 rpm, 512e: ST2000DM006
#
# Sources:
#   [U] ublk-disksim, docs/VALIDATION.md and docs/img/data: measurements of one drive under NTFS, 98 % full
# "assumed" marks what none of them tells.
#
# Fitted: the seek curve, write_settle, ncq_rotation and flush_overhead by a search for 57 random reads/s at depth 1 with
# their p50, p90 and p99, 78.6 and 93.6 at depths 8 and 32, and flushes of 127 and 630 ms after 8 and 64 writes [U].
# Evidence is the rate of random writes. At depth 2 and 4 NTFS had the system's own queue in front.

name = seagate-st2000dm006
capacity = 3907029168 sectors	# derived: IDEMA LBA1-03, 97696368 + 1953504 * (GB - 50)
rpm = 7200			# data sheet
heads = 4			# assumed: two platters of 1 TB
cylinders = 383043		# derived: the capacity on tracks as below
logical_block = 512 B
physical_block = 4096 B		# data sheet

# Derived: 16 zones of as many cylinders each; sectors per track fall evenly from the outermost to the innermost.
# Assumed: 3400 and 1700, of 209 and 104 MB/s; skews are the sectors that pass during a switch.
# first and last cylinder, sectors per track, sectors, track skew, cylinder skew
zone = 0,23939,3400,325584000,384,384
zone = 23940,47879,3288,314858880,376,376
zone = 47880,71819,3176,304133760,360,360
zone = 71820,95759,3056,292642560,344,344
zone = 95760,119699,2944,281917440,336,336
zone = 119700,143640,2832,271203648,320,320
zone = 143641,167580,2720,260467200,312,312
zone = 167581,191520,2608,249742080,296,296
zone = 191521,215460,2496,239016960,288,288
zone = 215461,239400,2384,228291840,272,272
zone = 239401,263341,2264,216809696,256,256
zone = 263342,287281,2152,206075520,248,248
zone = 287282,311221,2040,195350400,232,232
zone = 311222,335161,1928,184625280,224,224
zone = 335162,359101,1816,173900160,208,208
zone = 359102,383042,1696,162409744,192,192

# Derived: the curve a + b * sqrt(d - 1) + c * (d - 1) from two cylinders on.
# Fitted: a = 5 ms, 13.3 ms over a third of the cylinders, 22 ms over all of them. One cylinder: assumed.
# Derived: up to 16 cylinders no more than 0.9 ms * (1 + sqrt(d - 1)): two cylinders never take more than one and one.
seek = 1, 0.9000 ms
seek = 2, 1.8000 ms
seek = 4, 2.4588 ms
seek = 8, 3.2812 ms
seek = 16, 4.3857 ms
seek = 32, 5.0976 ms
seek = 64, 5.1394 ms
seek = 128, 5.1986 ms
seek = 256, 5.2826 ms
seek = 512, 5.4024 ms
seek = 1024, 5.5743 ms
seek = 2048, 5.8221 ms
seek = 4096, 6.1822 ms
seek = 15960, 7.4614 ms
seek = 31920, 8.6326 ms
seek = 47880, 9.5914 ms
seek = 63840, 10.4403 ms
seek = 95761, 11.9479 ms
seek = 127681, 13.3000 ms
seek = 159601, 14.5528 ms
seek = 191522, 15.7350 ms
seek = 255362, 17.9503 ms
seek = 319202, 20.0250 ms
seek = 383042, 22.0000 ms
head_switch = 0.9 ms		# assumed
write_settle = 1.0 ms		# fitted
settle_on_switch = no		# assumed: it writes as fast as it reads

bus_read = 853 ns		# assumed: 600 MB/s, Serial ATA 6 Gb/s
bus_write = 853 ns

segments = 17			# assumed
segment_sectors = 3072 KiB	# assumed
write_segments = 100		# fitted to 124 random writes/s [U]
write_buffer = 12288 KiB	# assumed
write_cache = back		# assumed: as shipped
readahead = max			# assumed
readahead_max = 2560 KiB	# assumed: what a segment holds beside the request
readahead_stream = 2560 KiB	# assumed
readahead_on_idle_hit = yes	# assumed: as its class
keep_requested = yes		# assumed: as its class
destage_idle = 1 ms		# assumed
overhead = 0.04 ms		# assumed: as its class
overhead_read_miss_after_read = 0.06 ms		# assumed: what a miss takes more
overhead_read_miss_after_write = 0.06 ms
overhead_write_miss_after_read = 0.06 ms
overhead_write_miss_after_write = 0.06 ms
flush_overhead = 15 ms		# fitted
ncq_depth = 31			# Linux keeps one of 32
ncq_rotation = 0		# fitted
ncq_age_limit = 2000 ms		# fitted
max_sectors = 1280 KiB		# Linux since 4.3
max_segments = 168		# AHCI of Linux (AHCI_MAX_SG)
