# Seagate Archive HDD v2, 8 TB, 3.5 inch, 5980 rpm, 512e, shingled (drive-managed SMR): ST8000AS0002
#
# Sources:
#   [S] smartctl's report of one drive (dm-zoned-tools, issue 3): capacity, blocks, speed
#   [P] pcinside.info, review: 6 platters of 1.33 TB
#   [H] hardwareslave.com, review: a buffer of 128 MB, a media cache of almost 20 GB
#   [T] filtereddigital.com, test of an external drive of that kind: 190 MB/s written in order
#   [K] Skylight (Aghayev, Desnoyers, FAST 2015), measurements of such drives, from memory: not looked up again. Bands of
#       15 to 40 MB, each in its place; cleaning in the order of arrival, begun when idle, 0.6 to 1.6 s a band; a map of
#       250,000 entries; a write with the cache off takes 25 ms
# "assumed" marks what none of them tells.
#
# Fitted: the outermost tracks. Evidence, as far as [K] is remembered right, are the 25 ms and the time that a band takes.

name = seagate-st8000as0002
capacity = 15628053168 sectors	# [S] 8,001,563,222,016 bytes
rpm = 5980			# [S]
heads = 12			# [P]
cylinders = 405462		# derived: the capacity on tracks as below
logical_block = 512 B		# [S]
physical_block = 4096 B		# [S]

# Derived: 16 zones of as many cylinders each; sectors per track fall evenly from the outermost to the innermost.
# Fitted: 4064, for 190 MB/s with the switches [T]. Assumed: 2360, 110 MB/s; skews are the sectors that pass during a switch.
# first and last cylinder, sectors per track, sectors, track skew, cylinder skew
zone = 0,25340,4064,1235829888,368,368
zone = 25341,50681,3952,1201771584,360,360
zone = 50682,76022,3840,1167713280,352,352
zone = 76023,101363,3720,1131222240,336,336
zone = 101364,126704,3608,1097163936,328,328
zone = 126705,152045,3496,1063105632,320,320
zone = 152046,177386,3384,1029047328,304,304
zone = 177387,202727,3272,994989024,296,296
zone = 202728,228068,3152,958497984,288,288
zone = 228069,253409,3040,924439680,280,280
zone = 253410,278750,2928,890381376,264,264
zone = 278751,304091,2816,856323072,256,256
zone = 304092,329432,2704,822264768,248,248
zone = 329433,354773,2584,785773728,232,232
zone = 354774,380114,2472,751715424,224,224
zone = 380115,405461,2360,717814224,216,216

# Assumed: the curve a + b * sqrt(d - 1) + c * (d - 1) from two cylinders on, with a = 4.5 ms, 12.0 ms over a third of the
# cylinders, 21.0 ms over all of them: as drives of its class and speed.
# Derived: up to 16 cylinders no more than 0.9 ms * (1 + sqrt(d - 1)): two cylinders never take more than one and one.
seek = 1, 0.9000 ms
seek = 2, 1.8000 ms
seek = 4, 2.4588 ms
seek = 8, 3.2812 ms
seek = 16, 4.3857 ms
seek = 32, 4.5723 ms
seek = 64, 4.6035 ms
seek = 128, 4.6477 ms
seek = 256, 4.7108 ms
seek = 512, 4.8014 ms
seek = 1024, 4.9326 ms
seek = 2048, 5.1243 ms
seek = 4096, 5.4076 ms
seek = 16894, 6.5190 ms
seek = 33788, 7.5579 ms
seek = 50683, 8.4357 ms
seek = 67577, 9.2300 ms
seek = 101366, 10.6741 ms
seek = 135154, 12.0000 ms
seek = 168942, 13.2505 ms
seek = 202731, 14.4475 ms
seek = 270308, 16.7280 ms
seek = 337885, 18.9019 ms
seek = 405461, 21.0000 ms
head_switch = 0.9 ms		# assumed
write_settle = 1.0 ms		# assumed
settle_on_switch = no		# assumed: it writes as fast as it reads

bus_read = 853 ns		# assumed: 600 MB/s, Serial ATA 6 Gb/s
bus_write = 853 ns

segments = 16			# assumed
segment_sectors = 4 MiB		# assumed
write_segments = 1024		# assumed
write_buffer = 64 MiB		# assumed: half of the buffer [H]
write_cache = back		# assumed: as shipped
readahead = max			# assumed
readahead_max = 2560 KiB	# assumed: what a segment holds beside the request
readahead_stream = 2560 KiB	# assumed
readahead_on_idle_hit = yes	# assumed: as its class
keep_requested = yes		# assumed: as its class
destage_idle = 20 ms		# assumed: long enough for a stream to go on

media_cache = 39062496 sectors	# [H] 20 GB
media_cache_map = 250000	# [K]
media_cache_packet = 32	# assumed
media_cache_overhead = 15 ms	# assumed
band = 30 MiB			# [K]; of one size here
clean_idle = 1000 ms		# assumed

overhead = 0.04 ms		# assumed: as its class
overhead_read_miss_after_read = 0.06 ms		# assumed: what a miss takes more
overhead_read_miss_after_write = 0.06 ms
overhead_write_miss_after_read = 0.06 ms
overhead_write_miss_after_write = 0.06 ms
flush_overhead = 1 ms		# assumed
ncq_depth = 31			# Linux keeps one of 32
ncq_rotation = 0.25		# assumed
ncq_age_limit = 2000 ms		# assumed
max_sectors = 1280 KiB		# Linux since 4.3
max_segments = 168		# AHCI of Linux (AHCI_MAX_SG)
