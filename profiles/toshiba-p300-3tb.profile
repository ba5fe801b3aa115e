# Toshiba P300, 3 TB, 3.5 inch, 7200 rpm, 512e: HDWD130, which is the DT01ACA300
#
# Sources:
#   [W] H. Wong, measurements of disk drives, stuffedcow.net, 2019: DT01ACA300
#   [P] jshook/perfscripts, 2018: fio 3.12 on a P300 of 3 TB, 10 requests outstanding, in a file of 5 GB
#   [N] jshook's storage model: a drive of 7200 rpm on Serial ATA by a window of 32 and 12 % of the angle
# "assumed" marks what none of them tells.
#
# Of the block sizes of [P] two are fitted, 4 KiB and 1 MiB. Where the file lay is not told: it is where the media
# give the 132.8 MB/s of [P], 74.5 % of the way in. [P]'s larger sizes are evidence.

name = toshiba-p300-3tb
capacity = 5860533168 sectors	# derived: IDEMA LBA1-03, 97696368 + 1953504 * (GB - 50)
rpm = 7200			# [W] 7200 to 7219
heads = 6			# [W]
cylinders = 361764		# derived: the capacity on tracks as below; [W] has 2.07 million tracks
logical_block = 512 B
physical_block = 4096 B		# [W] 4 KiB

# [W] outermost and innermost track, 464 and 211 blocks of 4 KiB; skew of 37.2 degrees between tracks.
# Derived: 30 zones of as many cylinders each; sectors per track fall evenly between these.
# [W] has a switch of half a revolution from surface to surface, after some hundred tracks; here each
# switch is one of 37.2 degrees.
# first and last cylinder, sectors per track, sectors, track skew, cylinder skew
zone = 0,12058,3712,268578048,384,384
zone = 12059,24117,3642,263513268,377,377
zone = 24118,36175,3572,258427056,370,370
zone = 36176,48234,3503,253456062,362,362
zone = 48235,60293,3433,248391282,355,355
zone = 60294,72352,3363,243326502,348,348
zone = 72353,84411,3293,238261722,341,341
zone = 84412,96469,3223,233177604,334,334
zone = 96470,108528,3154,228204516,326,326
zone = 108529,120587,3084,223139736,319,319
zone = 120588,132646,3014,218074956,312,312
zone = 132647,144705,2944,213010176,305,305
zone = 144706,156763,2874,207928152,297,297
zone = 156764,168822,2805,202952970,290,290
zone = 168823,180881,2735,197888190,283,283
zone = 180882,192940,2665,192823410,276,276
zone = 192941,204999,2595,187758630,269,269
zone = 205000,217057,2526,182751048,262,262
zone = 217058,229116,2456,177701424,254,254
zone = 229117,241175,2386,172636644,247,247
zone = 241176,253234,2316,167571864,240,240
zone = 253235,265293,2246,162507084,233,233
zone = 265294,277351,2177,157501596,225,225
zone = 277352,289410,2107,152449878,218,218
zone = 289411,301469,2037,147385098,211,211
zone = 301470,313528,1967,142320318,204,204
zone = 313529,325587,1897,137255538,197,197
zone = 325588,337645,1828,132252144,189,189
zone = 337646,349704,1758,127198332,182,182
zone = 349705,361763,1688,122089920,175,175

# Full stroke of 21.0 ms [W]. One cylinder: the skew's time, derived from [W]. Average of 10.5 ms:
# assumed, half of the full stroke.
# Derived: from two cylinders on the curve a + b * sqrt(d - 1) + c * (d - 1) through these.
# Fitted to 306.1 random reads/s of 4 KiB [P]: a = 1.7 ms.
# Derived: two cylinders never take more than one and one.
seek = 1, 0.8500 ms
seek = 2, 1.7000 ms
seek = 4, 1.7341 ms
seek = 8, 1.7522 ms
seek = 16, 1.7765 ms
seek = 32, 1.8102 ms
seek = 64, 1.8575 ms
seek = 128, 1.9243 ms
seek = 256, 2.0194 ms
seek = 512, 2.1553 ms
seek = 1024, 2.3504 ms
seek = 2048, 2.6324 ms
seek = 4096, 3.0435 ms
seek = 15074, 4.4265 ms
seek = 30147, 5.7381 ms
seek = 45220, 6.8170 ms
seek = 60294, 7.7753 ms
seek = 90441, 9.4833 ms
seek = 120588, 11.0209 ms
seek = 150735, 12.4495 ms
seek = 180882, 13.8008 ms
seek = 241176, 16.3397 ms
seek = 301470, 18.7246 ms
seek = 361763, 21.0000 ms
head_switch = 0.86 ms		# [W] derived from the skew
write_settle = 0.8 ms		# assumed
settle_on_switch = no		# [P] writes as fast as it reads: 132.8 and 132.6 MB/s

bus_read = 853 ns		# assumed: 600 MB/s, Serial ATA 6 Gb/s
bus_write = 853 ns

segments = 17	# assumed: 64 MB in all, with write_buffer
segment_sectors = 3072 KiB	# assumed: for sixteen streams and a spare one, where the buffer is small
write_segments = 36	# fitted to 148 to 152 random writes/s of a desktop drive of 7200 rpm (fio-plot, F1)
write_buffer = 12288 KiB	# assumed: about a fifth of the buffer
write_cache = back		# assumed: as shipped
readahead = max			# assumed: a segment's worth
readahead_max = 2560 KiB	# assumed: what a segment holds beside the request
readahead_stream = 2560 KiB	# assumed: as its class
readahead_on_idle_hit = yes	# assumed: a reader slower than the media finds the next sectors read
keep_requested = yes	# assumed: what is read again comes from the buffer, as burst rates of benchmarks show
destage_idle = 1 ms		# assumed
overhead = 0.04 ms	# assumed: as its class
overhead_read_miss_after_read = 0.06 ms	# assumed: what a miss takes more
overhead_read_miss_after_write = 0.06 ms
overhead_write_miss_after_read = 0.06 ms
overhead_write_miss_after_write = 0.06 ms
ncq_depth = 32			# [N]
ncq_rotation = 0.12		# [N]
ncq_rotation_stream = 0		# fitted to 71.0 random reads/s of 1 MiB [P]; their times are even, as in order of arrival
ncq_age_limit = 600 ms		# [N] expiry
max_sectors = 1280 KiB		# [P]'s host: Linux since 4.3
max_segments = 168		# [P]'s host: AHCI of Linux (AHCI_MAX_SG)
