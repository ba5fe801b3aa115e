# Intel Optane SSD DC P4800X, 375 GB, NVMe: SSDPED1K375GA
#
# Sources:
#   [A] anandtech.com, 2017, "a deep dive into 3D XPoint enterprise performance": reads of one drive
#   [D] Intel's data sheet as [A] cites it: 2,400 MB/s, 550,000 reads/s, 500,000 writes/s, less than 10 us
#
# Fitted: read_latency to 8.9 us at depth 1, command_time to 584,800 reads/s at depth 16 [A]; write_command_time to
# 500,000 writes/s [D]. What remains is the median and the spread at depth 16.

name = optane-p4800x
kind = memory
host = nvme
nr_requests = 1023		# Linux: the queue's depth of 1024, less one
max_sectors = 128 KiB		# assumed: the drive's MDTS
capacity = 732585168 sectors	# derived: IDEMA LBA1-03, 97696368 + 1953504 * (GB - 50)
logical_block = 512 B
physical_block = 512 B		# assumed: what the drive says of itself

interface = pcie		# derived: NVMe
link_rate = 2.4 GB/s		# [D]
command_time = 1.71 us		# fitted
write_command_time = 2 us	# fitted
read_latency = 5.48 us		# fitted
write_latency = 5.48 us		# assumed: as a read
units = 7			# assumed: channels of the controller
