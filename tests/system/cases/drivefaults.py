# SPDX-License-Identifier: GPL-2.0
"""Drives that fail: what fails and what a write mends, beside dm-dust; what the disk keeps; what md and btrfs
make of it. Times are in vtime.
"""

from __future__ import annotations

import errno
import json
import os
import random
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from cases import case
from davidlib.drive import presets
from helpers import raw
from helpers.guest import Failed, david, device_stats, dm, fake_disk, loop_disk, mapped, mounted
from helpers.guest import TREE, ram_disk, run, say
from helpers.raw import BLOCK
from helpers.stores import table_of
from helpers.timed import profile
from helpers.units import GIB, MIB, TIB

QUICK = profile("quick")
# No waiting: what fails is the same in both modes.
KEEP = ("--profile", QUICK, "--profile-option", "physical_block=4096", "--mode", "speedup",
        "--classify", "keep")


def outcome(fd: int, op: str, block: int, nr: int, seed: int = 0) -> object:
    """What is read, or None of a write; an error's number if it fails."""
    try:
        if op == "read":
            return raw.read(fd, nr * BLOCK, block * BLOCK)
        raw.write(fd, raw.patterned(seed, nr * BLOCK), block * BLOCK)
        return None
    except OSError as error:
        return "fails" if error.errno in (errno.EIO, errno.ENODATA) else error


def add(name: str, *options: str) -> None:
    david("fault", "add", name, *options)


def listed(name: str) -> dict:
    return json.loads(david("fault", "list", name, "--json"))


@case
def sectors_fail_and_writes_mend_as_dm_dust_has_it() -> None:
    rng = random.Random(11)
    blocks = 256
    with ExitStack() as stack:
        backing = stack.enter_context(ram_disk(32 * MIB))
        other = stack.enter_context(loop_disk(blocks * BLOCK))
        disk = stack.enter_context(fake_disk("fd", blocks * BLOCK, backing, *KEEP))
        dust = stack.enter_context(mapped("dust", f"0 {blocks * 8} dust {other} 0 4096"))
        dm.dmsetup("message", "dust", "0", "enable")
        dm.dmsetup("message", "dust", "0", "quiet")
        fd, reference = (stack.enter_context(raw.opened(path)) for path in (disk, dust))
        failed = 0
        for step in range(300):
            block, nr = rng.randrange(blocks - 8), rng.choice((1, 1, 2, 8))
            if step % 20 == 0:
                bad = sorted({rng.randrange(blocks) for _ in range(5)})
                for at in bad:
                    dm.run("dmsetup", "message", "dust", "0", "addbadblock", str(at))  # it may be there
                text = ",".join(f"media-error:sectors={at * 8}-{at * 8 + 7}" for at in bad)
                dm.dmsetup("message", "fd", "0", "fault", "add", text)
            if step % 100 == 99:
                # Those that are mended need not be in the list any more: it has room for 64.
                david("fault", "remove", "fd", "all")
                dm.dmsetup("message", "dust", "0", "clearbadblocks")
            op = rng.choice(("read", "read", "write"))
            mine, theirs = (outcome(one, op, block, nr, step) for one in (fd, reference))
            assert mine == theirs, (step, op, block, nr, type(mine), type(theirs))
            failed += mine == "fails"
        figures = device_stats("fd")
    say(f"{failed} of 300 requests failed, {figures['faults']}")
    assert failed > 15 and figures["faults"]["media_read"] == failed, (failed, figures["faults"])
    assert figures["faults"]["moved"] > 10 and not figures["errors"], figures


@case
def a_table_line_keeps_faults_and_what_was_moved() -> None:
    with ram_disk(32 * MIB) as backing, fake_disk("fd", GIB, backing, *KEEP, "-o", "age=3h") as disk:
        add("fd", "--kind", "media-error", "--sectors", "800-999")
        add("fd", "--kind", "slow", "--factor", "2.5", "--from", "1d")
        with raw.opened(disk) as fd:
            assert outcome(fd, "write", 101, 2) is None
            assert outcome(fd, "read", 100, 1) == "fails"
        before = listed("fd")
        assert before["moved"] == ["808-823"] and before["age_ns"] >= 3 * 3600 * 10**9, before
        dm.dmsetup("suspend", "fd")
        dm.dmsetup("load", "fd", "--table", table_of("fd"))
        dm.dmsetup("resume", "fd")
        after = listed("fd")
        assert after["faults"] == before["faults"] and after["moved"] == before["moved"], (before, after)
        assert before["age_ns"] <= after["age_ns"] <= before["age_ns"] + 600 * 10**9, (before, after)
        with raw.opened(disk) as fd:
            assert outcome(fd, "read", 100, 1) == "fails"
            raw.must_read(fd, raw.patterned(0, 2 * BLOCK), 101 * BLOCK)
        assert json.loads(david("info", "fd", "--json"))["faults"][0] == "media-error:sectors=800-999"
        assert "media read" in david("stats", "fd")
        david("fault", "remove", "fd", "all")
        with raw.opened(disk) as fd:
            assert outcome(fd, "read", 100, 1) == bytes(BLOCK)
        assert listed("fd")["moved"] == ["808-823"]


