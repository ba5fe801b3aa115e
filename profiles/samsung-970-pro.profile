# Samsung 970 PRO, 512 GB, M.2, NVMe: MZ-V7P512
#
# Sources:
#   [V] NVMeVirt (FAST 2023), ssd_config.h: the parameters by which it models this drive
#   [D] Samsung's data sheet: 3,500 and 2,300 MB/s, 370,000 reads/s and 500,000 writes/s
#   [C] ceph-diskbench: 456, 840, 817 and 782 writes with flush a second from one to four programs
# "assumed" marks what none of them tells.
#   [E] github.com/earlephilhower/ezfio, issue 23: some 34,000 random writes a second in steady state
#
# Fitted: flush_overhead and flush_time to one and two programs of [C]; command_time to the 500,000 writes/s of [D];
# raw_capacity to [E]. Three and four programs of [C] and the rest of [D] are evidence.

name = samsung-970-pro
kind = ssd
host = nvme
nr_requests = 1023		# Linux: the queue's depth of 1024, less one
max_sectors = 512 KiB		# assumed: the drive's MDTS
capacity = 1000215216 sectors	# derived: IDEMA LBA1-03, 97696368 + 1953504 * (GB - 50)
logical_block = 512 B
physical_block = 512 B		# assumed: what the drive says of itself

interface = pcie		# derived: NVMe
link_rate = 3.36 GB/s		# [V]
command_time = 1.95 us		# fitted
read_latency = 19.5 us		# [V] 21.5 us of firmware, less command_time
write_latency = 4.46 us		# [V] 4,000 + 460 ns
flush_overhead = 770 us		# fitted
flush_time = 1.19 ms		# fitted: 840 a second whoever asks
write_cache = back		# [V] writes are done in the buffer
write_buffer = 1 MiB		# [V] channels * dies * page * 2
buffer_reads = yes		# derived: what is not programmed yet is nowhere else

dies = 16			# [V] 8 channels of 2
channels = 8			# [V]
channel_rate = 800 MB/s		# [V]
flash_page = 32768		# [V]
program_unit = 32768		# [V]
page_types = 2			# [V] two bits a cell
read_time = 29.76 us		# [V] 35.76 - 6 us
read_step = 12 us		# [V] twice 6 us
program_time = 185 us		# [V]
erase_time = 3 ms		# assumed: [V] has 0
suspend_time = 20 us		# assumed
suspends = 0			# [V] reads wait for programs

raw_capacity = 1033000000 sectors	# fitted
gc_unit = 64 MiB		# assumed
