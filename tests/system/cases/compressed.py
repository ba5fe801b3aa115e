# SPDX-License-Identifier: GPL-2.0
"""f2fs with compression. A cluster that is compressed is written from pages that name the file but are none
of its cache: kept, as else it could not be read at all. So it reads back exactly, wherever it came from:
first written, partly overwritten, moved by garbage collection, rolled forward after a cut, compressed on
demand. A cluster that is not compressed is data like any other.

DAVID_SCALE=full: every algorithm, large clusters, encryption besides, every mode.
"""

from __future__ import annotations

import fcntl
import os
import random
import struct
from dataclasses import dataclass
from pathlib import Path

from cases import case
from helpers.cutoff import Cut
from helpers.f2fs import collect_garbage
from helpers.fscrypt import FS_COMPR_FL, add_key, encrypt, set_flags
from helpers.guest import Complaints, Failed, device_stats, fake_disk, mounted, ram_disk, run
from helpers.lifekinds import FILE_SYSTEMS
from helpers.manifest import manifest
from helpers.planted import must_fail, planted
from helpers.raw import opened
from helpers.trees import equal
from helpers.units import FULL, GIB, MIB

SIZE, NAME = 1 * GIB, "compressed"
MODES = ("explicit", "auto", "implicit")
FILES = 120 if FULL else 24
CRASH = r"F2FS-fs|I/O error|lost async page write"
GET_COMPRESS_BLOCKS, RELEASE_COMPRESS_BLOCKS, RESERVE_COMPRESS_BLOCKS = 0x8008F511, 0x8008F512, 0x8008F513
DECOMPRESS_FILE, COMPRESS_FILE = 0xF517, 0xF518