@case
def what_fails_has_written_nothing_and_what_is_kept_stays() -> None:
    old, new = raw.patterned(1, 4 * BLOCK), raw.patterned(2, 4 * BLOCK)
    with ram_disk(32 * MIB) as backing, fake_disk("fd", GIB, backing, *KEEP) as disk, raw.opened(disk) as fd:
        raw.write(fd, old, 0)
        stored = device_stats("fd")["store_used"]
        for kind, number in (("gone", errno.ENODEV), ("timeout", errno.ETIMEDOUT)):
            add("fd", "--kind", kind)
            for job in (lambda: raw.write(fd, new, 0), lambda: raw.write(fd, new, MIB),
                        lambda: raw.read(fd, BLOCK, 0), lambda: os.fsync(fd)):
                try:
                    job()
                except OSError as error:
                    assert error.errno in (number, errno.EIO), (kind, error)
                else:
                    raise Failed(f"{kind}: a request did not fail")
            david("fault", "remove", "fd", "all")
            raw.must_read(fd, old, 0)
            raw.must_read(fd, bytes(BLOCK), MIB)
        # A part of a bad block cannot be written. The block's content is there when the fault is over.
        add("fd", "--kind", "media-error", "--sectors", "8-15")
        try:
            raw.write(fd, new[:512], BLOCK + 512)
            raise Failed("a part of a bad block was written")
        except OSError:
            pass
        assert outcome(fd, "read", 1, 1) == "fails"
        david("fault", "remove", "fd", "all")
        raw.must_read(fd, old, 0)
        figures = device_stats("fd")
        assert figures["store_used"] == stored and not figures["errors"], figures
        assert figures["faults"]["media_write"] == 1 and figures["faults"]["gone"] >= 4, figures["faults"]


@case
def wrong_faults_are_refused_and_change_nothing() -> None:
    with ram_disk(32 * MIB) as backing, fake_disk("fd", GIB, backing, *KEEP) as disk:
        for words in (("slow",), ("media-error:sectors=9-8",), ("slow:factor=2:sectors=99999999-",), ("x",)):
            assert dm.run("dmsetup", "message", "fd", "0", "fault", "add", *words).returncode, words
        for number in ("0", "7", "x"):
            assert dm.run("dmsetup", "message", "fd", "0", "fault", "remove", number).returncode, number
        assert listed("fd")["faults"] == [] and "faults=" not in table_of("fd")
        with raw.opened(disk) as fd:
            assert outcome(fd, "read", 0, 1) == bytes(BLOCK)
    with ram_disk(32 * MIB) as backing, fake_disk("fd", GIB, backing):
        assert dm.run("dmsetup", "message", "fd", "0", "fault", "add", "gone").returncode


@case
def the_guides_commands_do_what_it_says() -> None:
    guide = (TREE / "docs/GUIDE.md").read_text()
    commands = re.findall(r"^    david (fault .*)$", guide, re.M)
    assert len(commands) == 4, commands
    with ram_disk(32 * MIB) as backing, fake_disk("big", TIB, backing, *KEEP) as disk, raw.opened(disk) as fd:
        for command in commands[:3]:
            said = david(*command.split())
        assert "media-error     sectors=1000000-1000007" in said, said
        assert "slow            factor=8.000 from=1h for=10m every=1d" in said, said
        assert outcome(fd, "read", 125000, 1) == "fails"
        assert outcome(fd, "write", 125000, 1, 3) is None
        raw.must_read(fd, raw.patterned(3, BLOCK), 125000 * BLOCK)
        david(*commands[3].split())
        assert "no faults" in david("fault", "list", "big")


