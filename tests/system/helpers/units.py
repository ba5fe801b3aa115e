# SPDX-License-Identifier: GPL-2.0
"""Sizes in bytes, and which of the tests are asked for."""

import os

KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40
FULL = os.environ.get("DAVID_SCALE") == "full"
DEBUG_KERNEL = os.environ.get("DAVID_LAB_DEBUG") == "1"  # in a lab: is it the one with KASAN and lockdep?
DAILY = os.environ.get("DAVID_DAILY") == "1" and not FULL  # `make check`: without what is marked as seldom
