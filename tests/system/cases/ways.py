# SPDX-License-Identifier: GPL-2.0
"""Other ways in than a file system mounted on the disk itself: a network block device, a guest's memory
that is a memfd, swap.

The server of the network block device is this program: it reads and writes the fake disk with direct I/O from
a memfd, as a virtual machine's would whose memory is one. So all owners of pages are its own, and tell
nothing of the file system on the client's side.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cases import case
from helpers import raw
from helpers.guest import SCRATCH, Failed, attached, device_stats, fake_disk, mounted, ram_disk, run
from helpers.manifest import difference, manifest
from helpers.units import FULL, GIB, MIB
from helpers.workload import SCALES, Workload

NBD_SET_SOCK, NBD_SET_BLKSIZE, NBD_DO_IT, NBD_CLEAR_SOCK = 0xAB00, 0xAB01, 0xAB03, 0xAB04
NBD_SET_SIZE_BLOCKS, NBD_DISCONNECT, NBD_SET_FLAGS = 0xAB07, 0xAB08, 0xAB0A
NBD_FLAGS = 1 | 4 | 32  # there are flags; flush; trim
READ, WRITE, DISCONNECT, FLUSH, TRIM = 0, 1, 2, 3, 4
MADV_PAGEOUT = 21


@contextmanager
def guest_memory(size: int) -> Iterator[memoryview]:
    """Pages of a memfd."""
    fd = os.memfd_create("guest")
    os.ftruncate(fd, size)
    with mmap.mmap(fd, size) as memory:
        os.close(fd)
        view = memoryview(memory)
        yield view
        view.release()


def receive(peer: socket.socket, view: memoryview) -> None:
    while view:
        done = peer.recv_into(view)
        if not done:
            raise EOFError
        view = view[done:]


def serve(peer: socket.socket, disk: str) -> None:
    """One request after the other, until told to disconnect."""
    head = bytearray(28)
    with raw.opened(disk) as fd, guest_memory(4 * MIB) as memory:
        while True:
            try:
                receive(peer, memoryview(head))
            except EOFError:
                return
            _, kind, handle, offset, length = struct.unpack(">II8sQI", head)
            data = memory[: 0 if kind == TRIM else length]
            error = 0
            try:
                if kind == WRITE:
                    receive(peer, data)
                    os.pwrite(fd, data, offset)
                elif kind == READ:
                    os.preadv(fd, [data], offset)
                elif kind == FLUSH:
                    os.fsync(fd)
                elif kind == TRIM:
                    raw.discard(fd, offset, length)
                else:
                    return
            except OSError as wrong:
                error = wrong.errno or errno.EIO
            peer.sendall(struct.pack(">II8s", 0x67446698, error, handle))
            if kind == READ and not error:
                peer.sendall(data)


def child(work: Callable[..., object], *args: object) -> int:
    """A process that does this and nothing else: it must not come back into what its parent was doing."""
    pid = os.fork()
    if not pid:
        status = 1
        try:
            work(*args)
            status = 0
        finally:
            os._exit(status)
    return pid


@contextmanager
def over_nbd(disk: str, size: int) -> Iterator[str]:
    """The disk as a network block device of this same machine."""
    device = "/dev/nbd0"
    if not os.path.exists(device):
        raise Failed(f"no {device}: the kernel has no BLK_DEV_NBD")
    ours, theirs = socket.socketpair()
    server = child(serve, theirs, disk)
    theirs.close()
    fd = os.open(device, os.O_RDWR)
    fcntl.ioctl(fd, NBD_SET_BLKSIZE, 4096)
    fcntl.ioctl(fd, NBD_SET_SIZE_BLOCKS, size // 4096)
    fcntl.ioctl(fd, NBD_SET_FLAGS, NBD_FLAGS)
    fcntl.ioctl(fd, NBD_SET_SOCK, ours.fileno())
    client = child(fcntl.ioctl, fd, NBD_DO_IT)
    ours.close()
    for _ in range(50):
        if os.path.exists("/sys/block/nbd0/pid"):
            break
        time.sleep(0.02)
    try:
        yield device
    finally:
        fcntl.ioctl(fd, NBD_DISCONNECT)
        os.waitpid(client, 0)
        fcntl.ioctl(fd, NBD_CLEAR_SOCK)
        os.close(fd)
        os.waitpid(server, 0)


def squashed_share(name: str) -> float:
    written = device_stats(name)["written"]
    return written["squashed"] / max(written["squashed"] + written["kept"], 1)  # type: ignore[index]


def live(disk: str, seed: int, content: bool) -> list[str]:
    with mounted(disk, "ext4") as top:
        Workload(top, seed, SCALES["tiny"]).run()
        return manifest(top, content=content)


@case
def a_file_system_of_a_network_client_is_told_apart() -> None:
    """implicit sees the client's data; explicit knows nothing of it, and keeps it all."""
    size = 8 * GIB
    # The other one is nbd.py's in short.
    for classify in ("implicit", "auto") if FULL else ("auto",):
        with ram_disk(128 * MIB) as dev, fake_disk("served", size, dev, "--classify", classify) as disk:
            keeps = classify != "implicit"
            with over_nbd(disk, size) as device:
                run("mkfs.ext4", "-q", device)
                before = live(device, 31, keeps)
                run("e2fsck", "-fn", device)
                with mounted(device, "ext4") as top:
                    wrong = difference(before, manifest(top, content=keeps))
                assert not wrong, "\n".join(wrong)
            share = squashed_share("served")
            assert share == 0 if keeps else share > 0.6, f"{classify}: {share:.0%} squashed"
            # And on this host.
            run("e2fsck", "-fn", disk)


