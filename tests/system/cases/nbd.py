# SPDX-License-Identifier: GPL-2.0
"""The fake disk served to another machine by programs that are made for it, and a file system that lives at
the other end: nbd-server, which reads and writes through the disk's page cache, and QEMU's, past it.

Client and server are the same machine here, and the file system is mounted on the network block device. To
the fake disk that is no different from two: no page that it sees belongs to a file of that file system.
(ways.py has a server that writes from a memfd, as a virtual machine would.)

DAVID_SCALE=full takes all file systems and both servers, and pulls the plug.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from cases import case
from helpers.filesystems import TOOLS, whole_check
from helpers.guest import SCRATCH, Failed, device_stats, dm, fake_disk, mounted, ram_disk, run
from helpers.manifest import manifest
from helpers.nbdserver import DEVICE, NAME, listens, program, wait_for
from helpers.planted import must_fail, planted
from helpers.trees import equal
from helpers.units import FULL, GIB, MIB
from helpers.workload import SCALES, Workload
from streams.scatter import fill, in_pieces, make_directories, scatter

SIZE, STORE = 16 * GIB, 192 * MIB
# What the client's kernel says of a device that is gone.
GONE = r"nbd0|BTRFS (error|warning|critical)|EXT4-fs|JBD2|XFS \(nbd"


@dataclass(frozen=True)
class Fs:
    squashed: float  # at least this part of all blocks that are written
    words: tuple[str, ...] = ()  # for mkfs
    options: str = ""  # of mount


# Of small files much is metadata. What is known of each is told in classifier/WHY.md.
FILE_SYSTEMS = {
    "ext4": Fs(0.6),
    "ext3": Fs(0.5),
    "xfs": Fs(0.6),
    "xfs with large directories": Fs(0.6, ("-n", "size=8192")),
    "btrfs": Fs(0.6),
    "btrfs without checksums": Fs(0.6, options="nodatasum"),
}


def make(name: str, device: str) -> None:
    run(*TOOLS[name.split()[0]].mkfs, *FILE_SYSTEMS[name].words, device)


def check(name: str, device: str) -> None:
    run(*whole_check(name.split()[0]), device)


@contextmanager
def nbd_server(disk: str) -> Iterator[tuple[subprocess.Popen[bytes], tuple[str, ...]]]:
    run("ip", "link", "set", "lo", "up")
    SCRATCH.mkdir(parents=True, exist_ok=True)
    config = f"{SCRATCH}/nbd-server.conf"
    with open(config, "w") as file:
        file.write(
            "[generic]\nuser = root\ngroup = root\nlistenaddr = 127.0.0.1\n"
            f"[{NAME}]\nexportname = {disk}\nflush = true\nfua = true\ntrim = true\n"
        )
    with program("nbd-server", "-d", "-C", config) as (server, log):
        wait_for("nbd-server", lambda: listens(10809), log)
        yield server, ("127.0.0.1",)


@contextmanager
def qemu(disk: str) -> Iterator[tuple[subprocess.Popen[bytes], tuple[str, ...]]]:
    socket = f"{SCRATCH}/qemu.sock"
    node = f"driver=host_device,node-name=d,filename={disk},cache.direct=on,discard=unmap"
    with program(
        "qemu-storage-daemon",
        *("--blockdev", node, "--nbd-server", f"addr.type=unix,addr.path={socket}"),
        *("--export", f"type=nbd,id=e,node-name=d,name={NAME},writable=on"),
    ) as (server, log):
        try:
            wait_for("qemu-storage-daemon", lambda: os.path.exists(socket), log)
            yield server, ("-u", socket)
        finally:
            if os.path.exists(socket):
                os.unlink(socket)


SERVERS = {"nbd-server": nbd_server, "qemu": qemu}


@contextmanager
def served(disk: str, by: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The disk as its client sees it, and the server."""
    subprocess.run(["modprobe", "nbd"], capture_output=True, env=dm.environment())
    with SERVERS[by](disk) as (server, where):
        run("nbd-client", "-N", NAME, "-b", "4096", *where, DEVICE)
        try:
            yield DEVICE, server
        finally:
            run("nbd-client", "-d", DEVICE)
            # The next one to look at it shall not see what this one remembers.
            run("blockdev", "--flushbufs", DEVICE)
    run("blockdev", "--flushbufs", disk)


