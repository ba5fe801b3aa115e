# SPDX-License-Identifier: GPL-2.0
"""What real drives did, for realdrives.py.

A line: name | state | part of the job | job | source | per s, then p50, p90, p99 and p99.9 in us, or -.
After a figure "*" says that a parameter was chosen by it, and "~6" that it may be 6 % off. The state is the
drive's before the job: fresh, written in order, or in steady state.
"""

UBLK = "ublk-disksim"
IQ = "SSD-iq, PVLDB 2025"
SHEET = "data sheet"

BESIDE = "read random span={0} + write random span={0} flush=1 at=50% pace={1} count={2}"
PROBE = "read random rate=20480000 + write random depth=64 rate={0} count=400000 warm=100000"
WRITES = "write random depth=128 span={0}G count=400000 warm=300000"

# GiB used, and random writes a second in steady state
MICRON_7450 = {372: 312000, 447: 285000, 521: 253000, 596: 225000, 670: 193000, 745: 159000}

FIGURES = {
    "micron-7300-pro": f"""
reads, depth 1, nearly empty | in order | 0 | read random count=40000 | {UBLK} \
| 8484~6 115.2~10 164.9 185.3 321.5
reads, depth 1 | steady | 0 | read random count=40000 | {UBLK} | 9900*~6 - - - -
reads, depth 8 | steady | 0 | read random depth=8 count=40000 | {UBLK} | 73000~6 - - - -
reads, depth 32 | steady | 0 | read random depth=32 count=40000 | {UBLK} | 252000~6 - - - -
reads, depth 64 | steady | 0 | read random depth=64 count=40000 | {UBLK} | 395000~6 - - - -
reads beside writes with flush, nearly empty | in order | 0 | {BESIDE.format("4G", "6us", 400000)} | {UBLK} \
| 7334~6 117.2~10 169 399.4*~30 2867~30
the same in steady state | steady | 0 | {BESIDE.format("20%", "6us", 400000)} | {UBLK} \
| - 104*~10 255 2376~30 3097~30
writes, depth 32 | steady | 0 | write random depth=32 count=400000 warm=100000 | {UBLK} | 73500*~6 - - - -
""",
    "samsung-850-evo-250": f"""
reads, depth 1 | in order | 0 | read random span=4G count=40000 | {UBLK} | 10652*~6 91.7* 103.9* 119.3 144.4
reads, depth 32 | in order | 0 | read random span=4G depth=32 count=40000 | {UBLK} | 98400*~6 - - - -
writes of 128 KiB, depth 32 | fresh | 0 | write size=128K depth=32 count=15000 | {UBLK} | 3983~10 - - - -
writes with flush | in order | 0 | write random flush=1 pace=40us count=4000 | {UBLK} | 317.5*~6 - - - -
reads beside writes with flush | in order | 0 | {BESIDE.format("4G", "40us", 30000)} | {UBLK} \
| 612~6 2703~10 3031 6717*~30 8847~30
""",
    "seagate-st2000dm006": f"""
reads, depth 1 | as made | 0 | read random count=6000 | {UBLK} | 56.9*~6 17690*~10 23200* 28440*~25 103300
reads, depth 8 | as made | 0 | read random depth=8 count=6000 | {UBLK} | 78.6*~6 - - - -
reads, depth 32 | as made | 0 | read random depth=32 count=6000 | {UBLK} | 93.6*~6 - - - -
writes, depth 1 | as made | 0 | write random count=6000 warm=2000 | {UBLK} | 124~10 - - - -
8 writes and a flush | as made | 0 | write random flush=8 count=2700 | {UBLK} | 62.9*~10 - - - -
64 writes and a flush | as made | 0 | write random flush=64 count=6500 | {UBLK} | 101.6*~10 - - - -
""",
    "intel-660p-1tb": f"""
writes, depth 128 | fresh | 0 | write random span=8G depth=128 count=100000 | {SHEET} | 220000*~6 - - - -
writes of 128 KiB, depth 32 | fresh | 0 | write size=128K depth=32 count=40000 | {SHEET} | 13733*~6 - - - -
the same past 140 GB | fresh | 0 | write size=128K depth=32 count=40000 warm=1100000 | evantechbook.com \
| 763*~6 - - - -
""",
    "toshiba-rc100-480": f"""
reads, depth 128 | in order | 0 | read random span=8G depth=128 count=60000 warm=20000 | {SHEET} \
| 150000*~6 - - - -
writes, depth 128 | fresh | 0 | write random span=8G depth=128 count=100000 | {SHEET} | 110000*~6 - - - -
writes of 128 KiB, depth 32 | fresh | 0 | write size=128K depth=32 count=40000 | {SHEET} | 9155*~6 - - - -
""",
    "micron-7450-max": f"""
reads, 5,000/s beside 5,000 writes/s | steady | 0 | {PROBE.format(20480000)} | {IQ} | - 65* - 161 388
writes | steady | 1 | {PROBE.format(20480000)} | {IQ} | - 9* - 14 218
reads, 5,000/s beside 45,000 writes/s | steady | 0 | {PROBE.format(184320000)} | {IQ} | - 76 - 3272 5092
writes, filled in order | in order | 0 | {WRITES.format(745)} | {IQ} | 353000*~6 - - - -
"""
    + "".join(
        f"writes, {used} GiB used | steady {1000 * used // 745.2 / 1000} | 0 | {WRITES.format(used)} | {IQ} "
        f"| {rate}~8 - - - -\n"
        for used, rate in MICRON_7450.items()
    ),
    "samsung-970-pro": f"""
reads, depth 128 | in order | 0 | read random depth=128 count=40000 | {SHEET} | 370000~6 - - - -
writes, depth 128 | fresh | 0 | write random depth=128 count=100000 | {SHEET} | 500000*~6 - - - -
reads of 128 KiB, depth 32 | in order | 0 | read size=128K depth=32 count=20000 | {SHEET} | 26703~6 - - - -
writes of 128 KiB, depth 32 | fresh | 0 | write size=128K depth=32 count=40000 | {SHEET} | 17548~6 - - - -
writes with flush | fresh | 0 | write random flush=1 count=4000 | ceph-diskbench | 456*~6 - - - -
""",
    "kioxia-cm7-r": f"""
reads, 5,000/s beside 5,000 writes/s | steady | 0 | {PROBE.format(20480000)} | {IQ} | - 73* - 218 549
writes | steady | 1 | {PROBE.format(20480000)} | {IQ} | - 8* - 11 15
reads, 5,000/s beside 95,000 writes/s | steady | 0 | {PROBE.format(389120000)} | {IQ} | - 74 - 560 1106
writes of 128 KiB, depth 32 | fresh | 0 | write size=128K depth=32 count=80000 warm=20000 | {SHEET} \
| 51498*~6 - - - -
""",
    "generic-qlc": f"""
writes, depth 128 | steady | 0 | write random depth=128 count=400000 warm=100000 | {SHEET} | 120000*~6 - - - -
writes of 128 KiB, depth 32 | fresh | 0 | write size=128K depth=32 count=40000 warm=10000 | {SHEET} \
| 22888*~6 - - - -
""",
    "optane-p4800x": f"""
reads, depth 1 | as made | 0 | read random count=20000 | anandtech.com | 108300~6 9*~10 - 10~25 -
reads, depth 16 | as made | 0 | read random depth=16 count=20000 | anandtech.com | 584800*~6 25~10 - 41 -
writes, depth 16 | as made | 0 | write random depth=16 count=20000 | {SHEET} | 500000*~6 - - - -
""",
}
