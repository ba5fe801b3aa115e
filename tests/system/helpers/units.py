# SPDX-License-Identifier: GPL-2.0
"""Sizes in bytes, and whether the full ones are asked for."""

import os

KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40
FULL = os.environ.get("DAVID_SCALE") == "full"
