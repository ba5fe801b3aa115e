# SPDX-License-Identifier: GPL-2.0
"""What somebody measured on the shipped drives, or on drives of their class, and what their makers publish.

Single figures, each with its source. `fitted`: a parameter of the profile was chosen by this very figure.
"""

from __future__ import annotations

from functools import partial

from .everyday import MEASURED, PUBLISHED, UNKNOWN, Row, Seen

T3 = "FAST 2011, table 3, one disk, caches off"
FIO_PLOT = "fio-plot's measurements"
XBITLABS = "xbitlabs, 1tb-14hdd-roundup_9, IOMeter at depth 4"
PERFSCRIPTS = "jshook/perfscripts, P300 of 3 TB, in a file of 5 GB"
SEAGATE_SMALL = "xbitlabs, 1tb-14hdd-roundup_9: Seagate's needs 32 KB for 100 MB/s at depth 4"
T7K250 = "xbitlabs, 30-250-hdd-roundup_2: a Hitachi T7K250 has its full rate from 4 KB on"
DS_7K80 = "Hitachi, 7K80 specification, 4.5.5"
DS_7K500 = "Hitachi, 7K500 specification, tables 10 and 12"


def _figure(
    name: str,
    words: str,
    unit: str,
    value: float,
    source: str,
    off: float = 5,
    kind: str = MEASURED,
    fitted: bool = False,
    known: str = "",
) -> Row:
    return Row("drive", name, words, unit, lambda _seen: value, source, kind, off, off, fitted, known)


def _no_figure(name: str, words: str, unit: str, searched: str) -> Row:
    """What the model says where nothing is known to hold it against; `searched` says what was looked at."""
    return Row("drive", name, words, unit, lambda _seen: None, searched, UNKNOWN)


def _no_small_reads(other: str = "") -> Row:
    return _no_figure(
        "read 4 KiB, depth 4",
        "read depth=4 count=20000 warm=2000",
        "MB/s",
        other or "xbitlabs measured desktop drives of 80 GB to 1 TB only",
    )


def _no_random_writes(searched: str) -> list[Row]:
    return [
        _no_figure(
            f"random writes, cache on{', depth 32' if depth > 1 else ''}",
            f"write random depth={depth} count=6000 warm=3000",
            "per s",
            searched,
        )
        for depth in (1, 32)
    ]


def _sheet_seek(read: float, write: float, revolution: float, source: str) -> list[Row]:
    """The data sheet's average seeks, which the profile's curve goes through."""

    def positioned(seen: Seen, op: str, seek: float) -> float:
        return 1000 * (seek + revolution / 2) + seen.drive["overhead_us"][op] + seen.transfer(4096)

    rows = []
    for op, seek in (("read", read), ("write", write)):
        words = f"{op} random count=4000" + (" cache=off" if op == "write" else "")
        rows.append(
            Row(
                "drive",
                f"average seek, {op}",
                words,
                "us",
                partial(positioned, op=op, seek=seek),
                source,
                PUBLISHED,
                4,
                4,
                fitted=True,
            )
        )
    return rows


def _random_writes(value: float, source: str, fitted: bool = True) -> list[Row]:
    """With the drive's cache on, at any depth; `write_segments` is fitted to it in most profiles."""
    return [
        _figure(
            f"random writes, cache on{', depth 32' if depth > 1 else ''}",
            f"write random depth={depth} count=6000 warm=3000",
            "per s",
            value,
            source,
            10,
            fitted=fitted,
        )
        for depth in (1, 32)
    ]


NO_15K_WRITES = "fio-plot, perfscripts and xbitlabs have no drive of 15000 rpm"
NO_SMALL_DRIVE_WRITES = (
    "fio-plot's only one of 2.5 inch, HTS72101, behaves as with its cache off: 44 per s at any depth"
)
HALF_TB_WRITES = f"{FIO_PLOT}, a drive of 500 GB, 7200 rpm: 122 to 125"
F1_WRITES = f"{FIO_PLOT}, Samsung F1 1 TB, 7200 rpm: 148 to 152"
EXOS_WRITES = "Seagate Exos X20's data sheet, 4 KiB at depth 16, not looked up again"


def _big_cache_writes(depth: int = 16) -> Row:
    return _figure(
        f"random writes, cache on, depth {depth}",
        f"write random depth={depth} count=20000 warm=70000",
        "per s",
        550,
        EXOS_WRITES,
        10,
        PUBLISHED,
        fitted=True,
    )


def _seagate_small() -> list[Row]:
    """xbitlabs names the size from which 100 MB/s are reached: at half of it, it is less."""
    rows = []
    for size, below, above in ((16, 40, 0), (32, 0, 45)):
        words = f"read size={size}K depth=4 count=5000"
        row = _figure(f"read {size} KiB, depth 4", words, "MB/s", 100, SEAGATE_SMALL)
        row.below, row.above, row.fitted = below, above, True
        rows.append(row)
    return rows