@case
def metadata_written_from_a_memfd_is_kept() -> None:
    """As a guest writes its disk: all of an image, with direct I/O from memory that is a file."""
    size = GIB
    image = SCRATCH / "image"
    SCRATCH.mkdir(parents=True, exist_ok=True)
    with open(image, "wb") as file:
        file.truncate(size)
    try:
        run("mkfs.ext4", "-q", "-F", str(image))
        with attached(str(image)) as loop:
            before = live(loop, 32, True)
        for classify in ("explicit", "implicit"):
            with ram_disk(128 * MIB) as dev, fake_disk("guest", size, dev, "--classify", classify) as disk:
                with open(image, "rb", buffering=0) as file, guest_memory(MIB) as memory:
                    with raw.opened(disk) as fd:
                        for start in range(0, size, MIB):
                            try:
                                start = os.lseek(file.fileno(), start, os.SEEK_DATA) // MIB * MIB
                            except OSError:  # ENXIO: a hole up to the end
                                break
                            os.preadv(file.fileno(), [memory], start)
                            os.pwrite(fd, memory, start)
                run("e2fsck", "-fn", disk)
                with mounted(disk, "ext4") as top:
                    wrong = difference(before, manifest(top, content=True))
                assert not wrong, f"{classify}: " + "\n".join(wrong)
    finally:
        image.unlink()


@case
def direct_io_from_a_memfd_into_a_mounted_file_is_data() -> None:
    with ram_disk(128 * MIB) as dev, fake_disk("direct", 4 * GIB, dev) as disk, guest_memory(MIB) as memory:
        memory[:] = raw.patterned(33, MIB)
        run("mkfs.ext4", "-q", disk)
        with mounted(disk, "ext4") as top:
            squashed = device_stats("direct")["written"]["squashed"]  # type: ignore[index]
            fd = os.open(f"{top}/file", os.O_CREAT | os.O_RDWR | os.O_DIRECT)
            for start in range(0, 16 * MIB, MIB):
                os.pwrite(fd, memory, start)
            os.close(fd)
            squashed = device_stats("direct")["written"]["squashed"] - squashed  # type: ignore[index]
            assert squashed == 16 * MIB // 4096, f"{squashed} blocks squashed"
        run("e2fsck", "-fn", disk)


def swap_out_and_in(where: str) -> None:
    """Anonymous memory goes out to swap, and comes back as it was."""
    size = 6 * MIB
    data = raw.patterned(34, MIB)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    run("swapon", where)
    try:
        with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
            for start in range(0, size, MIB):
                memory[start : start + MIB] = data
                memory[start : start + 8] = start.to_bytes(8, "little")
            address = ctypes.c_char.from_buffer(memory)
            if libc.madvise(ctypes.addressof(address), size, MADV_PAGEOUT):
                raise Failed(f"madvise: {errno.errorcode[ctypes.get_errno()]}")
            del address
            used = int(open("/proc/swaps").read().splitlines()[-1].split()[3])
            assert used > size // 2048, f"only {used} KiB went to swap"
            for start in range(0, size, MIB):
                assert memory[start : start + 8] == start.to_bytes(8, "little"), f"byte {start} differs"
                assert memory[start + 8 : start + MIB] == data[8:], f"the MiB at {start} differs"
    finally:
        run("swapoff", where)


@case
def what_is_swapped_out_comes_back_from_the_disk_itself() -> None:
    for classify in ("auto", "implicit"):
        with ram_disk(128 * MIB) as dev, fake_disk("swap", GIB, dev, "--classify", classify) as disk:
            run("mkswap", disk)
            swap_out_and_in(disk)


@case(seldom=True)
def what_is_swapped_out_comes_back_from_a_file() -> None:
    for classify in ("auto", "implicit"):
        with ram_disk(128 * MIB) as dev, fake_disk("swap", GIB, dev, "--classify", classify) as disk:
            run("mkfs.ext4", "-q", disk)
            with mounted(disk, "ext4") as top:
                path = f"{top}/swap"
                with open(path, "wb") as file:
                    os.fchmod(file.fileno(), 0o600)
                    for _ in range(12):
                        file.write(bytes(MIB))
                run("mkswap", path)
                os.sync()
                swap_out_and_in(path)
            run("e2fsck", "-fn", disk)
