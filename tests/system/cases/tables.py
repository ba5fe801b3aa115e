# SPDX-License-Identifier: GPL-2.0
"""Table lines, status, messages, ioctls: what dmsetup and /dev/david take and answer."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import subprocess
from contextlib import ExitStack

from cases import case
from helpers import raw
from helpers.davidtool import called
from helpers.guest import (
    Failed,
    attached,
    david,
    dm,
    fake_disk,
    loop_disk,
    mapped,
    quiet,
    run,
    stats,
)
from helpers.stores import SECTORS, refused
from helpers.units import MIB, TIB

KNOWN = (
    "known are mode, classify, content, seed, block_size, low_water, unclassified, checksums, "
    "checksum_memory, exact, files, raw, table_memory, store, pool, pool_reserve, pool_log, "
    "age, faults, zones, profile"
)
BAD_FILES = "files: must be off, default, or suffixes and kinds: htm,html=html;gz=gzip"
BAD_RAW = "raw: must be none, or rules with commas between: ino:, dir:, suffix:, sectors:"

# Words behind "david": {dev} is a backing device of 4 MiB.
BAD_TABLES = [
    ("", "Backing device is missing: <device> [<count> <name=value>...]"),
    ("/dev/no-such-device", "Backing device is not there, not a block device, or in use"),
    ("/dev/null", "Backing device is not there, not a block device, or in use"),
    ("{dev} x", "After the backing device comes the number of words that follow"),
    ("{dev} -1 mode=speedup", "After the backing device comes the number of words that follow"),
    ("{dev} mode=speedup", "After the backing device comes the number of words that follow"),
    ("{dev} 1", "The number of words differs from the number that was announced"),
    ("{dev} 0 mode=speedup", "The number of words differs from the number that was announced"),
    ("{dev} 2 mode=speedup", "The number of words differs from the number that was announced"),
    ("{dev} 4294967295 mode=speedup", "The number of words differs from the number that was announced"),
    ("{dev} 1 mode", "A word after the count is not of the form name=value"),
    ("{dev} 2 seed=1 seed=1", "A name stands twice among the name=value words"),
    ("{dev} 1 colour=red", f"Unknown name; {KNOWN}"),
    ("{dev} 1 =red", f"Unknown name; {KNOWN}"),
    ("{dev} 1 Mode=speedup", f"Unknown name; {KNOWN}"),
    ("{dev} 1 mode=", "mode: must be timing-accurate, speedup or model-only"),
    ("{dev} 1 mode=timing-accurate", "mode: without a profile there is no time: must be speedup"),
    ("{dev} 1 classify=", "classify: must be auto, implicit, explicit, keep or data"),
    ("{dev} 1 classify=implied", "classify: must be auto, implicit, explicit, keep or data"),
    ("{dev} 1 classify=kee", "classify: must be auto, implicit, explicit, keep or data"),
    (
        "{dev} 1 content=ones",
        "content: must be one of zeros, incompressible, compressible:20 (to 1000), text, pattern:HEX, stamp",
    ),
    ("{dev} 1 seed=", "seed: must be a number from 0 to 2^64 - 1"),
    ("{dev} 1 seed=-1", "seed: must be a number from 0 to 2^64 - 1"),
    ("{dev} 1 seed=18446744073709551616", "seed: must be a number from 0 to 2^64 - 1"),
    ("{dev} 1 block_size=0", "block_size: must be 512, 1024, 2048 or 4096"),
    ("{dev} 1 block_size=256", "block_size: must be 512, 1024, 2048 or 4096"),
    ("{dev} 1 block_size=3072", "block_size: must be 512, 1024, 2048 or 4096"),
    ("{dev} 1 block_size=8192", "block_size: must be 512, 1024, 2048 or 4096"),
    ("{dev} 1 block_size=4K", "block_size: must be 512, 1024, 2048 or 4096"),
    ("{dev} 1 low_water=many", "low_water: must be a number of blocks"),
    ("{dev} 1 unclassified=1048577", "unclassified: must be a number of MB from 0 to 1048576"),
    ("{dev} 1 table_memory=0", "table_memory: must be a number of megabytes from 1"),
    ("{dev} 1 store=disk", "store: must be auto, format or memory"),
    ("{dev} 1 low_water=1025", "low_water: more blocks than the backing device has"),
    ("{dev} 1 files=gz", BAD_FILES),
    ("{dev} 1 files=gz=zip", BAD_FILES),
    ("{dev} 1 raw=", BAD_RAW),
    ("{dev} 1 raw=dir:2,none", BAD_RAW),
    ("{dev} 1 raw=dir:2,,dir:3", BAD_RAW),
]

ALL_WORDS = (
    "11 mode=speedup classify=keep content=zeros seed=18446744073709551615 block_size=1024 low_water=7 "
    "unclassified=9 files=htm,html=html;gz=gzip "
    "raw=ino:5-7,ino:257/3,dir:2,sectors:0-99,suffix:db table_memory=5 store=memory"
)


@case
def every_bad_argument_gets_its_exact_error_and_makes_nothing() -> None:
    wrong = []
    with loop_disk(4 * MIB) as dev:
        for words, expected in BAD_TABLES:
            # The kernel appends the error's number: (-EINVAL) or (-22).
            said = refused("bad", words.format(dev=dev)).rsplit(" (", 1)[0]
            if said != expected:
                wrong.append(f"'{words}': '{said}' instead of '{expected}'")
    if wrong:
        raise Failed("; ".join(wrong))


@case
def a_block_smaller_than_the_backing_devices_is_refused() -> None:
    path = "/tmp/four-k"
    with open(path, "wb") as file:
        file.truncate(4 * MIB)
    with attached(path, block_size=4096) as dev:
        said = refused("bad", f"{dev} 1 block_size=512")
        assert said.startswith("block_size is smaller than the backing device's logical block size"), said
        with mapped("good", f"0 {SECTORS} david {dev}") as disk:
            assert run("blockdev", "--getss", disk).strip() == "512"
    os.unlink(path)


@case
def a_backing_device_smaller_than_a_block_is_refused() -> None:
    with loop_disk(2048) as dev:
        said = refused("bad", f"{dev}")
        assert said.startswith("Backing device is smaller than one block"), said


@case
def one_backing_device_serves_one_disk() -> None:
    with loop_disk(4 * MIB) as dev, mapped("first", f"0 {SECTORS} david {dev}"):
        said = refused("second", dev)
        assert said.startswith("Backing device is in use by another david device"), said


@case
def the_printed_table_recreates_the_device() -> None:
    with loop_disk(4 * MIB) as dev:
        for words in ("", "1 seed=5", ALL_WORDS):
            with mapped("one", f"0 {SECTORS} david {dev} {words}"):
                table = run("dmsetup", "table", "one").strip()
            for word in words.split()[1:]:
                assert word in table.split(), f"{word} is not in {table}"
            with mapped("one", table):
                again = run("dmsetup", "table", "one").strip()
            assert again == table, f"{again} instead of {table}"


@case(vm="6.1", cpus=True)
def status_message_and_ioctl_say_the_same() -> None:
    with loop_disk(16 * MIB) as dev, fake_disk("same", TIB, dev, "--classify", "keep") as disk:
        with raw.opened(disk) as fd:
            raw.write(fd, raw.patterned(1, 64 << 10), 1 << 30)
            raw.write(fd, bytes(64 << 10), 1 << 31)
            raw.discard(fd, 0, 1 << 29)
            raw.zero_out(fd, 1 << 33, 1 << 20)
            raw.read(fd, 8192, 1 << 30)
            os.fsync(fd)
        quiet("same")
        status = stats.parse_words(run("dmsetup", "status", "same"))
        message = stats.parse_words(run("dmsetup", "message", "same", "0", "stats"))
        ioctl = stats.words(stats.as_dict(stats.fetch("same")))
        assert status == message, difference(status, message)
        assert status == ioctl, difference(status, ioctl)
        for key, least in {
            "requests_read": 1,
            "requests_write": 2,
            "requests_discard": 1,
            "requests_zeroes": 1,
            "requests_flush": 1,
            "written_kept": 16,
            "written_fill": 16,
            "blocks_stored": 16,
            "store_used": 16,
            "mem_ranges": 1,
            "mem_bitmap": 512,
            "mem_pools": 1,
            "mem_target": 1,
        }.items():
            assert int(status[key]) >= least, f"{key}={status[key]}"
        assert status["state"] == "ok" and status["target_sectors"] == str(SECTORS), status


def difference(one: dict[str, str], other: dict[str, str]) -> str:
    keys = sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
    return ", ".join(f"{key}: {one.get(key)} and {other.get(key)}" for key in keys)


@case
def an_unknown_message_is_refused() -> None:
    with loop_disk(4 * MIB) as dev, mapped("one", f"0 {SECTORS} david {dev}"):
        for message in (["nonsense"], ["stats", "more"], ["stat"]):
            done = subprocess.run(
                ["dmsetup", "message", "one", "0", *message], capture_output=True, env=dm.environment()
            )
            assert done.returncode, f"message {message} was taken"


def ioctl_errno(number: int, arg: object) -> int:
    with raw.opened(stats.CONTROL, os.O_RDONLY) as fd:
        try:
            fcntl.ioctl(fd, number, arg)  # type: ignore[call-overload]
        except OSError as error:
            return error.errno or -1
    return 0


def struct_bytes(size: int, said: int) -> bytes:
    return bytes(stats.Struct(version=1, size=said, name=b"one"))[:size]


@case(cpus=True)
def the_ioctl_checks_what_it_is_given() -> None:
    size = ctypes.sizeof(stats.Struct)
    with loop_disk(4 * MIB) as dev, mapped("one", f"0 {SECTORS} david {dev}"):
        assert ioctl_errno(stats.IOC_STATS, stats.Struct(version=1, size=size, name=b"one")) == 0
        # A name without an end, a struct too short for a name, an unknown device.
        assert (
            ioctl_errno(stats.IOC_STATS, stats.Struct(version=1, size=size, name=b"x" * 128)) == errno.EINVAL
        )
        assert ioctl_errno(stats.IOC_STATS, stats.Struct(version=1, size=100, name=b"one")) == errno.EINVAL
        assert ioctl_errno(stats.IOC_STATS, stats.Struct(version=1, size=size, name=b"on")) == errno.ENODEV
        assert ioctl_errno(stats.IOC_STATS, stats.Struct(version=1, size=size)) == errno.ENODEV
        # A caller of another version learns the module's.
        struct = stats.Struct(version=99, size=size, name=b"one")
        assert ioctl_errno(stats.IOC_STATS, struct) == errno.EPROTONOSUPPORT
        assert struct.version == stats.ABI_VERSION, struct.version
        # An older caller's shorter struct is filled no further than it reaches.
        short = stats.Struct(version=1, size=size - 64, name=b"one")
        ctypes.memset(ctypes.addressof(short) + size - 64, 0xA5, 64)
        assert ioctl_errno(stats.IOC_STATS, short) == 0
        assert short.size == size - 64
        assert ctypes.string_at(ctypes.addressof(short) + size - 64, 64) == b"\xa5" * 64
        assert ioctl_errno(stats.IOC_STATS + 7, struct) == errno.ENOTTY
        # So do programs that were built for a struct of another size, by their own number.
        for longer in (-64, -8, 0, 8):
            buffer = bytearray(struct_bytes(size, size + longer) + bytes(8) + b"\xa5" * 64)
            assert ioctl_errno(stats.ioc_stats_sized(size + longer), buffer) == 0, longer
            told = min(size, size + longer)
            assert buffer[4:8] == told.to_bytes(4, "little"), longer
            assert not any(buffer[told : size + 8]) and buffer[size + 8 :] == b"\xa5" * 64, longer
        # One that says more than its number has is filled no further.
        buffer = bytearray(struct_bytes(size, size))
        assert ioctl_errno(stats.ioc_stats_sized(size - 8), buffer) == 0 and not any(buffer[size - 8 :])
        # _IOR('D', 0, struct david_version)
        version = (ctypes.c_uint32 * 4)()
        assert ioctl_errno(2 << 30 | 16 << 16 | ord("D") << 8, version) == 0
        assert version[0] == stats.ABI_VERSION, list(version)
        target = next(line for line in run("dmsetup", "targets").splitlines() if line.startswith("david"))
        assert target.split()[1] == "v" + ".".join(str(number) for number in version[1:]), target


@case(cpus=True)
def what_the_disk_says_of_itself() -> None:
    """The fake disk's own size and limits, whatever the backing device can do."""
    with loop_disk(4 * MIB) as dev, fake_disk("limits", TIB, dev) as disk:
        assert run("blockdev", "--getsize64", disk).strip() == str(TIB)
        queue = f"/sys/dev/block/{dm.minor('limits')}/queue"
        values = {
            name: int(open(f"{queue}/{name}").read())
            for name in (
                "logical_block_size",
                "physical_block_size",
                "minimum_io_size",
                "optimal_io_size",
                "discard_granularity",
                "discard_max_bytes",
                "write_zeroes_max_bytes",
            )
        }
        assert values["logical_block_size"] == 512 and values["physical_block_size"] == 4096, values
        assert values["minimum_io_size"] == 4096 and values["optimal_io_size"] == 0, values
        assert values["discard_granularity"] == 4096 and values["discard_max_bytes"] > 1 << 30, values
        assert values["write_zeroes_max_bytes"] > 1 << 30, values


