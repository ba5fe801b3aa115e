# Micron 7300 PRO, 3.84 TB, U.2, NVMe: MTFDHBE3T8TDF
#
# Sources:
#   [U] ublk-disksim, docs/VALIDATION.md and docs/img/data: measurements of one drive, nearly empty and in steady state
#   [D] Micron's data sheet as [U] cites it: 90 us, 3,000 and 1,550 MB/s, 75,000 writes/s in steady state
#   [M] github.com, oxidecomputer/propolis, issue 79: what drives say of themselves (id_mdts), this model 0x5
# "assumed" marks what none tells.
#
# Fitted: read_time and read_step to three read modes of 88, 116 and 165 us, a third of the pages each; write_command_time to
# 163,000 random writes/s when new; command_time to 534,000 reads/s at depth 256; page_time to 2,713 MB/s read in order; write_latency to 20.5 us; program_time to 1,607 MB/s written; scattered_read_time to 9,900 reads/s at depth 1 in steady state;
# raw_capacity to 70,000 to 77,000 random writes/s in steady state; locked_programs to 0.55 % of reads beside a writer of
# the nearly empty drive that take more than 1 ms. All other figures of [U] are evidence.

name = micron-7300-pro
kind = ssd
host = nvme
nr_requests = 1023		# Linux: the queue's depth of 1024, less one
max_sectors = 128 KiB		# [M] MDTS 5
capacity = 7501476528 sectors	# derived: IDEMA LBA1-03, 97696368 + 1953504 * (GB - 50)
logical_block = 512 B
physical_block = 4096 B		# assumed: as its class

interface = pcie		# derived: NVMe
link_rate = 3 GB/s		# [D]
command_time = 1.85 us		# fitted: 534,000 reads/s at depth 256
write_command_time = 6.1 us	# fitted
page_time = 1.5 us		# fitted
read_latency = 19.7 us		# fitted, with read_time, to the fastest mode
write_latency = 13 us		# fitted
power_loss_protection = yes	# [U]
write_cache = back		# derived: a write of 20.5 us is none to flash
write_buffer = 64 MiB		# [U] their buf_mb
buffer_reads = yes		# derived: what is not programmed yet is nowhere else

dies = 64			# [U] theirs
channels = 8			# assumed: as its class
channel_rate = 800 MB/s		# [U] theirs
flash_page = 16384		# assumed: as its class
program_unit = 65536		# [U] theirs
page_types = 3			# [U] three modes
read_time = 60 us		# fitted
scattered_read_time = 42 us	# fitted
read_step = 26 us		# [U] levels of some 26 us
retries = 4 %			# fitted to the p99 of reads at depth 1
retry_time = 26 us		# assumed: one more level
program_time = 2624 us		# [U] programs of some 2.7 ms, data included
erase_time = 5 ms		# assumed: as its class
suspend_time = 16 us		# fitted to the median beside a writer in steady state; [U] has 20
suspends = 1000			# assumed: no limit was seen
locked_programs = 14.8 %		# fitted

raw_capacity = 8400000000 sectors	# fitted
gc_unit = 1 GiB			# assumed: a block of 16 MiB of each die
