# Samsung 850 EVO, 250 GB, 2.5 inch, Serial ATA: MZ-75E250
#
# Sources:
#   [U] ublk-disksim, docs/VALIDATION.md and docs/img/data: measurements of one drive under NTFS
#   [A] anandtech.com, 2014, show 8747: TurboWrite takes 3 GB, further writes go past it, and it is emptied while idle
# "assumed" marks what neither tells.
#
# Fitted: read_latency, read_time, read_step, retries and retry_time to the spread of reads at depth 1 (p10 to p99);
# command_time to 98,400 reads/s at depth 32; flush_overhead to 315 to 320 writes with flush a second;
# map_flushes and map_flush_time to the p99 of a reader beside such a writer. All other figures of [U] are evidence.

name = samsung-850-evo-250
kind = ssd
host = linux-2.6.23		# Serial ATA: one queue
ncq_depth = 31			# Linux keeps one of 32
max_sectors = 1280 KiB		# Linux since 4.3
max_segments = 168		# AHCI of Linux (AHCI_MAX_SG)
capacity = 488397168 sectors	# derived: IDEMA LBA1-03, 97696368 + 1953504 * (GB - 50)
logical_block = 512 B
physical_block = 512 B		# assumed: what the drive says of itself

interface = sata		# derived: reads and writes share the link
link_rate = 553 MB/s		# [U] sequential reads
command_time = 10.1 us		# fitted
read_latency = 12.6 us		# fitted
write_latency = 10 us		# assumed
flush_overhead = 2.2 ms		# fitted
map_flushes = 14		# fitted
map_flush_time = 4 ms		# fitted
write_cache = back		# [U] it has a volatile cache
write_buffer = 32 MiB		# [U] their buf_mb
buffer_reads = yes		# derived: what is not programmed yet is nowhere else

dies = 16			# [U] theirs
channels = 4			# assumed
channel_rate = 400 MB/s		# assumed
flash_page = 16384		# [U] theirs
program_unit = 32768		# assumed: two planes
page_types = 3			# three bits a cell
read_time = 45.5 us		# fitted
read_step = 6 us		# fitted
retries = 7 %			# fitted
retry_time = 15 us		# fitted
program_time = 1665 us		# assumed: 300 MB/s past TurboWrite
slc_cache = 5859375 sectors	# [A] 3 GB
slc_program_time = 390 us	# [U] their tprog_us, which was seen within 3 GB
slc_read_time = 40 us		# assumed
slc_idle_after = 1 s		# assumed
slc_fold_rate = 150 MB/s	# assumed: half of what it writes past TurboWrite
erase_time = 3 ms		# assumed
suspend_time = 20 us		# assumed
suspends = 1000			# assumed

gc_unit = 32 MiB		# assumed
