# Micron 7450 MAX, 800 GB, NVMe: MTFDKBG800TFS
#
# Sources:
#   [S] SSD-iq (PVLDB 2025), github.com/gabriel-haas/ssdiq-pub: rates, write amplification and times of one drive
#   [M] Micron's data sheet: 6,800 MB/s read; not looked up again
# "assumed" marks what neither tells.
#
# Fitted: program_time to 353,000 random writes/s and a write amplification of 1.04 of the drive filled in order;
# read_latency to a median of 65 us and write_latency to one of 9 us with 10,000 requests a second. Rates and write
# amplification in steady state at six fills, and all other times, are evidence.

name = micron-7450-max
kind = ssd
host = nvme
nr_requests = 1023		# Linux: the queue's depth of 1024, less one
max_sectors = 128 KiB		# assumed: the drive's MDTS
capacity = 1562824368 sectors	# derived: IDEMA LBA1-03, 97696368 + 1953504 * (GB - 50)
logical_block = 512 B
physical_block = 4096 B		# assumed: as its class

interface = pcie		# derived: NVMe
link_rate = 6.8 GB/s		# [M]
command_time = 1 us		# assumed: 1,000,000 commands a second
read_latency = 8 us		# fitted
write_latency = 7.4 us		# fitted
power_loss_protection = yes	# [M]
write_cache = back		# derived: a write of 9 us is none to flash
write_buffer = 32 MiB		# assumed
buffer_reads = yes		# derived: what is not programmed yet is nowhere else

dies = 32			# assumed: 1 TiB in dies of 256 Gbit
channels = 8			# assumed
channel_rate = 1200 MB/s	# assumed
flash_page = 16384		# assumed: as its class
program_unit = 65536		# assumed
page_types = 3			# three bits a cell
read_time = 40 us		# assumed: as its class
read_step = 12 us		# assumed
program_time = 1390 us		# fitted
erase_time = 5 ms		# assumed
suspend_time = 20 us		# assumed: as micron-7300-pro
suspends = 1000			# assumed
locked_programs = 14 %		# assumed: as micron-7300-pro

raw_capacity = 1024 GiB		# derived: 1 TiB of flash
gc_unit = 256 MiB		# assumed
