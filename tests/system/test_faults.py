# SPDX-License-Identifier: GPL-2.0
"""Presets of faults: each does on the simulated drive what it says. No lab."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from davidlib import build
from davidlib.drive import presets
from davidlib.util import TREE

HDD, NEW_HDD, SSD = "hitachi-hds721010kla330", "seagate-exos-x20-20tb", "micron-7300-pro"
SECTORS = {HDD: 1953525168, NEW_HDD: 39063650304}


def bench(drive: str, job: str, faults: str = "none") -> dict[str, Any]:
    done = subprocess.run(
        [build.ensure("david-sim"), "bench", "--no-doubts", "--json", "--profile", drive, "--faults", faults,
         "--job", f"{job} warm=0"], stdout=subprocess.PIPE, check=True)
    [result] = json.loads(done.stdout)["jobs"]
    return dict(result)


@pytest.mark.parametrize(("drive", "size", "mean"), [(HDD, 512, 40), (NEW_HDD, 4096, 5)])
def test_latent_errors_are_a_few_blocks_within_10_mib(drive: str, size: int, mean: int) -> None:
    """Each block of the cluster is read by itself: so many fail as the preset says, and none beside it."""
    failed = []
    for seed in range(3):
        text = presets.text_of("latent-errors", SECTORS[drive], seed)
        first, last = map(int, text.split("sectors=")[1].split(":")[0].split("-"))
        assert last - first + 1 == 20480 and first % 8 == 0
        job = f"read size={size} at={first * 512} span=10M count={20480 * 512 // size}"
        failed.append(bench(drive, job, text)["failed"])
        for at in (first * 512 - (1 << 20), (last + 1) * 512):
            assert not bench(drive, f"read size=64K at={at} span=1M count=16", text)["failed"]
    # Binomial: the sum of three has a standard error of sqrt(3 mean).
    assert abs(sum(failed) - 3 * mean) < 4 * (3 * mean) ** 0.5 and max(failed) < 80, failed
    assert len(set(failed)) > 1, failed


def test_a_cluster_lies_on_the_disk_and_the_seed_says_where() -> None:
    for sectors in (1, 8, 20480, 20481, 20488, 1 << 20, 1 << 36):
        found = {presets.text_of("latent-errors", sectors, seed) for seed in range(50)}
        for text in found:
            first, last = map(int, text.split("sectors=")[1].split(":")[0].split("-"))
            assert 0 <= first <= last < sectors and last - first < 20480, (sectors, text)
    texts = [presets.text_of("latent-errors", 1 << 36, seed) for seed in range(50)]
    firsts = [int(text.split("=")[1].split("-")[0]) for text in texts]
    tenths = {first * 10 >> 36 for first in firsts}
    assert len(tenths) == 10, sorted(firsts)


@pytest.mark.parametrize(("name", "drive", "factor"),
                         [("slow-hour-disk", HDD, 2), ("slow-hour-ssd", SSD, 2), ("vibration", HDD, 1000)])
def test_slow_presets_take_so_many_times_the_time(name: str, drive: str, factor: int) -> None:
    slow = bench(drive, "read random count=40", presets.text_of(name, 1 << 30))
    parts = slow["drive_ns"]
    usual = sum(parts.values()) - parts["fault"]
    assert sum(parts.values()) / usual == pytest.approx(factor, rel=1e-6), parts


def test_an_hour_in_so_many_is_the_share_that_was_published() -> None:
    for name, share in (("slow-hour-disk", 0.002), ("slow-hour-ssd", 0.006)):
        words = dict(word.split("=") for word in presets.text_of(name, 1 << 30).split(":")[1:])
        hours = {key: int(value.removesuffix("h")) for key, value in words.items() if value.endswith("h")}
        assert hours["for"] / hours["every"] == pytest.approx(share, rel=0.01)


def test_firmware_that_stalls_stops_for_two_seconds() -> None:
    found = bench(HDD, "read random count=1000 pace=80ms", presets.text_of("stalling-firmware", 1 << 30))
    # 1000 reads, 80 ms and their time apart, take a minute and a half: stalls at 0 and at 60 s. No read lasts
    # over the end of the first, and at most one begins 80 ms late in the second.
    stalled = found["drive_ns"]["fault"] / 1e9
    assert 3.8 < stalled <= 4.0, found["drive_ns"]


def test_presets_are_told_with_their_sources() -> None:
    david = [sys.executable, str(TREE / "tools/david"), "fault", "presets"]
    text = subprocess.run(david, capture_output=True, text=True, check=True).stdout
    found = json.loads(subprocess.run([*david, "--json"], capture_output=True, check=True).stdout)
    model = (TREE / "docs/MODEL.md").read_text()
    assert found.keys() == presets.PRESETS.keys()
    for name, one in found.items():
        assert all(one[key] for key in ("says", "faults", "source", "common", "assumed")), one
        assert f"{name}: {one['says']}" in text and one["faults"] in text
        assert f"| `{name}` |" in model, name
    words = [*david, "latent-errors", "--size", "20T", "--seed", "3"]
    one = subprocess.run(words, capture_output=True, text=True)
    assert one.stdout == presets.text_of("latent-errors", (20 << 40) // 512, 3) + "\n"
    alone = json.loads(subprocess.run([*words, "--json"], capture_output=True, check=True).stdout)
    assert alone == {"latent-errors": found["latent-errors"] | {"faults": one.stdout.strip()}}


@pytest.mark.parametrize("seed", ["-1", "1.5", "", str(1 << 64)])
def test_a_seed_that_no_fault_may_have_is_refused(seed: str) -> None:
    """`presets` printed a fault that nobody takes."""
    done = subprocess.run([sys.executable, str(TREE / "tools/david"), "fault", "presets", f"--seed={seed}"],
                          capture_output=True, text=True)
    assert done.returncode == 1 and not done.stdout and "argument --seed: " in done.stderr, done
    most = presets.text_of("latent-errors", 1 << 30, (1 << 64) - 1)
    assert bench(SSD, "read random count=10", most)["all"]["requests"] == 10
