# Intel SSD 540s, 1 TB, 2.5 inch, Serial ATA
#
# Sources:
#   [P] jshook/perfscripts, historic/Intel_SSD_540S_1Tb: fio, libaio, direct, 10 requests at a time, a file of 5 GB
# "assumed" marks what it does not tell.
#
# Fitted: read_time, dies and command_time to random reads of 4 KiB alone; link_rate to reads and writes of 1 MiB beside
# random reads, not held to a rate. Alone, reads of 64 and 128 KiB come to 528 and 556 MB/s, and of 256 KiB and more to 379
# to 490: the firmware's pieces are not known. The mixes that are held to a rate are evidence.
#
# Long waits of the streams, 20 to 40 ms for one request in a hundred, are not modelled.

name = intel-540s-1tb
kind = ssd
host = linux-2.6.23		# Serial ATA: one queue
ncq_depth = 31			# Linux keeps one of 32
max_sectors = 1280 KiB		# Linux since 4.3
max_segments = 168		# AHCI of Linux (AHCI_MAX_SG)
capacity = 1953525168 sectors	# derived: IDEMA LBA1-03, 1,000 GB
logical_block = 512 B
physical_block = 512 B		# assumed: what the drive says of itself

interface = sata		# derived: reads and writes share the link
link_rate = 450 MB/s		# fitted: what reads and writes of 1 MiB share
link_command_time = 2.7 us	# derived: 98,000 reads a second, as drives of this interface reach
command_time = 14 us		# fitted
read_latency = 20 us		# assumed
write_latency = 20 us		# assumed
write_cache = back		# assumed: as its class
write_buffer = 16 MiB		# assumed
buffer_reads = yes		# derived: what is not programmed yet is nowhere else

dies = 12			# fitted
channels = 4			# assumed
channel_rate = 400 MB/s		# assumed
flash_page = 16384		# assumed: as its class
program_unit = 32768		# assumed: two planes
page_types = 3			# three bits a cell
read_time = 90 us		# fitted
read_step = 25 us		# assumed
program_time = 1250 us		# assumed
erase_time = 5 ms		# assumed
suspend_time = 20 us		# assumed
suspends = 1000			# assumed
gc_unit = 128 MiB		# assumed
