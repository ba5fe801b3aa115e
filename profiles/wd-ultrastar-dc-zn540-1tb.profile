# Western Digital Ultrastar DC ZN540, 1 TB, U.2, NVMe with zones (ZNS): the drive that [P] measured
#
# Sources:
#   [N] NVMeVirt's parameters for this drive (ssd_config.h, WD_ZN540), looked up on 2026-11-28: 8 channels of 4 dies, a zone on
#       all of them; pages of 32 KiB; 4 KiB read in 50 us and 20 us of firmware; a channel of 450 MB/s
#   [P] paper: K. Doekemeijer et al., Performance characterization of NVMe flash devices with zoned namespaces, CLUSTER 2023
#       (arXiv 2310.19094), figures from memory: not looked up again. 904 zones of 2 GiB, 1,077 MiB of each can be written, 14 open;
#       4 KiB at depth 1 written in 11.36 us, appended in 14.02 us; 186,000 writes/s to several zones, 132,000 appends/s,
#       424,000 reads/s; 1,155 MiB/s written; open 9.56 us, close 11.01 us, a write that opens 2.02 us more; reset 16.19 ms of a full
#       zone, 11.60 ms of half of one; finish 907.51 ms of a zone with hardly anything, 3.07 ms of a nearly full one
#   [D] Western Digital's data sheet, from memory: not looked up again. 3,200 MB/s read
# "assumed" marks what none of them tells. Nobody vouches for this profile: [P] was not read again.
#
# Fitted: write_command_time, append_command_time, command_time, write_latency, program_time, and the times of commands about
# zones, to [P]. Not fitted: an append of 14.02 us.

name = wd-ultrastar-dc-zn540-1tb
kind = ssd
host = nvme
nr_requests = 1023		# Linux: the queue's depth of 1024, less one
max_sectors = 256 KiB		# [N] MDTS of 6
capacity = 1808 GiB		# [P] 904 zones of 2 GiB, of which 951 GiB can be written
logical_block = 512 B		# assumed: its other format is 4096
physical_block = 4096 B		# assumed: as its class

zone_size = 2 GiB		# [P] paper
zone_capacity = 1077 MiB	# [P] paper
max_open_zones = 14		# [P] paper
max_active_zones = 14		# [P] paper
zone_append_limit = 128 KiB	# assumed
zone_dies = 0			# [N] all
zone_buffer = 4 MiB		# assumed: so much that one zone is as fast as several [P]
zone_open_time = 7.2 us		# fitted: 9.56 us [P] with command_time
zone_close_time = 8.65 us	# fitted: 11.01 us [P] with command_time
zone_implicit_open_time = 2.02 us	# [P] paper
zone_reset_time = 7.01 ms	# fitted: 11.60 ms of a half [P]
zone_reset_full_time = 9.18 ms	# fitted: 16.19 ms of a full one [P]
zone_finish_time = 3.07 ms	# [P] paper
zone_finish_empty_time = 904.44 ms	# fitted: 907.51 ms [P]

interface = pcie		# derived: NVMe
link_rate = 3.2 GB/s		# [D] data sheet
command_time = 2.36 us		# fitted: 424,000 reads/s [P]
write_command_time = 5.38 us	# fitted: 186,000 writes/s [P]
append_command_time = 7.58 us	# fitted: 132,000 appends/s [P]
read_latency = 17.6 us		# derived: 20 us of firmware [N] less command_time
write_latency = 4.7 us		# fitted: 11.36 us [P]
power_loss_protection = yes	# assumed: as its class
write_cache = back		# derived: a write of 11.36 us is none to flash
write_buffer = 64 MiB		# assumed: 14 zones of 4 MiB, and some
buffer_reads = yes		# derived: what is not programmed yet is nowhere else

dies = 32			# [N]
channels = 8			# [N]
channel_rate = 450 MB/s		# [N]
flash_page = 32768		# [N]
program_unit = 131072		# assumed: [N] has 96 KiB, and here it is a power of two
page_types = 3			# derived: three bits a cell
read_time = 50 us		# [N]
read_step = 0 us		# [N] all pages alike
program_time = 3173 us		# fitted: 1,155 MiB/s [P], data included
suspend_time = 16 us		# assumed: as the Micron 7300 PRO
suspends = 1000			# assumed: as the Micron 7300 PRO
