# SPDX-License-Identifier: GPL-2.0
"""Disks with a profile, in real time: what they advertise, when they complete, how modes change."""

from __future__ import annotations

import errno
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

from cases import case
from davidlib.disk import statstext
from helpers import raw
from helpers.guest import (
    Failed,
    attached,
    david,
    device_stats,
    dm,
    fake_disk,
    kmsg,
    loop_disk,
    mapped,
    profileword,
    quiet,
    ram_disk,
    remove,
    run,
    say,
    stats,
)
from helpers.davidtool import called
from helpers.hammer import Hammer, Processes
from helpers.planted import must_fail, planted
from helpers.stores import refused
from helpers.timed import profile, recording, timed_disk
from helpers.units import GIB, MIB, TIB

PLAIN, QUICK = profile("plain"), profile("quick")


def queue(name: str) -> dict[str, str]:
    directory = f"/sys/dev/block/{dm.minor(name)}/queue"
    names = (
        *("rotational", "write_cache", "fua", "logical_block_size", "physical_block_size", "minimum_io_size"),
        *("optimal_io_size", "max_sectors_kb", "max_hw_sectors_kb", "max_segments", "chunk_sectors"),
    )
    return {key: open(f"{directory}/{key}").read().strip() for key in names}


def expect(name: str, **wanted: str) -> None:
    found = queue(name)
    wrong = {key: found[key] for key, value in wanted.items() if found[key] != value}
    if wrong:
        raise Failed(f"{name} advertises {wrong} instead of { {key: wanted[key] for key in wrong} }")


PLAIN_LIMITS = {
    **{"rotational": "1", "write_cache": "write through", "fua": "0", "logical_block_size": "512"},
    **{"physical_block_size": "512", "minimum_io_size": "512", "optimal_io_size": "0"},
    **{"max_sectors_kb": "256", "max_hw_sectors_kb": "256", "max_segments": "64", "chunk_sectors": "0"},
}
QUICK_LIMITS = PLAIN_LIMITS | {
    **{"write_cache": "write back", "fua": "1", "physical_block_size": "4096", "minimum_io_size": "4096"},
    **{"max_sectors_kb": "1024", "max_hw_sectors_kb": "1024", "max_segments": "128"},
}
NO_PROFILE = QUICK_LIMITS | {
    **{"rotational": "0", "max_sectors_kb": "1280", "max_hw_sectors_kb": "1280", "max_segments": "65535"},
}


def four_k_loop(stack: ExitStack, size: int) -> str:
    """A loop device of logical blocks of 4 KiB."""
    path = f"/tmp/four-k-{time.monotonic_ns()}"
    with open(path, "wb") as file:
        file.truncate(size)
    stack.callback(os.unlink, path)
    return stack.enter_context(attached(path, block_size=4096))


@case(vm="6.1 newest", stock="6.12")
def the_disk_advertises_its_profile() -> None:
    with loop_disk(16 * MIB) as dev, timed_disk("limits", TIB, dev, PLAIN):
        expect("limits", **PLAIN_LIMITS)
        # They outlive a suspend.
        run("dmsetup", "suspend", "limits")
        run("dmsetup", "resume", "limits")
        expect("limits", **PLAIN_LIMITS)
        # A reload with another drive changes them.
        table = run("dmsetup", "table", "limits").split()
        word = ";".join(profileword.load(QUICK, []).items)
        run("dmsetup", "load", "limits", "--table", " ".join([*table[:-1], f"profile={word}"]))
        run("dmsetup", "resume", "limits")
        expect("limits", **QUICK_LIMITS)


