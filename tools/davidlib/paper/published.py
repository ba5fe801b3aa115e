# SPDX-License-Identifier: GPL-2.0
"""What the paper printed: Agrawal, Arulraj, Arpaci-Dusseau, Arpaci-Dusseau, FAST 2011.

Figures without numbers in them (1, 7, 8, the curves of 4, 6 and 9) are there by what its text says of them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A row of table 2, on ext3: KB without David and with it, savings in percent as printed, seconds on the
    drive and with David."""

    original: int | None
    stored: int | None
    savings: float | None
    measured: float
    modelled: float


TABLE_2 = {
    "mkfs": Row(976762584, 7900712, 99.19, 278.66, 281.81),
    "imp": Row(11224140, 18368, 99.84, 344.18, 339.42),
    "tar": Row(21144, 628, 97.03, 257.66, 255.33),
    "grep": Row(None, None, None, 250.52, 254.40),
    "find": Row(None, None, None, 26.21, 26.60),
    "du": Row(None, None, None, 102.69, 101.36),
    "postmark": Row(204572, 404, 99.80, 33.23, 29.34),
    "webserver": Row(3854828, 3920, 99.89, 127.04, 126.94),
    "varmail": Row(7852, 3920, 50.07, 126.66, 126.27),
}
VIRUS_SCAN = Row(None, None, None, 55.60, 47.95)
# Requests on the raw disk: seconds measured and modelled; the demerit of figure 6.
MICRO = {
    "sequential reads": (40.32, 44.90, 24.39),
    "random reads": (913.10, 935.46, 5.51),
    "sequential writes": (57.28, 58.96, 0.08),
    "random writes": (308.74, 291.40, 0.02),
}
# Requests a second of one, two and three disks: measured, modelled.
TABLE_3 = {
    "random read": ((78.66, 156.76, 232.77), (79.56, 159.36, 238.79)),
    "random write": ((71.88, 72.02, 72.37), (72.15, 72.21, 73.77)),
    "sequential read": ((118.65, 119.11, 119.29), (118.95, 119.16, 119.44)),
    "sequential write": ((118.71, 119.33, 119.98), (118.83, 119.21, 119.40)),
}
FIGURE_1_PERCENT = (1, 10)
FIGURE_4_MB = 240
FIGURE_8_GB, FIGURE_8_BACKING_GB = 800, 10
FIGURE_9_MB, FIGURE_9_MODEL_MB, FIGURE_9_CPU = 90, 1, 10