def command(*args: str) -> tuple[int, str, str]:
    done = called(*args)
    return done.returncode, done.stdout, done.stderr


@case
def the_command_line_names_argument_and_remedy() -> None:
    with ExitStack() as stack:
        dev = stack.enter_context(loop_disk(16 * MIB))
        used = stack.enter_context(loop_disk(16 * MIB))
        stack.enter_context(fake_disk("taken", TIB, used))
        fs = stack.enter_context(loop_disk(16 * MIB))
        run("mkfs.ext4", "-q", fs)
        create = ["create", "new", "--size", "1T", "--backing"]
        for args, words in [
            (["create", "new", "--size", "1Q", "--backing", dev], ["--size", "1Q", "1.5T"]),
            (["create", "new", "--size", "1000", "--backing", dev], ["--size", "multiple of 512"]),
            (["create", "new", "--size", "0", "--backing", dev], ["--size", "at least 512"]),
            (["create", "new", "--backing", dev], ["--size", "--profile"]),
            ([*create, "/dev/nothing"], ["--backing /dev/nothing", "No such file", "lsblk"]),
            ([*create, "/etc/passwd"], ["--backing /etc/passwd", "not a block device", "losetup"]),
            ([*create, used], [f"--backing {used}", "in use", "/dev/dm-"]),
            ([*create, fs], [f"--backing {fs}", "ext4", "--format"]),
            ([*create, dev, "--mode", "timing-accurate"], ["--mode", "--profile"]),
            ([*create, dev, "--mode", "fast"], ["--mode", "timing-accurate, speedup, model-only"]),
            ([*create, dev, "--profile", "no-such-drive"], ["--profile no-such-drive", "profiles/"]),
            ([*create, dev, "--classify", "some"], ["--classify", "auto, implicit, explicit, keep, data"]),
            ([*create, dev, "--content", "jpeg"], ["--content", "incompressible, zeros"]),
            ([*create, dev, "--option", "seed"], ["--option", "KEY=VALUE"]),
            ([*create, dev, "--option", "classify=keep"], ["--option", "--classify keep"]),
            ([*create, dev, "--option", "block_size=3"], ["block_size: must be 512, 1024, 2048 or 4096"]),
            ([*create, dev, "--option", "colour=red"], ["Unknown name", "low_water"]),
            (
                ["create", "taken", "--size", "1T", "--backing", dev],
                ["taken", "in use", "david remove taken"],
            ),
            (["create", "a/b", "--size", "1T", "--backing", dev], ["NAME", "a/b"]),
            (["remove", "nothing"], ["nothing", "david list"]),
            (["stats", "nothing"], ["nothing", "david list"]),
        ]:
            status, _, said = command(*args)
            missing = [word for word in words if word not in said]
            assert status == 1 and not missing, f"{args}: status {status}, {missing} missing in: {said}"
            assert not dm.exists("new"), f"{args} made a device"


