# Intel SSD 660p, 1.02 TB, M.2, NVMe: SSDPEKNW010T8; four bits a cell, most of them written with one bit at first
#
# Sources:
#   [D] Intel's data sheet: 1,800 MB/s read and written, 150,000 reads/s and 220,000 writes/s at depth 256
#   [E] evantechbook.com, 2018: 100 MB/s past the SLC cache; 140 GB of it when empty, 12 GB when 80 % full; 4 channels
# "assumed" marks what neither tells.
#
# Fitted: command_time to the writes/s and slc_program_time to the MB/s of [D], program_time to those of [E]. The cache of
# the drive shrinks from a quarter to three quarters full; here it shrinks from empty to full.

name = intel-660p-1tb
kind = ssd
host = nvme
nr_requests = 1023		# Linux: the queue's depth of 1024, less one
max_sectors = 128 KiB		# assumed
capacity = 2000409264 sectors	# derived: IDEMA LBA1-03, 97696368 + 1953504 * (GB - 50), 1,024 GB
logical_block = 512 B
physical_block = 512 B		# assumed: what the drive says of itself

interface = pcie		# derived: NVMe
link_rate = 1.8 GB/s		# [D]
command_time = 4.5 us		# fitted
read_latency = 12 us		# assumed
write_latency = 10 us		# assumed
flush_time = 500 us		# assumed: a journal for each, one after another, as on a Samsung 970 PRO
write_cache = back		# assumed: as its class
write_buffer = 16 MiB		# assumed
buffer_reads = yes		# derived: what is not programmed yet is nowhere else

dies = 8			# derived: dies of 1,024 Gbit
channels = 4			# [E]
channel_rate = 667 MB/s		# assumed
flash_page = 16384		# assumed: as its class
program_unit = 65536		# assumed: four planes
page_types = 4			# four bits a cell
read_time = 60 us		# assumed
read_step = 12 us		# assumed
program_time = 5150 us		# fitted
erase_time = 10 ms		# assumed
suspend_time = 30 us		# assumed
suspends = 1000			# assumed

slc_cache = 273437500 sectors	# [E]
slc_cache_min = 23437500 sectors	# [E]
slc_program_time = 190 us	# fitted
slc_read_time = 30 us		# assumed
slc_idle_after = 1 s		# assumed
slc_fold_rate = 50 MB/s		# assumed: half of what it writes past the cache

gc_unit = 256 MiB		# assumed
