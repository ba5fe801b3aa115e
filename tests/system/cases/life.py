# SPDX-License-Identifier: GPL-2.0
"""Devices live with others, are suspended, reloaded and removed, all while I/O is going on."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import ExitStack

from cases import case
from helpers import raw, udev
from helpers.guest import (
    device_stats,
    dm,
    fake_disk,
    load_table,
    loop_disk,
    mapped,
    mounted,
    ram_disk,
    remove,
    run,
)
from helpers.hammer import FORK, Hammer
from helpers.stores import table_of
from helpers.units import GIB, KIB, MIB, TIB
from helpers.victim import wait_until


@case(cpus=True, seldom=True)
def several_disks_do_not_mix() -> None:
    with ExitStack() as stack:
        disks = []
        for number in range(4):
            dev = stack.enter_context(loop_disk(16 * MIB))
            options = ("--classify", "keep", "-o", f"block_size={512 << number}")
            disks.append(stack.enter_context(fake_disk(f"disk{number}", (number + 1) * TIB, dev, *options)))
        hammers = [Hammer(disk, number) for number, disk in enumerate(disks)]
        time.sleep(1)
        for hammer in hammers:
            done, error = hammer.finish()
            assert not error and done >= 20, f"{done} requests, {error}"
        for number in range(4):
            figures = device_stats(f"disk{number}")
            assert figures["block_size"] == 512 << number, figures
            assert figures["target_sectors"] == (number + 1) * TIB >> 9, figures


@case(vm="6.1", cpus=True)
def suspend_and_resume_under_io() -> None:
    with loop_disk(16 * MIB) as dev, fake_disk("sleepy", TIB, dev, "--classify", "keep") as disk:
        hammer = Hammer(disk, 1)
        for number in range(15):
            run("dmsetup", "suspend", *(["--noflush"] if number % 3 == 0 else []), "sleepy")
            run("dmsetup", "resume", "sleepy")
        done, error = hammer.finish()
        assert not error, error


@case(cpus=True)
def a_suspended_disk_serves_what_waited_after_resume() -> None:
    with loop_disk(16 * MIB) as dev, fake_disk("sleepy", TIB, dev, "--classify", "keep") as disk:
        run("dmsetup", "suspend", "sleepy")
        data = "x" * 100
        writer = subprocess.Popen(
            ["sh", "-c", f"printf %4096s {data} | dd of={disk} bs=4096 oflag=direct conv=notrunc"],
            stderr=subprocess.DEVNULL,
        )
        time.sleep(0.5)
        assert writer.poll() is None, "a write to a suspended disk came back"
        run("dmsetup", "resume", "sleepy")
        assert writer.wait(timeout=20) == 0
        with raw.opened(disk) as fd:
            raw.must_read(fd, b" " * 3996 + b"x" * 100, 0)


@case(cpus=True)
def reload_under_io_keeps_the_content() -> None:
    with loop_disk(16 * MIB) as dev, fake_disk("again", TIB, dev, "--classify", "keep") as disk:
        hammer = Hammer(disk, 2)
        for number in range(10):
            run("dmsetup", "load", "again", "--table", table_of("again").replace("seed=0", f"seed={number}"))
            run("dmsetup", "resume", "again")
        done, error = hammer.finish()
        assert not error, error
        # A table that was loaded but never resumed leaves no trace.
        run("dmsetup", "load", "again", "--table", table_of("again"))
        run("dmsetup", "clear", "again")
        hammer = Hammer(disk, 3)
        done, error = hammer.finish()
        assert not error, error


@case(cpus=True)
def reload_changes_size_and_parameters_but_not_the_store() -> None:
    data = raw.patterned(1, MIB)
    with ExitStack() as stack:
        dev = stack.enter_context(loop_disk(16 * MIB))
        other = stack.enter_context(loop_disk(8 * MIB))
        disk = stack.enter_context(fake_disk("grow", TIB, dev, "--classify", "keep"))
        with raw.opened(disk) as fd:
            raw.write(fd, data, GIB)
        table = table_of("grow")
        backing = table.split()[3]
        number = os.stat(other).st_rdev
        for bad, expected in (
            (
                table.replace(f"david {backing}", f"david {os.major(number)}:{os.minor(number)}"),
                "Backing device is smaller than the store in use",
            ),
            (table.replace("block_size=4096", "block_size=512"), "A reload must keep block_size"),
        ):
            done = subprocess.run(
                ["dmsetup", "load", "grow", "--table", bad], capture_output=True, env=dm.environment()
            )
            assert done.returncode, f"taken: {bad}"
            log = run("dmesg")
            assert expected in log[-3000:], f"'{expected}' is not in the log"
        for sectors, words in ((2 * TIB >> 9, "classify=auto"), (2 * GIB >> 9, "classify=data")):
            # It may be reading the end of the larger disk.
            udev.settle()
            fields = table.split()
            fields[1] = str(sectors)
            run("dmsetup", "load", "grow", "--table", " ".join(fields).replace("classify=keep", words))
            run("dmsetup", "resume", "grow")
            assert int(run("blockdev", "--getsz", disk)) == sectors
            assert words in table_of("grow").split()
            assert device_stats("grow")["target_sectors"] == sectors
            with raw.opened(disk) as fd:
                raw.must_read(fd, data, GIB)


@case(cpus=True)
def remove_under_io_is_refused_and_harmless() -> None:
    with loop_disk(16 * MIB) as dev, fake_disk("used", TIB, dev, "--classify", "keep") as disk:
        hammer = Hammer(disk, 4)
        for _ in range(5):
            done = subprocess.run(
                ["dmsetup", "remove", "used"], capture_output=True, text=True, env=dm.environment()
            )
            assert done.returncode and "busy" in done.stderr, done.stderr
        done, error = hammer.finish()
        assert not error, error


@case(cpus=True, complaints="I/O error")
def a_disk_taken_away_by_force_fails_io_and_hangs_nobody() -> None:
    with loop_disk(16 * MIB) as dev:
        with fake_disk("gone", TIB, dev, "--classify", "keep") as disk:
            hammer = Hammer(disk, 5)
            # Replaces the table with one that fails all I/O, then tries to remove.
            subprocess.run(
                ["dmsetup", "remove", "--force", "gone"], capture_output=True, env=dm.environment()
            )
            done, error = hammer.finish(20)
            assert error == "EIO", f"{done} requests, error '{error}' instead of EIO"
            if dm.exists("gone"):
                remove("gone")
        # The backing device is free again.
        with fake_disk("gone", TIB, dev, "--classify", "keep") as disk:
            hammer = Hammer(disk, 6)
            done, error = hammer.finish()
            assert not error, error


def is_free(dev: str) -> bool:
    """Nobody holds the device: no file system is mounted from it, and no target uses it."""
    try:
        os.close(os.open(dev, os.O_RDWR | os.O_EXCL))
    except OSError:
        return False
    return True


@case(cpus=True)
def deferred_removal_waits_for_the_last_opener() -> None:
    with loop_disk(16 * MIB) as dev:
        with mapped("later", f"0 {TIB >> 9} david {dev} 1 classify=keep") as disk:
            hammer = Hammer(disk, 7)
            run("dmsetup", "remove", "--deferred", "later")
            assert dm.exists("later")
            done, error = hammer.finish()
            assert not error, error
            wait_until(lambda: not dm.exists("later"), "removed after the last opener has gone", 5)
            # The name goes first, and then the target, which holds the backing device.
            wait_until(lambda: is_free(dev), f"{dev} free", 5)
            # For mapped(), which removes it.
            run("dmsetup", "create", "later", "--table", f"0 {TIB >> 9} david {dev}")


def writer(disk: str, mark: int, size: int, rounds: int, report: object) -> None:
    error = ""
    try:
        data = raw.patterned(mark, size - 8) + mark.to_bytes(8, "little")
        with raw.opened(disk) as fd:
            for number in range(rounds):
                # The same place, and one that overlaps it by half.
                raw.write(fd, data, GIB + (number % 2) * (size // 2))
    except Exception as wrong:
        error = repr(wrong)
    report.send(error)  # type: ignore[attr-defined]


@case(cpus=True)
def overlapping_requests_do_not_tear() -> None:
    """Requests that overlap are served one after the other: the last halves come from one writer."""
    size, rounds = 64 * KIB, 150
    for classify in ("keep", "auto"):
        with loop_disk(16 * MIB) as dev, fake_disk("torn", TIB, dev, "--classify", classify) as disk:
            children = []
            for mark in range(1, 4):
                ours, theirs = FORK.Pipe(duplex=False)
                process = FORK.Process(target=writer, args=(disk, mark, size, rounds, theirs))
                process.start()
                children.append((ours, process))
            expected = {
                mark: raw.patterned(mark, size - 8) + mark.to_bytes(8, "little") for mark in range(1, 4)
            }
            half = size // 2
            starts = {bytes(half), *(data[:half] for data in expected.values())}
            ends = {bytes(half), *(data[half:] for data in expected.values())}
            with raw.opened(disk) as fd:
                for _ in range(rounds):
                    whole = raw.read(fd, size + half, GIB)
                    assert whole[:half] in starts, "a mixture of two writes at the start"
                    assert whole[half:size] in starts | ends, "a mixture of two writes in the middle"
                    assert whole[size:] in ends, "a mixture of two writes at the end"
            for ours, process in children:
                assert ours.poll(60), "a writer hangs"
                error = ours.recv()
                process.join(10)
                assert not error, error


@case(cpus=True)
def the_module_stays_while_a_disk_lives() -> None:
    with loop_disk(16 * MIB) as dev, fake_disk("holder", TIB, dev):
        assert int(open("/sys/module/dm_david/refcnt").read()) > 0
        done = subprocess.run(["rmmod", "dm_david"], capture_output=True, env=dm.environment())
        assert done.returncode, "the module could be removed"
    assert int(open("/sys/module/dm_david/refcnt").read()) == 0


@case(cpus=True)
def deep_queues_verify() -> None:
    """fio with many requests in flight, overlapping blocks of several sizes, contents verified."""
    with loop_disk(64 * MIB) as dev, fake_disk("fio", TIB, dev, "--classify", "keep") as disk:
        output = run(
            "fio",
            "--name=verify",
            f"--filename={disk}",
            "--offset=1g",
            "--size=32m",
            "--rw=randrw",
            "--direct=1",
            "--ioengine=libaio",
            "--iodepth=32",
            "--bsrange=512-64k",
            "--bs_unaligned=0",
            "--blockalign=512",
            "--verify=crc32c",
            "--verify_fatal=1",
            "--clocksource=clock_gettime",
            "--loops=2",
            "--randrepeat=1",
            "--minimal",
        )
        assert device_stats("fio")["errors"] == 0, output


@case(cpus=True)
def a_file_system_lives_through_suspend_and_reload() -> None:
    with ram_disk(128 * MIB) as dev, fake_disk("lively", TIB, dev) as disk:
        run("mkfs.xfs", "-q", disk)
        with mounted(disk, "xfs") as top:
            each = f"mkdir {top}/$i; seq 9999 >{top}/$i/a; ln {top}/$i/a {top}/$i/b; sync"
            script = f"for i in $(seq 12); do {each}; done"
            copier = subprocess.Popen(["sh", "-c", script])
            while copier.poll() is None:
                # Freezes the file system, too.
                load_table("lively", table_of("lively"))
                time.sleep(0.1)
            assert copier.returncode == 0, f"exit status {copier.returncode}"
            assert len(os.listdir(top)) == 12
        run("xfs_repair", "-n", disk)