def _queue(gain: float, source: str, alone: float) -> Row:
    return _figure(
        "random reads, depth 32",
        "read random depth=32 count=4000 warm=200",
        "per s",
        gain * alone,
        source,
        13,
        fitted=True,
    )


P300_AT = "at=74.5% span=5G"
P300_SIZES = {
    4: 306.12,
    8: 304.50,
    16: 298.73,
    32: 283.89,
    64: 262.22,
    128: 227.41,
    256: 178.81,
    512: 127.02,
    1024: 70.98,
    2048: 43.94,
    4096: 26.08,
    8192: 14.18,
    16384: 7.39,
}


def _p300_mixed() -> list[Row]:
    """A random reader, a reader and a writer of 10 requests each; the latter two with a limit, or none."""

    def words(rate: str) -> str:
        return (
            f"read random size=4K depth=10 {P300_AT} + read size=1M depth=10 at=74.8% span=32G {rate} + "
            f"write size=1M depth=10 at=76% span=32G {rate} count=3000 warm=300"
        )

    known = "each program has as many requests there, and here"
    return [
        _figure(name, words(rate), unit, value, f"{PERFSCRIPTS}; three files", 15, known=known)
        for name, rate, unit, value, known in (
            ("random reads beside 10 MB/s each way", "rate=10M", "part 0 per s", 208.4, ""),
            ("random reads beside 20 MB/s each way", "rate=20M", "part 0 per s", 138.98, ""),
            ("a reader beside a writer and random reads", "", "part 1 MB/s", 43.96, ""),
            ("a writer beside a reader and random reads", "", "part 2 MB/s", 39.0, ""),
            ("random reads beside a reader and a writer", "", "part 0 per s", 33.43, known),
        )
    ]


def _p300() -> list[Row]:
    """The file lay where the media give the sequential rate: that is fitted, and so are 4 KiB and 1 MiB."""
    rows = [
        _figure(
            f"{op} 1 MiB in a row, depth 10",
            f"{op} size=1M depth=10 {P300_AT} count=3000 warm={100 if op == 'read' else 0}",
            "MB/s",
            rate,
            PERFSCRIPTS,
            3,
            fitted=op == "read",
        )
        for op, rate in (("read", 132.83), ("write", 132.59))
    ]
    rows += [
        _figure(
            f"read {size} KiB, depth 10",
            f"read random size={size}K align=4K depth=10 {P300_AT} "
            f"count={max(100, min(3000, (1 << 21) // size))}",
            "per s",
            rate,
            PERFSCRIPTS,
            15,
            fitted=size in (4, 1024),
        )
        for size, rate in P300_SIZES.items()
    ]
    rows += _p300_mixed() + _random_writes(150, F1_WRITES)
    return [*rows, _no_small_reads("perfscripts has 1 MiB in a row only")]


SKYLIGHT = "Skylight (FAST 2015), from memory"


def _shingled() -> list[Row]:
    """A drive that manages shingles: what goes to its bands, to its media cache, and waits for cleaning."""
    return [
        _figure(
            "written in order",
            "write size=1M depth=4 count=20000 warm=1000",
            "MB/s",
            190,
            "a test of an external drive of that kind",
            fitted=True,
        ),
        _figure(
            "random writes, cache off",
            "write random cache=off pace=1ms count=500",
            "us",
            25000,
            SKYLIGHT,
            25,
        ),
        _no_figure(
            "random writes, media cache free", "write random count=20000 warm=2000", "per s", SKYLIGHT
        ),
        _no_figure(
            "random writes, media cache full", "write random count=400 warm=260000", "per s", SKYLIGHT
        ),
    ]


