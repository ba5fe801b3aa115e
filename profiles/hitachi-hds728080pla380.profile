# Hitachi Deskstar 7K80, 80 GB: HDS728080PLA380, the paper's H1 (the paper: Agrawal et al., FAST 2011).
#
# Sources: [T1] the paper's table 1. [DS] Hitachi, Hard Disk Drive Specification, Deskstar 7K80
# (sections 4.5.5.1 and 4.5.5.2, tables 13 and 14, say what is "met" below).
#
# Where they disagree:
# - Cylinders per zone: [T1] has 1444 to 1521 in each of 30 zones, half of its own 88283. The number of
#   cylinders is followed: with the tracks' sectors it gives the capacity on two surfaces.
# - Time of a random read: with [T1]'s seek curve 4096 of them take 47.3 s here, and [DS] says
#   55.9 s typical. [DS] is followed.

name = hitachi-hds728080pla380
capacity = 160836480 sectors	# [DS] 82.3 GB
rpm = 7200			# [T1], [DS]
heads = 2			# [DS] one disk
cylinders = 88283		# [T1]
logical_block = 512 B		# [DS]
physical_block = 512 B		# [DS]

# 30 zones [T1]. Derived: sectors per track fall evenly from 1170 to 567 [T1], cylinders per zone
# fall evenly, as far as the capacity asks for. 36 sectors at the end stay unused.
# Chosen to meet 0.30 s and 0.61 s for 16 MiB in the first and the last zone [DS]: both skews are the
# sectors of 1.95 ms. [T1]'s 1.4 ms for a head and 1.6 ms for a cylinder alone give 0.29 s and 0.58 s,
# which is the formula's T in [DS]; its typical values are 105 % of T.
# first and last cylinder, sectors per track, sectors, track skew, cylinder skew
zone = 0,4105,1170,9608040,274,274
zone = 4106,8129,1149,9247152,269,269
zone = 8130,12073,1128,8897664,264,264
zone = 12074,15938,1108,8564840,260,260
zone = 15939,19722,1087,8226416,255,255
zone = 19723,23426,1066,7896928,250,250
zone = 23427,27050,1045,7574160,245,245
zone = 27051,30594,1024,7258112,240,240
zone = 30595,34058,1004,6955712,235,235
zone = 34059,37441,983,6650978,231,231
zone = 37442,40745,962,6356896,226,226
zone = 40746,43968,941,6065686,221,221
zone = 43969,47111,920,5783120,216,216
zone = 47112,50174,900,5513400,211,211
zone = 50175,53157,879,5244114,206,206
zone = 53158,56060,858,4981548,201,201
zone = 56061,58882,837,4724028,196,196
zone = 58883,61625,817,4482062,192,192
zone = 61626,64287,796,4237904,187,187
zone = 64288,66869,775,4002100,182,182
zone = 66870,69371,754,3773016,177,177
zone = 69372,71793,733,3550652,172,172
zone = 71794,74135,713,3339692,167,167
zone = 74136,76396,692,3129224,162,162
zone = 76397,78577,671,2926902,158,158
zone = 78578,80679,650,2732600,153,153
zone = 80680,82700,629,2542418,148,148
zone = 82701,84641,609,2364138,143,143
zone = 84642,86501,588,2187360,138,138
zone = 86502,88282,567,2019618,133,133

# [T1]: 300 + sqrt(2235 * distance) us for short seeks, 3800 + 0.116 * distance us for long ones.
# Chosen to meet 55.9 s for 4096 random reads [DS]: all of it times 1.31.
seek_short_base = 0.393 ms
seek_short_factor = 61.931 us	# sqrt(2235) = 47.28
seek_long_base = 4.978 ms
seek_long_factor = 151.96 ns
seek_limit = 9640		# derived: where the two meet
head_switch = 1.4 ms		# [T1]
cylinder_switch = 1.6 ms	# [T1]
write_settle = 0.7 ms		# assumed: writes wait for a better settled head
settle_on_switch = no		# drives write as fast as they read: 132.8 and 132.6, 201 and 200 MB/s (jshook/perfscripts)

bus_read = 3850 ns		# [T1] 133 MB/s
bus_write = 3850 ns		# [T1]

segments = 11		# [T1]
segment_sectors = 260 KiB	# [T1]
write_segments = 12	# fitted to 124 random writes/s of a drive of 7200 rpm (fio-plot, 500 GB)
write_buffer = 2080 KiB	# assumed: three times max_sectors and more; [T1] tells 2.8 MB of the buffer in all
write_cache = back		# assumed: as shipped. The paper models write-through: write_cache=through
readahead = max			# assumed: a segment's worth
readahead_max = 196 KiB	# assumed: what a segment holds beside the request
readahead_stream = 196 KiB	# assumed: two streams get half of the rate or near it (xbitlabs, HDDs of 2010, page 11: Hitachi)
readahead_on_idle_hit = yes	# a reader slower than the media finds the next sectors read
keep_requested = yes	# assumed: what is read again comes from the buffer, as burst rates of benchmarks show
read_hits_on_write_data = yes	# assumed
destage_idle = 1 ms		# assumed

overhead = 0.06 ms	# assumed; xbitlabs, 30 drives of 250 GB, page 2: full rate from 4 KB on (T7K250)
overhead_read_miss_after_read = 0.24 ms	# derived: [DS] leaves a random read 0.3 ms of overhead
overhead_read_miss_after_write = 0.24 ms
overhead_write_miss_after_read = 0.24 ms
overhead_write_miss_after_write = 0.24 ms
ncq_depth = 16			# class; fio-plot, a drive of 500 GB: no more reads at depth 64 than at 32
ncq_rotation = 0		# class; as a drive of 500 GB (fio-plot)
nr_requests = 128		# [T1] 128-160: with batching
scheduler = fifo		# [T1]
plug_time = 3 ms		# [T1]
