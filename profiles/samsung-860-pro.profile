# Samsung 860 PRO, 2.5 inch, Serial ATA
#
# Sources:
#   [L] louwrentius/fio-plot, git history: fio 4 KiB random on one drive behind an LSI adapter (IBM M1015)
#   [I] LSI Logic's manual of Fusion-MPT adapters (7202CP, 2002): an interrupt for four commands, or after a time
# "assumed" marks what it does not tell; the size of the drive is among that.
#
# Fitted: read_latency, read_time, read_step, retries and retry_time to the spread of reads at depth 1; interrupt_time and
# dies to rate and p99 of reads at depth 8; command_time and write_command_time to reads, and to the median of writes, at
# depth 32; write_latency to writes
# at depth 1, write_wake_time to their median at depth 2; raw_capacity to the rates of writes at depth 2 and 4, write_stripe
# and write_buffer to the share and the length of their waits at depth 2, 4 and 8. The rest of [L] is evidence.
#
# Writes rose from 36,000 to 60,000 a second in the order in which [L] was measured. fio's programs write to the same
# places each time, so what they wrote came together in blocks of its own, and collection had less to move.
#
# What is collected in one go, 22 units, keeps all dies for a program and six of them for two. Meanwhile the buffer takes
# what comes. At depth 1, 20,000 a second, it never gets full, and the drive has no waits then; at depth 2 1.3 % of the
# writes wait, about evenly from nothing to 2.5 ms; at 43,000 to 62,000 a second they wait for 1.6 to 2.8 ms.

name = samsung-860-pro
kind = ssd
host = linux-2.6.23		# Serial ATA: one queue
ncq_depth = 31			# Linux keeps one of 32
max_sectors = 1280 KiB		# Linux since 4.3
max_segments = 168		# AHCI of Linux (AHCI_MAX_SG)
capacity = 2000409264 sectors	# assumed: 1,024 GB
logical_block = 512 B
physical_block = 512 B		# assumed: what the drive says of itself

interface = sata		# derived: reads and writes share the link
link_rate = 560 MB/s		# derived: 6 Gb/s, less what the protocol takes
link_command_time = 2.7 us	# derived: 98,000 reads a second, as drives of this interface reach
command_time = 13.4 us		# fitted
write_command_time = 16 us	# fitted
read_latency = 12 us		# fitted
write_latency = 7.7 us		# fitted
write_wake_time = 3.1 us		# fitted
interrupt_batch = 4		# [I]
interrupt_time = 25 us		# fitted
write_cache = back		# derived: a write of 37 us is none to flash
write_buffer = 336 KiB		# fitted
write_stripe = 720896		# fitted
buffer_reads = yes		# derived: what is not programmed yet is nowhere else

dies = 16			# fitted
channels = 4			# assumed
channel_rate = 400 MB/s		# assumed
flash_page = 16384		# assumed: as its class
program_unit = 32768		# assumed: two planes
page_types = 2			# two bits a cell
read_time = 40 us		# fitted
read_step = 13 us		# fitted
retries = 30 %			# fitted
retry_time = 7 us		# fitted
program_time = 860 us		# derived: 530 MB/s written in order
erase_time = 3 ms		# assumed
suspend_time = 20 us		# assumed
suspends = 1000			# assumed

raw_capacity = 2450000000 sectors	# fitted
gc_unit = 128 MiB		# assumed