@case
def what_it_advertises_does_not_depend_on_what_is_beneath() -> None:
    four_k = ["--profile-option", "logical_block=4096", "--profile-option", "physical_block=4096"]
    with ExitStack() as stack:
        devices = [stack.enter_context(loop_disk(16 * MIB)), four_k_loop(stack, 16 * MIB)]
        devices.append(stack.enter_context(ram_disk(128 * MIB)))
        for dev in devices:
            with timed_disk("limits", TIB, dev, QUICK):
                expect("limits", **QUICK_LIMITS)
            with timed_disk("limits", TIB, dev, PLAIN, *four_k):
                expect(
                    "limits", logical_block_size="4096", physical_block_size="4096", minimum_io_size="4096"
                )
            with fake_disk("limits", TIB, dev):
                expect("limits", **NO_PROFILE)


@case
def sectors_of_512_bytes_on_a_backing_device_of_4096() -> None:
    """Reads and writes of any part of a block, against a plain copy in memory."""
    rng = random.Random(1)
    for options in (("--classify", "keep"),):
        with ExitStack() as stack:
            dev = four_k_loop(stack, 16 * MIB)
            disk = stack.enter_context(fake_disk("parts", TIB, dev, *options))
            shadow = bytearray(MIB)
            fd = stack.enter_context(raw.opened(disk))
            for _ in range(400):
                first = rng.randrange(len(shadow) // 512)
                count = min(rng.choice((1, 1, 3, 8, 9, 40)), len(shadow) // 512 - first)
                at, size = first * 512, count * 512
                kind = rng.randrange(8)
                if kind < 4:
                    data = rng.randbytes(size)
                    raw.write(fd, data, GIB + at)
                    shadow[at : at + size] = data
                elif kind == 4:
                    raw.zero_out(fd, GIB + at, size)
                    shadow[at : at + size] = bytes(size)
                else:
                    raw.must_read(fd, bytes(shadow[at : at + size]), GIB + at, f"{count} sectors at {first}")
            raw.must_read(fd, bytes(shadow), GIB, "in the end, content")
            assert not device_stats("parts")["errors"]


@case(vm="newest", stock="6.1 6.12")
def requests_come_no_earlier_than_modelled() -> None:
    rng = random.Random(2)
    with loop_disk(16 * MIB) as dev, timed_disk("timed", TIB, dev, PLAIN) as disk:
        with raw.opened(disk) as fd:
            before = quiet("timed")
            start = time.monotonic_ns()
            for _ in range(100):
                raw.read(fd, 4096, rng.randrange(TIB // 4096) * 4096)
            took = time.monotonic_ns() - start
            figures = device_stats("timed")
    reads = figures["modelled"]["read"] - before["modelled"]["read"]
    modelled = figures["modelled_ns"]["read"] - before["modelled_ns"]["read"]
    assert reads == 100 and took >= modelled, (reads, took, modelled)
    # Half a revolution at least, a full stroke and a revolution at most.
    assert 4_000_000 < modelled / reads < 30_000_000, modelled / reads
    late = figures["late"]
    assert sum(late) == sum(figures["modelled"].values()), (late, figures["modelled"])
    assert sum(late[7:]) <= figures["late_50us"] <= sum(late[6:]), (late, figures["late_50us"])
    assert figures["late_max"] < 1 << (len(late) + 9), figures
    late_50us, most = figures["late_50us"], figures["late_max"] // 1000
    say(
        f"lateness of {sum(late)} requests: half below {stats.quantile_us(late, 0.5)} us, 9 of 10 below "
        f"{stats.quantile_us(late, 0.9)} us, {late_50us} over 50 us, most {most} us"
    )
    assert figures["mem"]["model"] > 1000 and "lateness" in statstext.as_text(figures)


def read_on(cpu: int, disk: str) -> None:
    rng = random.Random(cpu)
    os.sched_setaffinity(0, {cpu})
    buffer = raw.Buffer(4096)
    with raw.opened(disk) as fd:
        for _ in range(100):
            os.preadv(fd, [buffer.map], rng.randrange(TIB // 4096) * 4096)


@case(cpus=True)
def requests_are_delivered_on_the_cpu_that_submitted_them() -> None:
    """The disk has one timer, which fires for all of them wherever it was set."""
    cpus = os.sched_getaffinity(0)
    slow = ["--profile-option", "read_latency=2ms"]
    with ram_disk(16 * MIB) as dev, timed_disk("there", TIB, dev, profile("memory"), *slow) as disk:
        with recording() as recordings:
            threads = [threading.Thread(target=read_on, args=(cpu, disk)) for cpu in cpus]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    text = recordings[0].text
    came = dict(re.findall(r" david_queue: dev=\S+ id=(\d+) .* cpu=(\d+)", text))
    went = {id: cpu for cpu, id in re.findall(r" \[(\d+)\] .* david_complete: dev=\S+ id=(\d+) ", text)}
    elsewhere = [id for id, cpu in came.items() if int(went[id]) != int(cpu)]
    assert len(came) >= 100 * len(cpus) and {int(cpu) for cpu in came.values()} == cpus, (len(came), cpus)
    assert not elsewhere, f"{len(elsewhere)} of {len(came)} requests were delivered on another CPU"


@case(cpus=True)
def modes_change_under_io() -> None:
    modes = ("speedup", "timing-accurate")
    with loop_disk(16 * MIB) as dev, timed_disk("modes", TIB, dev, QUICK, "--classify", "keep") as disk:
        hammers = [Hammer(disk, number, number * GIB) for number in (1, 2, 3)]
        for number in range(8):
            mode = modes[number % 2]
            run("dmsetup", "message", "modes", "0", "mode", mode)
            assert f"mode={mode}" in run("dmsetup", "table", "modes"), mode
            assert device_stats("modes")["mode"] == mode
            time.sleep(0.05)
        for hammer in hammers:
            done, error = hammer.finish()
            assert not error and done >= 20, f"{done} requests, {error}"
        assert (
            message_error("modes", "mode", "slow") == "mode: must be timing-accurate, speedup or model-only"
        )


def message_error(name: str, *words: str) -> str:
    """What the kernel says to a message that it refuses."""
    with kmsg.KernelLog() as log:
        done = subprocess.run(
            ["dmsetup", "message", name, "0", *words], capture_output=True, env=dm.environment()
        )
        lines = [line for line in log.new_lines() if " david: " in line]
    if done.returncode == 0 or not lines:
        raise Failed(f"message {words}: status {done.returncode}, the kernel says {lines}")
    # device-mapper: david: <device>: <text>
    return lines[-1].split(" david: ", 1)[1].split(": ", 1)[1]


@case(stock="6.1", cpus=True, complaints="I/O error")
def suspend_reload_and_forced_removal_with_requests_in_flight() -> None:
    with loop_disk(16 * MIB) as dev, timed_disk("busy", TIB, dev, PLAIN, "--classify", "data") as disk:
        writers = [flood(disk, number) for number in range(6)]
        wait_until_busy("busy")
        for number in range(6):
            start = time.monotonic()
            run("dmsetup", "suspend", *(["--noflush"] if number % 2 else []), "busy")
            # What is in flight is a few hundred requests of some ten milliseconds.
            assert time.monotonic() - start < 30, f"suspend took {time.monotonic() - start:.1f} s"
            if number == 3:
                run("dmsetup", "load", "busy", "--table", run("dmsetup", "table", "busy").strip())
            run("dmsetup", "resume", "busy")
            time.sleep(0.1)
        assert all(writer.poll() is None for writer in writers), "a writer has ended"
        # With openers left it becomes an error target; what was in flight ends as it would have.
        subprocess.run(["dmsetup", "remove", "--force", "busy"], capture_output=True, env=dm.environment())
        for writer in writers:
            assert writer.wait(timeout=60) != 0
        # If the last of them was quick, that removed it.
        if dm.exists("busy"):
            remove("busy")


def flood(disk: str, number: int) -> subprocess.Popen[bytes]:
    """Direct writes all over the disk, without end."""
    script = (
        "import mmap, os, random, sys\n"
        "fd = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)\n"
        "rng = random.Random(int(sys.argv[2])); page = mmap.mmap(-1, 4096)\n"
        "while True: os.pwrite(fd, page, rng.randrange(1 << 28) * 4096)\n"
    )
    line = [sys.executable, "-S", "-c", script, disk, str(number)]
    return subprocess.Popen(line, stderr=subprocess.DEVNULL)


def wait_until_busy(name: str) -> None:
    for _ in range(300):
        if device_stats(name)["modelled"]["write"] > 20:
            return
        time.sleep(0.1)
    raise Failed("no requests get through")


@case(cpus=True)
def a_full_queue_refuses_who_must_not_wait() -> None:
    one = ["--profile-option", "nr_requests=1", "--profile-option", "nr_batching=0"]
    with ram_disk(128 * MIB) as dev, timed_disk("full", TIB, dev, PLAIN, *one) as disk:
        readers = [
            subprocess.Popen(
                [
                    "dd",
                    f"if={disk}",
                    "of=/dev/null",
                    "bs=4k",
                    "count=100000",
                    f"skip={number << 16}",
                    "iflag=direct",
                ],
                stderr=subprocess.DEVNULL,
            )
            for number in range(3)
        ]
        try:
            for _ in range(100):
                if device_stats("full")["queue_waits"] > 3:
                    break
                time.sleep(0.1)
            outcomes = set()
            with raw.opened(disk) as fd:
                for number in range(20):
                    try:
                        os.preadv(fd, [raw.BUFFER.view[:4096]], number * MIB, os.RWF_NOWAIT)
                        outcomes.add(0)
                    except OSError as error:
                        outcomes.add(error.errno)
                # One that may wait gets its turn.
                raw.read(fd, 4096, 0)
        finally:
            for reader in readers:
                reader.kill()
                reader.wait()
        assert errno.EAGAIN in outcomes and outcomes <= {0, errno.EAGAIN}, outcomes


@case
def the_size_is_the_drives_own_and_scaling_is_said() -> None:
    with ram_disk(64 * MIB) as dev:
        for words, size, said in (
            ([], 4 * GIB, ""),
            (["--size", "4G"], 4 * GIB, ""),
            (["--size", "4GB"], 4 * 10**9, "4.29 GB (4.00 GiB)"),
            (["--size", "1T"], TIB, "2.56e+04 %"),
        ):
            done = called("create", "own", "--backing", dev, "--format", "--profile", QUICK, *words)
            assert not done.returncode and said in done.stderr and bool(said) == bool(done.stderr), done
            found = int(run("blockdev", "--getsize64", "/dev/mapper/own"))
            david("remove", "own")
            assert found == size, (words, found, size)


@case
def bad_profiles_are_refused_with_place_and_reason() -> None:
    with loop_disk(4 * MIB) as dev:
        for words, expected in [
            ("1 mode=timing-accurate", "mode: without a profile there is no time: must be speedup"),
            ("1 mode=model-only", "mode: without a profile there is no time: must be speedup"),
            ("1 mode=", "mode: must be timing-accurate, speedup or model-only"),
            ("1 profile=", "profile: item "),
            ("1 profile=name=x;colour=red", "profile: item 2: "),
            ("1 profile=name=x;rpm=7200;rpm=5400", "profile: item 3: "),
            ("1 profile=name=x;kind=ssd;host=nvme;capacity=64MiB;gc_unit=1MiB;write_buffer=1MiB;"
             "power_loss_protection=yes;zone_size=4MiB", "profile: it is of a drive with zones: give zones="),
        ]:
            said = refused("bad", f"{dev} {words}")
            assert said.startswith(expected), f"'{words}': '{said}' instead of '{expected}'"
        with mapped("plain", f"0 2048 david {dev}"):
            assert "without a profile" in message_error("plain", "mode", "timing-accurate")
        # The command line knows the lines.
        text = open(PLAIN).read().replace("heads = 2", "heads = two")
        path = "/tmp/bad.profile"
        with open(path, "w") as file:
            file.write(text)
        line = text.splitlines().index("heads = two") + 1
        try:
            david("create", "bad", "--size", "1T", "--backing", dev, "--profile", path)
        except Failed as error:
            assert f"{path}, line {line}: " in str(error), error
        else:
            raise Failed("a bad profile was taken")
        for args, words in [
            (["--profile", "no-such-drive"], ["no-such-drive", "profiles/"]),
            (["--mode", "timing-accurate"], ["--profile"]),
            (["--profile-option", "rpm=5"], ["--profile"]),
            (["--profile", PLAIN, "--profile-option", "zone=1"], ["zone"]),
            (["--profile", PLAIN, "--profile-option", "rpm=slow"], ["--profile-option rpm=slow: "]),
        ]:
            try:
                david("create", "bad", "--size", "1T", "--backing", dev, *args)
            except Failed as error:
                missing = [word for word in words if word not in str(error)]
                assert not missing, f"{args}: {missing} missing in: {error}"
            else:
                raise Failed(f"{args} was taken")


@case
def the_printed_table_with_a_profile_recreates_the_device() -> None:
    with loop_disk(4 * MIB) as dev:
        with timed_disk("one", TIB, dev, QUICK, "--profile-option", "rpm=54321.5") as disk:
            table = run("dmsetup", "table", "one").strip()
            size = int(run("blockdev", "--getsize64", disk))
        assert size == TIB and " mode=timing-accurate " in table and ";rpm=54321.5" in table, table
        # Not scaled: the drive's own size is in it.
        assert "capacity=8388608" in table or "capacity=4GiB" in table, table
        with mapped("one", table):
            again = run("dmsetup", "table", "one").strip()
            listed = david("list")
        assert again == table, f"{again} instead of {table}"
        assert "profile=quick" in listed and "rpm" not in listed, listed


@case
def model_only_needs_room_and_an_empty_store() -> None:
    with loop_disk(16 * MIB) as dev, loop_disk(64 * MIB) as large:
        words = run("sed", "-e", "s/#.*//", PLAIN).split("\n")
        word = ";".join("".join(line.split()) for line in words if line.split())
        said = refused("bad", f"{dev} 2 mode=model-only profile={word}")
        assert said.startswith("mode: model-only needs a backing device at least as large as the target"), (
            said
        )
        with timed_disk("both", 64 * MIB, large, PLAIN, "--mode", "speedup"):
            run("dmsetup", "suspend", "both")
            assert "there must be no store" in message_error("both", "mode", "model-only")
            run("dmsetup", "resume", "both")
        options = ("--classify", "keep", "--mode", "speedup", "--option", "store=memory")
        with timed_disk("both", 64 * MIB, large, PLAIN, *options) as disk:
            assert "must be suspended" in message_error("both", "mode", "model-only")
            with raw.opened(disk) as fd:
                raw.write(fd, b"x" * 4096, 0)
            run("dmsetup", "suspend", "both")
            try:
                assert "must be empty" in message_error("both", "mode", "model-only")
                table = run("dmsetup", "table", "both").replace("mode=speedup", "mode=model-only").strip()
            finally:
                run("dmsetup", "resume", "both")
            # Nor by way of a reload.
            run("dmsetup", "load", "both", "--table", table)
            try:
                run("dmsetup", "resume", "both")
            except Failed:
                pass
            else:
                raise Failed("a table with model-only was resumed over a store with content")
            run("dmsetup", "load", "both", "--table", table.replace("mode=model-only", "mode=speedup"))
            run("dmsetup", "resume", "both")
            with raw.opened(disk) as fd:
                raw.must_read(fd, b"x" * 4096, 0)
                raw.discard(fd, 0, 64 * MIB)
            run("dmsetup", "suspend", "both")
            run("dmsetup", "message", "both", "0", "mode", "model-only")
            run("dmsetup", "resume", "both")
            data = raw.patterned(3, MIB)
            with raw.opened(disk) as fd, raw.opened(large) as beneath:
                raw.write(fd, data, MIB)
                raw.must_read(beneath, data, MIB)
                raw.zero_out(fd, 2 * MIB, MIB)
                raw.discard(fd, 4 * MIB, MIB)
            assert device_stats("both")["store_used"] == 0
        with timed_disk("both", 64 * MIB, dev, PLAIN, "--mode", "speedup", "-o", "store=memory"):
            run("dmsetup", "suspend", "both")
            said = message_error("both", "mode", "model-only")
            run("dmsetup", "resume", "both")
            assert "at least as large" in said, said


def read_here_and_there(disk: str, stops: Callable[[], bool]) -> None:
    rng = random.Random(7)
    with raw.opened(disk) as fd:
        while not stops():
            raw.read(fd, 4096, rng.randrange(GIB // 4096) * 4096)


def late_share(job: Callable[[], object]) -> float:
    """How late another disk's reads are delivered, as a share of the time that `job` takes."""
    with loop_disk(16 * MIB) as dev, timed_disk("bystander", GIB, dev, QUICK) as disk:
        with Processes(partial(read_here_and_there, disk)) as readers:
            while device_stats("bystander")["delivered"]["read"] < 20:
                time.sleep(0.01)
            before, start = device_stats("bystander"), time.monotonic_ns()
            rounds = 0
            while time.monotonic_ns() - start < 400_000_000 or rounds < 2:
                job()
                rounds += 1
            after, took = device_stats("bystander"), time.monotonic_ns() - start
            readers.finish()
    late = after["delivered_late_ns"]["read"] - before["delivered_late_ns"]["read"]
    reads = after["delivered"]["read"] - before["delivered"]["read"]
    assert reads, "nothing was read beside"
    each = took / rounds / 1e6
    say(f"{rounds} times {each:.1f} ms, and {reads} reads beside that, late for {late / took:.1%} of it")
    return late / took


def zeroed_and_discarded(fd: int) -> None:
    raw.zero_out(fd, 0, LARGE)
    raw.discard(fd, 0, LARGE)


LARGE = 4 * GIB - MIB
NEVER = f"media-error:one_in={1 << 40}"
# Half of the CPU's time may be somebody else's.
LATE = 0.25


def nobody_waits_for_what_takes_no_time() -> None:
    wrong = []
    with ExitStack() as stack:
        zeroes = ("--profile-option", "write_zeroes=yes", "--classify", "data")
        for kind, words in (
            ("blocks that may be bad", (PLAIN, *zeroes)),
            ("an SSD's whole map", (profile("flash"), "--profile-option", "sample=1", *fresh())),
        ):
            dev = stack.enter_context(loop_disk(16 * MIB))
            with timed_disk("large", 8 * GIB, dev, *words) as disk, raw.opened(disk) as fd:
                if kind.startswith("blocks"):
                    run("dmsetup", "message", "large", "0", "fault", "add", NEVER)
                share = late_share(partial(zeroed_and_discarded, fd))
                if share > LATE:
                    wrong.append(f"{kind}: late for {share:.0%} of the time")
    if wrong:
        raise Failed("; ".join(wrong))


def fresh() -> tuple[str, ...]:
    return ("--profile-option", "precondition=fresh", "--classify", "data")


@case
def a_large_discard_or_zeroes_keep_no_other_disk_waiting() -> None:
    """Nor a disk's own requests: the model's lock, with which interrupts are off, is held for a piece."""
    nobody_waits_for_what_takes_no_time()


@case(planted=True)
def a_large_discard_in_one_piece_is_found() -> None:
    with planted("whole"), must_fail():
        nobody_waits_for_what_takes_no_time()
