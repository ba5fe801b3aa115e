# Kingston DC500M, 2.5 inch, Serial ATA
#
# Sources:
#   [L] louwrentius/fio-plot, git history: fio 4 KiB random on one drive behind an LSI adapter (IBM M1015), not preconditioned
#   [I] LSI Logic's manual of Fusion-MPT adapters (7202CP, 2002): an interrupt for four commands, or after a time
# "assumed" marks what it does not tell; the size of the drive is among that.
#
# Fitted: wake_time to reads at depth 1; read_latency, read_time and read_step to those at depth 2; dies to those at
# depth 8; command_time and write_command_time to reads and writes at depth 32; write_latency to writes at depth 1,
# write_wake_time to their median at depth 2. The rest of [L] is evidence.
#
# The rate at depth 32 is what drive and adapter gave together. The data sheet has more: 98,000 reads a second.

name = kingston-dc500m
kind = ssd
host = linux-2.6.23		# Serial ATA: one queue
ncq_depth = 31			# Linux keeps one of 32
max_sectors = 1280 KiB		# Linux since 4.3
max_segments = 168		# AHCI of Linux (AHCI_MAX_SG)
capacity = 1875385008 sectors	# assumed: 960 GB
logical_block = 512 B
physical_block = 4096 B		# assumed: as its class

interface = sata		# derived: reads and writes share the link
link_rate = 560 MB/s		# derived: 6 Gb/s, less what the protocol takes
command_time = 13.5 us		# fitted
write_command_time = 15.6 us	# fitted
wake_time = 50 us		# fitted: at depth 1 each of the modes comes 40 to 50 us later than at depth 2
read_latency = 2 us		# fitted
write_latency = 8 us		# fitted
write_wake_time = 4 us		# fitted
interrupt_batch = 4		# [I]
interrupt_time = 25 us		# fitted to the 860 PRO, behind the same adapter
power_loss_protection = yes	# data sheet
write_cache = back		# derived: a write of 35 to 38 us is none to flash
write_buffer = 32 MiB		# assumed
buffer_reads = yes		# derived: what is not programmed yet is nowhere else

dies = 32			# fitted
channels = 4			# assumed
channel_rate = 400 MB/s		# assumed
flash_page = 16384		# assumed: as its class
program_unit = 65536		# assumed
page_types = 3			# three bits a cell
read_time = 40 us		# fitted
read_step = 25 us		# fitted
program_time = 700 us		# assumed: as its class
erase_time = 3 ms		# assumed
suspend_time = 20 us		# assumed
suspends = 1000			# assumed

gc_unit = 256 MiB		# assumed