@case
def a_preset_is_added_for_the_disks_size_and_takes_no_other_words() -> None:
    with ram_disk(32 * MIB) as backing, fake_disk("fd", TIB, backing, *KEEP) as disk, raw.opened(disk) as fd:
        said = david("fault", "add", "fd", "--preset", "latent-errors", "--seed", "3").strip()
        assert said == presets.text_of("latent-errors", TIB // 512, 3), said
        [found] = listed("fd")["faults"]
        assert f"media-error:sectors={found['sectors']}:one_in=512:seed=3" == said, (found, said)
        begin = int(found["sectors"].partition("-")[0]) // 8
        bad = sum(outcome(fd, "read", begin + block, 32) == "fails" for block in range(0, 2560, 32))
        assert 1 <= bad <= 20, bad
        command = [str(TREE / "tools/david"), "fault", "add", "fd", "--preset", "vibration", "--factor", "2"]
        refused = subprocess.run(command, capture_output=True, text=True)
        assert refused.returncode == 1 and "takes only --seed" in refused.stderr, refused
        assert len(listed("fd")["faults"]) == 1


@contextmanager
def members(level: str, nr: int, size: int = 64 * MIB) -> Iterator[str]:
    """An array of md over fake disks fd0, fd1, … Squashed nothing: what is lost shows."""
    with ExitStack() as stack:
        disks = [
            stack.enter_context(
                fake_disk(f"fd{i}", size, stack.enter_context(loop_disk(size + 32 * MIB)), *KEEP))
            for i in range(nr)
        ]
        run("mdadm", "--create", "/dev/md7", f"--level={level}", f"--raid-devices={nr}", "--assume-clean",
            "--run", "--metadata=1.2", "--bitmap=none", *disks)
        try:
            yield "/dev/md7"
        finally:
            run("mdadm", "--stop", "/dev/md7")


def array(what: str) -> str:
    return Path(f"/sys/block/md7/md/{what}").read_text().strip()


def act(action: str) -> None:
    Path("/sys/block/md7/md/sync_action").write_text(action)
    run("mdadm", "--wait", "/dev/md7", ok=(0, 1))
    assert array("sync_action") == "idle", array("sync_action")


MD_SAYS = r"md/raid.*|md: .*|I/O error"


@case(complaints=MD_SAYS)
def md_mends_a_latent_error_from_the_other_leg_and_by_parity() -> None:
    content = raw.patterned(5, MIB)
    for level, nr in (("1", 2), ("6", 4)):
        with members(level, nr) as path:
            with raw.opened(path) as fd:
                for at in range(0, 16 * MIB, MIB):
                    raw.write(fd, content, at)
                for member in range(min(nr, 2)):
                    add(f"fd{member}", "--kind", "media-error", "--sectors",
                        f"{10240 + 4096 * member}-{10247 + 4096 * member}")
                # Two latent errors, on two members, in different stripes: md computes both, and writes them.
                for at in range(0, 16 * MIB, MIB):
                    raw.must_read(fd, content, at, f"raid{level}")
            # A check of RAID-1 counts a leg that cannot be read as one that differs, and mends it.
            act("check")
            act("check")
            assert array("mismatch_cnt") == "0", (level, array("mismatch_cnt"))
            assert array("degraded") == "0", level
            figures = [device_stats(f"fd{member}")["faults"] for member in range(nr)]
            say(f"raid{level}: {figures}")
            for member in range(2):
                assert figures[member]["media_read"] >= 1 and figures[member]["moved"] == 1, figures
                assert listed(f"fd{member}")["moved"], member


@case(complaints=MD_SAYS)
def md_rebuilds_raid6_over_a_latent_error() -> None:
    content = raw.patterned(6, MIB)
    with members("6", 4) as path:
        with raw.opened(path) as fd:
            for at in range(0, 16 * MIB, MIB):
                raw.write(fd, content, at)
        run("mdadm", "/dev/md7", "--fail", "/dev/mapper/fd3")
        run("mdadm", "/dev/md7", "--remove", "/dev/mapper/fd3")
        add("fd0", "--kind", "media-error", "--sectors", "8192-8199")
        run("mdadm", "--zero-superblock", "/dev/mapper/fd3")
        run("mdadm", "/dev/md7", "--add", "/dev/mapper/fd3")
        run("mdadm", "--wait", "/dev/md7", ok=(0, 1))
        assert array("degraded") == "0", array("degraded")
        act("check")
        assert array("mismatch_cnt") == "0", array("mismatch_cnt")
        with raw.opened(path) as fd:
            for at in range(0, 16 * MIB, MIB):
                raw.must_read(fd, content, at)
        figures = device_stats("fd0")["faults"]
        assert figures["media_read"] and figures["moved"] == 1, figures


def rebuild(member: int) -> None:
    disk = f"/dev/mapper/fd{member}"
    run("mdadm", "/dev/md7", "--fail", disk)
    run("mdadm", "/dev/md7", "--remove", disk)
    run("mdadm", "--zero-superblock", disk)
    run("mdadm", "/dev/md7", "--add", disk)
    run("mdadm", "--wait", "/dev/md7", ok=(0, 1))
    assert array("degraded") == "0", array("degraded")


def lost(fd: int, content: bytes, size: int) -> list[int]:
    """Blocks that cannot be read, of those that have CONTENT again and again; the others must have it."""
    found = []
    for piece in range(0, size, len(content)):
        if outcome(fd, "read", piece // BLOCK, len(content) // BLOCK) == content:
            continue
        for at in range(0, len(content), BLOCK):
            read = outcome(fd, "read", (piece + at) // BLOCK, 1)
            assert read in ("fails", content[at:at + BLOCK]), (piece, at, type(read))
            found += [(piece + at) // BLOCK] if read == "fails" else []
    return found


@case(complaints=MD_SAYS + r"|Buffer I/O error", seldom=True)
def raid6_of_12_goes_by_mds_rules_with_two_latent_errors_and_a_slow_member() -> None:
    content, size = raw.patterned(8, MIB), 11 * MIB
    with members("6", 12, 8 * MIB) as path:
        with raw.opened(path) as fd:
            for at in range(0, size, MIB):
                raw.write(fd, content, at)
        offset = int(offset_of("fd0"))
        # In the second row, where fd0 to fd9 have data, fd10 has P and fd11 Q.
        bad = f"{offset + 1024}-{offset + 1031}"
        add("fd5", "--kind", "slow", "--factor", "4")
        for member in (0, 1):
            add(f"fd{member}", "--kind", "media-error", "--sectors", bad)
        # Two unknown in one row: P and Q have both. A check writes them again, which mends them. The first
        # check may find the row in md's cache.
        with raw.opened(path) as fd:
            assert not lost(fd, content, size)
        act("check")
        act("check")
        assert array("mismatch_cnt") == "0", array("mismatch_cnt")
        moved = [listed(f"fd{member}")["moved"] for member in (0, 1)]
        assert moved == [[bad], [bad]], moved
        # One of them is bad again, and a member is rebuilt: two unknown.
        add("fd0", "--kind", "media-error", "--sectors", bad)
        rebuild(2)
        with raw.opened(path) as fd:
            assert not lost(fd, content, size)
        # Both are: three unknown. A block of each of the three is lost, and nothing else.
        for member in (0, 1):
            add(f"fd{member}", "--kind", "media-error", "--sectors", bad)
        rebuild(2)
        with raw.opened(path) as fd:
            gone = lost(fd, content, size)
        assert gone == [1280, 1280 + 128, 1280 + 256], gone
        act("check")
        assert array("mismatch_cnt") == "0", array("mismatch_cnt")
        figures = [device_stats(f"fd{member}")["faults"] for member in range(12)]
        assert figures[5]["slowed"] > 50, figures
        assert not any(one["slowed"] for one in figures[:5] + figures[6:]), figures
        assert not any(one["media_read"] for one in figures[2:]), figures


def offset_of(name: str) -> str:
    """Of the data on a member of the array."""
    return array(f"dev-dm-{dm.minor(name).partition(':')[2]}/offset")


@case(complaints=r"BTRFS .*|I/O error")
def btrfs_scrub_mends_a_latent_error_from_the_other_copy() -> None:
    with ExitStack() as stack:
        disks = [
            stack.enter_context(
                fake_disk(f"fd{i}", 512 * MIB, stack.enter_context(loop_disk(600 * MIB)), *KEEP))
            for i in range(2)
        ]
        run("mkfs.btrfs", "-q", "-f", "-d", "raid1", "-m", "raid1", *disks)
        with mounted(disks[0], "btrfs") as point:
            file = Path(point) / "file"
            file.write_bytes(raw.patterned(7, 8 * MIB))
            os.sync()
            used = physical(str(file), disks[1], point)
            add("fd1", "--kind", "media-error", "--sectors", f"{used}-{used + 15}")
            text = run("btrfs", "scrub", "start", "-B", point, ok=(0, 3))
            say(text)
            assert device_stats("fd1")["faults"]["media_read"], device_stats("fd1")["faults"]
            assert re.search(r"[Cc]orrected:\s+[1-9]", text), text
            assert re.search(r"Uncorrectable:\s+0", text), text
            assert listed("fd1")["moved"] == [f"{used}-{used + 15}"], listed("fd1")
            text = run("btrfs", "scrub", "start", "-B", point)
            assert "no errors found" in text, text
            assert file.read_bytes() == raw.patterned(7, 8 * MIB)


def physical(file: str, disk: str, point: str) -> int:
    """The first sector of the file's copy on DISK."""
    logical = re.search(r"\n\s*0:\s+\d+\.\.\s*\d+:\s+(\d+)\.\.", run("filefrag", "-v", "-b512", file))
    assert logical, file
    found = run("btrfs", "inspect-internal", "dump-tree", "-t", "chunk", disk)
    items = r"CHUNK_TREE CHUNK_ITEM (\d+)\).*?length (\d+)(.*?)(?=\n\titem|\Z)"
    for chunk in re.finditer(items, found, re.S):
        start, length = int(chunk[1]), int(chunk[2])
        if start <= int(logical[1]) * 512 < start + length:
            stripe = re.search(r"devid 2 offset (\d+)", chunk[3])
            assert stripe, chunk[3]
            return (int(stripe[1]) + int(logical[1]) * 512 - start) // 512
    raise Failed(f"no chunk has {logical[1]}: {point}")
