# For tests: no real drive. A few microseconds wherever the data lie.
name = memory
kind = memory
host = nvme
nr_requests = 64
capacity = 1 GiB
max_sectors = 256 sectors
link_rate = 2 GB/s
command_time = 1 us
read_latency = 9 us
write_latency = 10 us
units = 4
