# Kioxia CM7-R, 3.84 TB, NVMe: KCMYXRUG3T84
#
# Sources:
#   [S] SSD-iq (PVLDB 2025), github.com/gabriel-haas/ssdiq-pub: times of one drive in steady state
#   [K] Kioxia's data sheet: 14,000 and 6,750 MB/s; not looked up again
# "assumed" marks what neither tells.
#
# Fitted: read_latency to a median of 73 us, write_latency to one of 8 us, both with
# 10,000 requests a second; program_time to the 6,750 MB/s of [K]. The other times of [S] are evidence.

name = kioxia-cm7-r
kind = ssd
host = nvme
nr_requests = 1023		# Linux: the queue's depth of 1024, less one
max_sectors = 256 KiB		# assumed: the drive's MDTS
capacity = 7501476528 sectors	# derived: IDEMA LBA1-03, 97696368 + 1953504 * (GB - 50)
logical_block = 512 B
physical_block = 4096 B		# assumed: as its class

interface = pcie		# derived: NVMe
link_rate = 14 GB/s		# [K]
command_time = 0.4 us		# assumed: 2,500,000 commands a second
read_latency = 11.7 us		# fitted
write_latency = 7 us		# fitted
power_loss_protection = yes	# [K]
write_cache = back		# derived: a write of 8 us is none to flash
write_buffer = 128 MiB		# assumed
buffer_reads = yes		# derived: what is not programmed yet is nowhere else

dies = 128			# assumed: 4 TiB in dies of 256 Gbit
channels = 16			# assumed
channel_rate = 1600 MB/s	# assumed
flash_page = 16384		# assumed: as its class
program_unit = 65536		# assumed
page_types = 3			# three bits a cell
read_time = 45 us		# assumed
read_step = 13 us		# assumed
program_time = 1160 us		# fitted
erase_time = 5 ms		# assumed
suspend_time = 20 us		# assumed
suspends = 1000			# assumed

raw_capacity = 4096 GiB		# derived: 4 TiB of flash
gc_unit = 1 GiB			# assumed