def decided(name: str) -> dict[str, int]:
    """The figures of what waited to be decided, when nothing does any more."""
    for _ in range(100):
        figures = device_stats(name)["unclassified"]
        if not figures["now"]:  # type: ignore[index]
            break
        time.sleep(0.02)
    return figures  # type: ignore[return-value]


def squashed_share(name: str) -> float:
    """At once and later, of all that was written and is not constant."""
    later = decided(name)["data"]
    written: dict[str, int] = device_stats(name)["written"]  # type: ignore[assignment]
    return (written["squashed"] + later) / max(written["squashed"] + written["kept"], 1)


def looked_at(device: str, name: str, before: list[str]) -> None:
    """The checker, and every name."""
    check(name, device)
    with mounted(device, name.split()[0], FILE_SYSTEMS[name].options) as top:
        equal(name, before, manifest(top, content=False))
        if name == "btrfs":
            run("btrfs", "scrub", "start", "-B", top)
    check(name, device)


def a_life(name: str, by: str) -> None:
    fs = FILE_SYSTEMS[name]
    with ram_disk(STORE) as dev, fake_disk("served", SIZE, dev, "--classify", "implicit") as disk:
        with served(disk, by) as (device, _):
            make(name, device)
            with mounted(device, name.split()[0], fs.options) as top:
                Workload(top, 71, SCALES["check" if FULL else "tiny"]).run()
                before = manifest(top, content=False)
        share = squashed_share("served")
        if share < fs.squashed:
            raise Failed(f"{name} by {by}: only {share:.1%} of the blocks written are squashed")
        with served(disk, by) as (device, _):
            looked_at(device, name, before)
        # And on the machine that serves it.
        check(name, disk)


@case(seldom=True)
def a_network_clients_file_system_is_told_apart() -> None:
    for name in FILE_SYSTEMS if FULL else ("ext4",):
        for by in SERVERS if FULL else ("nbd-server",):
            a_life(name, by)


@case(planted=True)
def a_mount_is_followed_whether_or_not_the_worker_is_slow() -> None:
    """The log has to be known when the mount begins, or the order of writes proves nothing until the next."""
    with planted("slow"):
        a_life("ext4", "nbd-server")
    with planted("hasty"), must_fail():
        a_life("ext4", "nbd-server")


@case
def pages_of_btrfs_by_a_server_are_dropped_after_the_next_commit() -> None:
    """nbd-server writes page by page, and btrfs's nodes are larger: only their first pages have a name."""
    megabytes = 192 if FULL else 24
    noise = random.Random(73).randbytes(MIB)
    for name in ("btrfs", "btrfs without checksums") if FULL else ("btrfs",):
        fs = FILE_SYSTEMS[name]
        with (
            ram_disk(STORE) as dev,
            fake_disk("served", SIZE, dev, "--classify", "implicit") as disk,
            served(disk, "nbd-server") as (device, _),
        ):
            make(name, device)
            kept = device_stats("served")["evidence"]["unknown"]  # type: ignore[index]
            with mounted(device, "btrfs", fs.options) as top:
                for i in range(megabytes):
                    with open(f"{top}/{i % 5}", "ab") as file:
                        file.write(noise[i * 4096 :] + noise[: i * 4096])
                    os.mkdir(f"{top}/directory-{i}")
                    if i % 8 == 0:
                        run("sync", "-f", top)
                before = manifest(top, content=False)
            figures = decided("served")
            # What is not known to be metadata, and was not dropped in the end.
            stats = device_stats("served")
            kept = stats["evidence"]["unknown"] - kept - figures["data"]  # type: ignore[index]
            dropped = stats["written"]["squashed"] + figures["data"]  # type: ignore[index]
            if kept > 0.001 * dropped or dropped < 0.999 * megabytes * 256 or not figures["data"]:
                raise Failed(f"{name}: {dropped} blocks dropped, {kept} not: {figures}")
            looked_at(device, name, before)