@case
def create_list_stats_remove() -> None:
    with loop_disk(16 * MIB) as dev:
        run("mkfs.ext4", "-q", dev)
        options = ["-o", "seed=7", "--option", "block_size=2048", "--content", "zeros", "--classify", "data"]
        said = david("create", "new", "--size", "1.5T", "--backing", dev, "--format", *options)
        assert "/dev/mapper/new" in said and "1.50 TiB" in said, said
        table = run("dmsetup", "table", "new").split()
        assert table[1] == str(3 * TIB // 2 >> 9), table
        for word in ("mode=speedup", "seed=7", "block_size=2048", "content=zeros", "classify=data"):
            assert word in table, table
        listed = david("list")
        for word in ("new", "1.50 TiB", dev, "ok", "15.0 MiB", "seed=7"):
            assert word in listed, listed
        text = david("stats", "new")
        for word in ("new: ok", "1.50 TiB", "memory", "CPU time", "squashed"):
            assert word in text, text
        figures = json.loads(david("stats", "new", "--json"))
        assert (
            figures["block_size"] == 2048 and figures["mem"]["bitmap"] > 0 and "classify" in figures["cpu"]
        ), figures
        david("remove", "new")
        assert not dm.exists("new") and not os.path.exists("/dev/mapper/new")
        assert "no david devices" in command("list")[2]


@case
def remove_says_who_keeps_it_busy() -> None:
    with loop_disk(16 * MIB) as dev, fake_disk("busy", TIB, dev) as disk:
        with raw.opened(disk, os.O_RDONLY):
            status, _, said = command("remove", "busy", "--wait", "0.3")
            assert status == 1 and "busy" in said and f"process {os.getpid()}" in said, said
        # One who leaves within the time is waited for.
        holder = subprocess.Popen(["sh", "-c", f"exec 3<{disk}; sleep 1"])
        status, _, said = command("remove", "busy", "--wait", "10")
        holder.wait()
        assert status == 0, said


@case
def every_command_has_help_with_an_example() -> None:
    for name in ("create", "remove", "list", "stats"):
        status, text, _ = command(name, "--help")
        assert not status and "example:" in text and f"david {name}" in text, text
