# No drive: one of its class, 7.68 TB with four bits a cell, pages mapped by 4 KiB, NVMe
#
# Sources:
#   [D] Solidigm's data sheet of the D5-P5430: 7,000 and 3,000 MB/s, 971,000 reads/s and 120,000 writes/s
# "assumed" marks what it does not tell.
#
# Fitted: command_time to the reads/s, program_time to the MB/s written, raw_capacity to the writes/s of [D].

name = generic-qlc
kind = ssd
host = nvme
nr_requests = 1023		# Linux: the queue's depth of 1024, less one
max_sectors = 128 KiB		# assumed
capacity = 15002931888 sectors	# derived: IDEMA LBA1-03, 97696368 + 1953504 * (GB - 50)
logical_block = 512 B
physical_block = 4096 B		# [D] pages of 4 KiB

interface = pcie		# derived: NVMe
link_rate = 7 GB/s		# [D]
command_time = 1.02 us		# fitted
read_latency = 12 us		# assumed
write_latency = 10 us		# assumed
power_loss_protection = yes	# [D]
write_cache = back		# assumed
write_buffer = 64 MiB		# assumed
buffer_reads = yes		# derived: what is not programmed yet is nowhere else

dies = 128			# assumed: 8 TiB in dies of 512 Gbit
channels = 16			# assumed
channel_rate = 1200 MB/s	# assumed
flash_page = 16384		# assumed
program_unit = 65536		# assumed
page_types = 4			# four bits a cell
read_time = 60 us		# assumed
read_step = 12 us		# assumed
program_time = 2740 us		# fitted
erase_time = 10 ms		# assumed
suspend_time = 30 us		# assumed
suspends = 1000			# assumed

raw_capacity = 7905 GiB		# fitted
gc_unit = 2 GiB			# assumed