@case(complaints=GONE, full=True)
def a_server_that_dies_costs_its_client_nothing_that_was_synced() -> None:
    """The client is cut off while it is mounted; another server takes over, and the file system recovers."""
    for name in ("ext4", "ext3", "xfs", "btrfs"):
        for by in SERVERS:
            the_server_dies(name, by)


def the_server_dies(name: str, by: str) -> None:
    fs = FILE_SYSTEMS[name]
    with ram_disk(STORE) as dev, fake_disk("served", SIZE, dev, "--classify", "implicit") as disk:
        with served(disk, by) as (device, server):
            make(name, device)
            with mounted(device, name, fs.options) as top:
                os.mkdir(f"{top}/tree")
                Workload(f"{top}/tree", 72, SCALES["tiny"]).run()
                os.sync()
                before = manifest(f"{top}/tree", content=False)
                server.kill()
                server.wait()
        run("blockdev", "--flushbufs", disk)
        with served(disk, by) as (device, _):
            # The log is replayed by the kernel.
            with mounted(device, name, fs.options) as top:
                after = manifest(f"{top}/tree", content=False)
            equal(f"{name} by {by}", before, after)
            check(name, device)


def synced_data(top: str, megabytes: int) -> float:
    """How much of what is appended, and synced again and again, is squashed."""
    noise = random.Random(74).randbytes(MIB)
    before = device_stats("served")["written"]["squashed"]  # type: ignore[index]
    with open(f"{top}/data", "ab") as file:
        for i in range(megabytes):
            file.write(noise)
            if i % 4 == 0:
                os.fdatasync(file.fileno())
    run("sync", "-f", top)
    return (device_stats("served")["written"]["squashed"] - before) / (megabytes * 256)  # type: ignore[index]


def churn(top: str, names: int) -> None:
    """Some megabytes of log."""
    for number in range(names):
        os.mknod(f"{top}/churn-{number}-{'n' * 100}")
        if number % 500 == 0:
            os.sync()
    for number in range(names):
        os.unlink(f"{top}/churn-{number}-{'n' * 100}")


@case(complaints=GONE, full=True)
def the_log_of_xfs_is_followed_through_a_servers_page_cache() -> None:
    """Records reach the disk while they are still being copied to the cache, and the log goes round."""
    for size in (8192, 65536):
        for by in SERVERS:
            large_directories(size, by)


def large_directories(size: int, by: str) -> None:
    # A small log, and nothing that keeps space back in one piece.
    words = ("-l", "size=16m", "--unsupported", "-m", "reflink=0,rmapbt=0,finobt=0", "-n", f"size={size}")
    check = ("xfs_repair", "-n")
    with ram_disk(STORE) as dev, fake_disk("served", 600 * MIB, dev, "--classify", "implicit") as disk:
        with served(disk, by) as (device, server):
            run("mkfs.xfs", "-q", "-f", *words, device)
            with mounted(device, "xfs") as top:
                make_directories(top, 4)
                shares = [synced_data(top, 16)]
                for _ in range(8):
                    churn(top, 3000)
                    shares.append(synced_data(top, 8))
                # The sectors that a page at the log's end holds may be of two rounds.
                if sum(share < 0.99 for share in shares[1:]) > 1:
                    raise Failed(f"{by}, {size}: squashed of the data: {shares}")
                scatter(top, 3000)
                fill(top, 4, 0, 700)
                if sum(in_pieces(f"{top}/directory-{i}", size) for i in range(4)) < 30:
                    raise Failed("too few pieces of directory blocks")
                # xfs cannot recover these: they are to be home.
                run("xfs_freeze", "-f", top)
                run("xfs_freeze", "-u", top)
                before = manifest(top, content=False)
                server.kill()
                server.wait()
        run("blockdev", "--flushbufs", disk)
        with served(disk, by) as (device, _):
            with mounted(device, "xfs") as top:
                equal(f"{by}, {size}", before, manifest(top, content=False))
            run(*check, device)
        run(*check, disk)
