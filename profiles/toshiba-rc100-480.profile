# Toshiba RC100, 480 GB, M.2, NVMe: no memory of its own for the map, a part of it is in the host's
#
# Sources:
#   [D] Toshiba's data sheet: 1,700 and 1,200 MB/s, 150,000 reads/s and 110,000 writes/s
#   [P] pconline.com.cn, 2018, 1163/11632524: 38 MB of the host's memory, which with its own cover 24 GB of the drive
#   [A] anandtech.com, 2018, show 12819: a read that finds no map there takes two reads of flash
# "assumed" marks what none tells.
#
# Fitted: command_time to the reads/s, write_command_time to the writes/s, program_time to the MB/s written of [D].

name = toshiba-rc100-480
kind = ssd
host = nvme
nr_requests = 1023		# Linux: the queue's depth of 1024, less one
max_sectors = 128 KiB		# assumed
capacity = 937703088 sectors	# derived: IDEMA LBA1-03, 97696368 + 1953504 * (GB - 50)
logical_block = 512 B
physical_block = 512 B		# assumed: what the drive says of itself

interface = pcie		# derived: NVMe
link_rate = 1.7 GB/s		# [D]
command_time = 6.6 us		# fitted
write_command_time = 9 us	# fitted
read_latency = 12 us		# assumed
write_latency = 12 us		# assumed
flush_time = 500 us		# assumed: a journal for each, one after another, as on a Samsung 970 PRO
write_cache = back		# assumed: as its class
write_buffer = 1 MiB		# assumed: memory of the controller
buffer_reads = yes		# derived: what is not programmed yet is nowhere else

map_cache = 24 MiB		# [P] for 24 GB, with map_coverage
map_page = 4096			# assumed
map_coverage = 4 MiB		# assumed: 4 bytes for a page of 4 KiB

dies = 16			# derived: dies of 256 Gbit
channels = 2			# assumed
channel_rate = 800 MB/s		# assumed
flash_page = 16384		# assumed: as its class
program_unit = 65536		# assumed: two planes
page_types = 3			# three bits a cell
read_time = 55 us		# assumed
read_step = 8 us		# assumed
program_time = 750 us		# fitted
erase_time = 5 ms		# assumed
suspend_time = 30 us		# assumed
suspends = 1000			# assumed

gc_unit = 128 MiB		# assumed