@dataclass(frozen=True)
class Way:
    """How it is mounted; a cluster has 2^log_size pages."""

    algorithm: str
    log_size: int = 2
    options: str = ""
    directory: str = "compressed"  # "secret" is encrypted as well

    @property
    def mount(self) -> str:
        words = f"compress_algorithm={self.algorithm},compress_log_size={self.log_size}"
        return ",".join(filter(None, (words, self.options)))

    @property
    def cluster(self) -> int:
        return 4096 << self.log_size

    @property
    def files(self) -> int:
        return min(FILES, 48 * MIB // self.cluster)


WAYS = (
    Way("lz4", 2, "compress_cache"),
    Way("zstd", 4, "compress_chksum,compress_cache", "secret"),
    Way("lzo", 3, "mode=lfs,fsync_mode=strict"),
    Way("lzo-rle", 2, "compress_extension=txt,nocompress_extension=raw"),
    Way("lz4", 8, "compress_chksum"),
)


def packable(seed: int, size: int) -> bytes:
    """What shrinks to less than half, and is no two blocks the same."""
    rng = random.Random(seed)
    return b"".join(rng.randbytes(96) + bytes(160) for _ in range(-(-size // 256)))[:size]


class Files:
    """What was written to compressed files, cluster by cluster: only of whole ones is content kept."""

    def __init__(self, way: Way, directory: str) -> None:
        self.way = way
        self.directory = directory
        self.content: dict[str, bytearray] = {}
        self.noise: set[tuple[str, int]] = set()  # clusters that cannot be compressed

    def put(self, name: str, data: bytes, offset: int = 0, sync: bool = False) -> None:
        content = self.content.setdefault(name, bytearray())
        content[offset : offset + len(data)] = data
        with opened(f"{self.directory}/{name}", os.O_CREAT | os.O_RDWR) as fd:
            os.pwrite(fd, data, offset)
            if sync:
                os.fsync(fd)

    def put_noise(self, name: str, number: int) -> None:
        """A cluster that stays as it is, and is dropped."""
        self.put(name, random.Random(number).randbytes(self.way.cluster), number * self.way.cluster)
        self.noise.add((name, number))

    def unlink(self, name: str) -> None:
        os.unlink(f"{self.directory}/{name}")
        del self.content[name]

    def check(self, when: str) -> int:
        """Every file can be read, and of whole clusters that were compressed comes what was written."""
        size, checked = self.way.cluster, 0
        for name, content in self.content.items():
            found = Path(f"{self.directory}/{name}").read_bytes()
            if len(found) != len(content):
                raise Failed(f"{when}: {name} has {len(found)} bytes instead of {len(content)}")
            for number in range(len(content) // size):
                if (name, number) in self.noise:
                    continue
                place = slice(number * size, number * size + size)
                if found[place] != content[place]:
                    raise Failed(f"{when}: cluster {number} of {name} is not what was written")
                checked += 1
        return checked


def blocks_saved(path: str) -> int:
    with opened(path, os.O_RDONLY) as fd:
        return int(struct.unpack("Q", fcntl.ioctl(fd, GET_COMPRESS_BLOCKS, bytes(8)))[0])


def on_file(path: str, command: int) -> None:
    with opened(path, os.O_RDWR) as fd:
        fcntl.ioctl(fd, command, *([bytes(8)] if command & 0x80000000 else []))


def fill(files: Files) -> None:
    """Of several clusters each; with noise in between, an end that is no whole cluster, and changes. Beside
    them is data that is dropped, so that garbage collection finds segments that are full, and partly free.
    """
    size = files.way.cluster
    for i in range(files.way.files):
        name = f"{i}.txt"
        files.put(name, packable(i, size * (1 + i % 4) + i * 100 % size))
        if i % 5 == 0:
            files.put_noise(name, 0)
        Path(f"{files.directory}/../data-{i}").write_bytes(random.Random(i).randbytes(4 * MIB // FILES))
        os.sync()
    os.sync()
    for i in range(0, files.way.files, 3):
        files.put(f"{i}.txt", packable(1000 + i, 1000), size - 500)  # over the edge of two clusters
    os.sync()
    for i in range(1, files.way.files, 3):
        files.unlink(f"{i}.txt")
        os.unlink(f"{files.directory}/../data-{i}")
    os.sync()


def live_and_crash(way: Way, classify: str) -> None:
    when = f"{way.mount} {way.directory} {classify}"
    check = FILE_SYSTEMS["f2fs"].check
    with ram_disk(192 * MIB) as dev, fake_disk(NAME, SIZE, dev, "--classify", classify) as disk:
        run("mkfs.f2fs", "-q", "-f", "-O", "extra_attr,compression,encrypt", disk)
        cut = Cut(NAME, Complaints())
        with mounted(disk, "f2fs", way.mount) as top:
            files = Files(way, f"{top}/{way.directory}")
            os.mkdir(files.directory)
            set_flags(files.directory, FS_COMPR_FL)
            if way.directory == "secret":
                encrypt(files.directory, add_key(top))
            fill(files)
            if not blocks_saved(f"{files.directory}/2.txt"):
                raise Failed(f"{when}: nothing is compressed")
            before = manifest(top)
        run(*check, disk)
        with mounted(disk, "f2fs", way.mount) as top:
            if way.directory == "secret":
                add_key(top)
            equal(f"{when}, mounted again", before, manifest(top))
            if files.check(f"{when}, mounted again") < way.files // 2:
                raise Failed("too few clusters to tell")
            if not collect_garbage(top, disk):
                raise Failed(f"{when}: no garbage was collected")
            before = manifest(top)
            os.sync()
            files.put("2.txt", packable(77, 4 * way.cluster), 3 * way.cluster, sync=True)
            files.put("late.txt", packable(78, 2 * way.cluster), sync=True)
            cut.cut()
        cut.restore()
        with mounted(disk, "f2fs", way.mount) as top:
            if way.directory == "secret":
                add_key(top)
            files.check(f"{when}, moved and cut")
            files.unlink("late.txt")
            os.truncate(f"{files.directory}/2.txt", 3 * way.cluster)
            collect_garbage(top, disk)
        run(*check, disk)
        written = device_stats(NAME)["written"]
        squashed, kept = written["squashed"], written["kept"]  # type: ignore[index]
        if bool(squashed) == (classify == "implicit"):
            raise Failed(f"{when}: {squashed} blocks squashed, {kept} kept")


@case(complaints=CRASH)
def compressed_files_of_f2fs_read_back_exactly() -> None:
    for way in WAYS if FULL else WAYS[:1]:
        for classify in MODES if FULL else MODES[:1]:
            live_and_crash(way, classify)


@case(complaints=CRASH, planted=True)
def a_planted_bug_is_found_by_compressed_content() -> None:
    with planted("compressed"), must_fail():
        live_and_crash(WAYS[0], "explicit")


@case
def files_compressed_on_demand_read_back_exactly() -> None:
    """Released blocks cannot be written again until they are reserved; what is decompressed becomes data."""
    way = Way("lz4", 2, "compress_mode=user")
    for classify in MODES if FULL else MODES[1:2]:
        with ram_disk(64 * MIB) as dev, fake_disk(NAME, SIZE, dev, "--classify", classify) as disk:
            run("mkfs.f2fs", "-q", "-f", "-O", "extra_attr,compression", disk)
            with mounted(disk, "f2fs", way.mount) as top:
                files = Files(way, f"{top}/compressed")
                os.mkdir(files.directory)
                set_flags(files.directory, FS_COMPR_FL)
                for i in range(12):
                    path = f"{files.directory}/{i}"
                    files.put(f"{i}", packable(i, 20 * way.cluster), sync=True)
                    if blocks_saved(path):
                        raise Failed("compressed without demand")
                    on_file(path, COMPRESS_FILE)
                    if not blocks_saved(path):
                        raise Failed("not compressed on demand")
                    if i % 3 == 0:
                        on_file(path, RELEASE_COMPRESS_BLOCKS)
                before = manifest(top)
            run(*FILE_SYSTEMS["f2fs"].check, disk)
            with mounted(disk, "f2fs", way.mount) as top:
                equal(f"{classify}, mounted again", before, manifest(top))
                files.check(f"{classify}, compressed on demand")
                on_file(f"{files.directory}/0", RESERVE_COMPRESS_BLOCKS)
                for i in (0, 1, 2):
                    on_file(f"{files.directory}/{i}", DECOMPRESS_FILE)
                    files.content.pop(str(i))
            with mounted(disk, "f2fs", way.mount) as top:
                equal(f"{classify}, decompressed", before, manifest(top))
                files.check(f"{classify}, the others decompressed")
            run(*FILE_SYSTEMS["f2fs"].check, disk)
