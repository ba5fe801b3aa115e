# SPDX-License-Identifier: GPL-2.0
"""What commands say of a disk's run: whether its times are to be believed, what was counted since when. And
what they say of a large disk's blocks."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cases import case
from davidlib.disk import baseline, check, dm
from helpers import raw
from helpers.guest import SCRATCH, Failed, david, device_stats, fake_disk, mapped, ram_disk, run
from helpers.timed import profile, timed_disk
from helpers.units import GIB, MIB

QUICK, FLASH = profile("quick"), profile("flash")
SLOW_MS = 100
CLASSIFY = Path(__file__).resolve().parents[3] / "build/david-classify"


@contextmanager
def slow_disk() -> Iterator[str]:
    """A disk whose store answers far later than the modelled drive."""
    with ram_disk(64 * MIB) as ram:
        table = f"0 {64 * MIB >> 9} delay {ram} 0 {SLOW_MS} {ram} 0 0"
        with mapped("slow", table) as backing:
            with timed_disk("cmd", GIB, backing, QUICK, "--classify", "keep") as disk:
                yield disk


def write_and_read(disk: str, count: int) -> None:
    with raw.opened(disk) as fd:
        for number in range(count):
            raw.write(fd, raw.patterned(number, 4096), number * MIB)
        for number in range(count):
            raw.read(fd, 4096, number * MIB)


def status(*args: str) -> int:
    """Exit status 0 or 2 of a command that may say that something is wrong."""
    try:
        david(*args)
    except Failed as error:
        if "exit status 2" not in str(error):
            raise
        return 2
    return 0


@case
def requests_that_come_late_make_the_times_unbelievable() -> None:
    with slow_disk() as disk:
        write_and_read(disk, 8)
        figures = device_stats("cmd")
        assert figures["delivered"]["read"] >= 8 and figures["delivered_over"]["read"] >= 8, figures
        assert figures["delivered_late_ns"]["read"] >= 8 * (SLOW_MS - 50) * 10**6, figures
        assert sum(figures["delivered"].values()) == sum(figures["late"]), figures
        assert sum(figures["delivered_late_ns"].values()) == figures["late_ns"], figures
        assert "not to be believed" in david("stats", "cmd") and "--virtual-time" in david("stats", "cmd")
        assert status("check", "cmd") == 2
        lines = david("top", "cmd", "--json", "--interval", "0.1", "--count", "2").splitlines()
        said = [json.loads(line) for line in lines]
        assert [row["name"] for row in said] == ["cmd", "cmd"] and said[0]["store_bytes"] > 0, said
        # Of what is counted from now on nothing came late, as there is nothing; which is no valid run.
        david("stats", "cmd", "--reset")
        assert status("check", "cmd") == 2 and status("check", "cmd", "--all") == 2
        since = baseline.difference(device_stats("cmd"), baseline.mark("cmd", device_stats("cmd"))[1])
        wrong = [one.what for one in (check.asked(since), *check.findings(since)) if not one.good]
        assert wrong == ["requests"], wrong
        assert "not to be believed" in david("remove", "cmd")


@case
def a_run_that_read_what_was_never_written_is_not_valid() -> None:
    with ram_disk(64 * MIB) as ram, timed_disk(
            "cmd", GIB, ram, FLASH, "--classify", "data", "--profile-option", "precondition=fresh") as disk:
        with raw.opened(disk) as fd:
            for number in range(8):
                raw.read(fd, 4096, number * MIB)
        assert status("check", "cmd") == 2
        assert not check.empty(device_stats("cmd")).good
        write_and_read(disk, 8)
        david("stats", "cmd", "--reset")
        write_and_read(disk, 8)
        since = baseline.difference(device_stats("cmd"), baseline.mark("cmd", device_stats("cmd"))[1])
        assert since["read_pages"] == 8, since
        assert check.empty(since) == check.Finding("empty reads", True, "0")


@case
def figures_since_a_reset_or_a_file_are_those_of_the_requests_since() -> None:
    with ram_disk(64 * MIB) as ram:
        for life in range(2):
            with fake_disk("cmd", GIB, ram, "--classify", "data", "--profile", QUICK) as disk:
                assert "since the reset" not in david("stats", "cmd"), f"life {life} has another disk's mark"
                write_and_read(disk, 5)
                earlier = SCRATCH / "earlier.json"
                earlier.parent.mkdir(parents=True, exist_ok=True)
                earlier.write_text(david("stats", "cmd", "--json"))
                if life == 0:
                    os.sync()
                    david("stats", "cmd", "--reset")
                write_and_read(disk, 7)
                since = json.loads(david("stats", "cmd", "--since", str(earlier), "--json"))
                assert since["requests"]["read"] == since["requests"]["write"] == 7, since["requests"]
                # Places are of the requests since the reset, or of all: 7 pages, or 12.
                assert since["reach"]["pages"] == (7 if life == 0 else 0), since["reach"]
                marked = json.loads(david("stats", "cmd", "--json"))
                assert marked["reach"]["pages"] == 7, marked["reach"]
                whole = json.loads(david("stats", "cmd", "--json", "--all"))
                assert whole["reach"]["pages"] == (0 if life == 0 else 7), whole["reach"]
                assert marked["requests"]["write"] == (7 if life == 0 else 12), marked["requests"]
                assert json.loads(david("stats", "cmd", "--json", "--all"))["requests"]["write"] == 12
                lines = david("stats", "cmd", "--json", "--watch", "0.01", "--count", "3").splitlines()
                assert len(lines) == 3 and len({json.loads(line)["name"] for line in lines}) == 1
            # Removed by dmsetup, the mark stays; the next disk of that name is another one.
        with fake_disk("cmd", GIB, ram, "--classify", "data") as disk:
            # More of everything than the earlier one had, so no counter tells.
            write_and_read(disk, 40)
            try:
                david("stats", "cmd", "--since", str(earlier))
            except Failed as error:
                assert "made again meanwhile" in str(error), error
            else:
                raise Failed("figures of a disk that is gone were taken off")
            made = device_stats("cmd")["created"]
            david("resize", "cmd", "2G")
            assert device_stats("cmd")["created"] == made, "a reload of the table is no other disk"
            david("stats", "cmd", "--reset")
            # Without a table it is nothing; then it begins at 0, though device-mapper's disk is the same.
            table = dm.dmsetup("table", "cmd").strip()
            for line in ("0 4194304 error", table):
                dm.dmsetup("load", "cmd", "--table", line)
                dm.dmsetup("resume", "cmd")
            assert device_stats("cmd")["created"] > made and "since the reset" not in david("stats", "cmd")


@case
def what_is_set_holds_at_once_and_of_several_all_or_none() -> None:
    with ram_disk(64 * MIB) as ram, timed_disk("cmd", GIB, ram, QUICK):
        assert "mode=speedup content=zeros" in david("set", "cmd", "mode=speedup", "content=zeros")
        assert device_stats("cmd")["mode"] == "speedup"
        try:
            david("set", "cmd", "mode=timing-accurate", "content=nonsense")
        except Failed as error:
            assert "content=nonsense" in str(error), error
        else:
            raise Failed("nonsense was taken")
        assert device_stats("cmd")["mode"] == "speedup"
        assert "content=zeros" in david("set", "cmd", "files=off")
        said = json.loads(david("info", "cmd", "--json"))
        assert (said["drive"], said["options"]["content"]) == ("quick", "zeros") and said["scaled"], said


@case
def a_disk_larger_than_the_address_space_is_classified() -> None:
    """A process in User Mode Linux has 512 GB of it, and may have 65,530 pages that do not lie in a row."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    image = SCRATCH / "large"
    with image.open("wb") as file:
        file.truncate(600 * GIB)
    try:
        options = ("-E", "lazy_itable_init=1,nodiscard", "-O", "^has_journal,^resize_inode", "-N", "76800")
        run("mkfs.ext4", "-q", "-F", *options, str(image))
        said = json.loads(run(str(CLASSIFY), "image", "--json", "--summary", str(image)))["volumes"]
        assert [(volume["blocks"], volume["errors"]) for volume in said] == [(600 * GIB // 4096, 0)], said
        count = said[0]["count"]
        assert count["block-bitmap"] == count["inode-bitmap"] == count["inode-table"] == 4800, count
    finally:
        image.unlink()