FIGURES: dict[str, list[Row]] = {
    "seagate-st8000as0002": _shingled(),
    "hitachi-hds721010kla330": [
        _figure("random reads", "read random cache=off count=8000", "per s", 78.66, T3, 2, fitted=True),
        _figure(
            "random writes", "write random cache=off count=8000", "per s", 71.88, T3, 2, fitted=True
        ),
        _figure("sequential reads", "read cache=off count=3000", "per s", 118.65, T3, 2),
        _figure("sequential writes", "write cache=off count=3000", "per s", 118.71, T3, 2),
        _figure("read 128 KiB, depth 4", "read size=128K depth=4 count=3000", "MB/s", 80, XBITLABS, 12),
        _figure(
            "read 4 KiB, depth 4",
            "read size=4K depth=4 count=20000 warm=2000",
            "MB/s",
            80,
            XBITLABS,
            10,
            fitted=True,
        ),
        *_random_writes(150, F1_WRITES),
        _queue(1.82, f"{FIO_PLOT}, Samsung F1 1 TB: 72 at depth 1, 131 at depth 32", 78.8),
    ],
    "hitachi-hds728080pla380": [
        *_random_writes(124, HALF_TB_WRITES),
        _figure("read 4 KiB, depth 4", "read depth=4 count=20000 warm=2000", "MB/s", 58, T7K250, 10),
        _figure(
            "random reads of a sector",
            "read random size=512 count=4096",
            "per s",
            4096 / 55.9,
            DS_7K80,
            3,
            PUBLISHED,
            fitted=True,
        ),
        _figure(
            "read 128 KiB in zone 0",
            "read size=128K count=128",
            "MB/s",
            16.777 / (0.30 - 55.9 / 4096),
            DS_7K80,
            4,
            PUBLISHED,
            fitted=True,
        ),
        _figure(
            "read 128 KiB in zone 29",
            "read size=128K at=inner span=1G count=128",
            "MB/s",
            16.777 / (0.61 - 55.9 / 4096),
            DS_7K80,
            4,
            PUBLISHED,
            fitted=True,
        ),
    ],
    "hitachi-deskstar-7k500": [
        _figure(
            "random reads of a sector",
            "read random size=512 count=4096",
            "per s",
            4096 / (55.5 / 1.05),
            DS_7K500,
            3,
            PUBLISHED,
            fitted=True,
        ),
        _figure(
            "read 128 KiB in zone 0",
            "read size=128K count=128",
            "MB/s",
            64.8,
            DS_7K500,
            3,
            PUBLISHED,
            fitted=True,
        ),
        _figure(
            "read 128 KiB in zone 29",
            "read size=128K at=inner span=1G count=128",
            "MB/s",
            31.0,
            DS_7K500,
            3,
            PUBLISHED,
            fitted=True,
        ),
        *_random_writes(124, HALF_TB_WRITES),
        _figure("read 4 KiB, depth 4", "read depth=4 count=20000 warm=2000", "MB/s", 64.8, T7K250, 10),
        _queue(1.63, f"{FIO_PLOT}, a drive of 500 GB: 70 at depth 1, 114 at depth 32", 78),
    ],
    "hitachi-travelstar-5k320": [
        *_sheet_seek(12, 13, 60 / 5.4, "Hitachi, 5K320 specification, table 5"),
        _queue(1.40, f"{FIO_PLOT}, HGST HTS72101 of 2.5 inch: 59 at depth 1, 82 at depth 32", 57),
        *_no_random_writes(NO_SMALL_DRIVE_WRITES),
        _no_small_reads(),
    ],
    "hitachi-ultrastar-15k450": [
        *_sheet_seek(3.3, 3.8, 4, "Hitachi, 15K450 specification, table 7"),
        *_no_random_writes(NO_15K_WRITES),
        _no_small_reads(),
    ],
    "hgst-ultrastar-c15k600": [
        *_sheet_seek(2.9, 3.1, 4, "HGST, C15K600 specification, table 6"),
        *_no_random_writes(NO_15K_WRITES),
        _no_small_reads(),
    ],
    "ibm-ultrastar-146z10": [
        *_sheet_seek(4.7, 5.9, 6, "IBM, 146Z10 specification, figure 7"),
        *_random_writes(172, f"{FIO_PLOT}, WD740GD, 10000 rpm"),
        _no_small_reads(),
    ],
    "seagate-constellation-es-1tb": [
        _figure(
            "read 1 MiB, outermost",
            "read size=1M count=300",
            "MB/s",
            140,
            "Seagate, Constellation ES manual, 3.4",
            3,
            PUBLISHED,
            fitted=True,
        ),
        *_random_writes(150, F1_WRITES),
        *_seagate_small(),
        _no_small_reads("xbitlabs tells from which size Seagate's reach 100 MB/s: see 16, 32 KiB"),
        _queue(1.82, f"{FIO_PLOT}, Samsung F1 1 TB: 72 at depth 1, 131 at depth 32", 76),
    ],
    "wd-ultrastar-dc-hc310-6tb": [
        *_sheet_seek(7.4, 8.2, 60 / 7.2, "Western Digital, HC310 specification, table 5"),
        _big_cache_writes(),
        _no_small_reads(),
    ],
    "toshiba-mg08-16tb": [_big_cache_writes(), _no_small_reads()],
    "seagate-exos-x20-20tb": [
        _figure(
            "read 1 MiB, outermost",
            "read size=1M count=300",
            "MB/s",
            285,
            "blocksandfiles.com, 2023-10-18",
            3,
            PUBLISHED,
            fitted=True,
        ),
        _big_cache_writes(),
        _no_small_reads(),
        _figure(
            "random reads, depth 16",
            "read random depth=16 count=4000",
            "per s",
            168,
            "data sheet, 4 KiB at depth 16, not looked up again",
            10,
            PUBLISHED,
        ),
    ],
    "toshiba-p300-3tb": _p300(),
}
