# SPDX-License-Identifier: GPL-2.0
"""A virtual machine with a kernel of its own, a stock one, whose disk is the fake one: what
classify=implicit is for.

QEMU runs inside the uml lab, without KVM. Its machine has everything in an initramfs, and does what
vmlife.py says: ext4, xfs and btrfs on partitions, a workload on each; it is killed, boots again and
recovers. Then this side, which saw nothing but requests, checks and mounts them.

What was kept of a file of noise reads back as it was written, and what was dropped does not: that is how
the share of data dropped is seen.

`make guest`, as a boot takes a while. DAVID_SCALE=full kills it more often, and asks whether all this can
fail.
"""

from __future__ import annotations

import json
import random
import shutil
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from davidlib.filesystems import FILE_SYSTEMS
from davidlib.lab import icount, kernels

import vmlife
from cases import case
from helpers.filesystems import whole_check
from helpers.guest import (
    COMPLAINTS,
    HARMLESS,
    SCRATCH,
    TREE,
    Failed,
    device_stats,
    fake_disk,
    linear_disk,
    mapped,
    mounted,
    ram_disk,
    run,
    say,
)
from helpers.manifest import manifest
from helpers.trees import equal
from helpers.units import FULL, GIB, MIB

SIZE, STORE = 16 * GIB, 256 * MIB
NAME = "guests"
# How the machine's disk goes to the fake one, and which stock kernel it has.
PAST, THROUGH = ("none", "6.1"), ("writeback", "6.12")
MODULES = ["virtio_pci", "virtio_blk", "ext4", "xfs", "btrfs", "crc32c_generic"]
PYTHON = Path("/usr/bin/python3")
BLOCKS = vmlife.NOISE // 4096
LIMIT = 900  # seconds of a machine's life
# As in the vm lab: on a busy host one of some dozens never comes up.
BOOT_LIMIT, BOOTS = 200, 3
# In the uml lab any page may be a mapping of its own on the host, and QEMU dies with more than the 65,530
# that vm.max_map_count allows, as it does at times with 512 MB. With 192 the machine is too small.
MEGABYTES = "256"
OPTIONS = "console=ttyS0 loglevel=5 panic=-1 nokaslr mitigations=off no5lvl "
OPTIONS += "rcupdate.rcu_cpu_stall_timeout=120 watchdog_thresh=60"


@cache
def image(kernel: str) -> Path:
    """Unpacked: to the machine that takes longer than all the rest of its boot."""
    unpacked = SCRATCH / f"vmlinux-{kernel}"
    data = kernels.vmlinuz(kernel).read_bytes()
    # The kernel's Documentation/arch/x86/boot.rst; the last four bytes are the size unpacked.
    offset, length = struct.unpack_from("<II", data, 0x248)
    begin = (data[0x1F1] + 1) * 512 + offset
    payload = data[begin : begin + length - 4]
    program = "xz" if payload.startswith(b"\xfd7zXZ\0") else "zstd"
    with open(unpacked, "wb") as file:
        subprocess.run([program, "-dc"], input=payload, stdout=file, check=True)
    return unpacked


@cache
def initramfs(kernel: str) -> Path:
    root, archive = SCRATCH / "initramfs", SCRATCH / f"initramfs-{kernel}"
    here = TREE / "tests/system"
    root.mkdir(parents=True)
    shutil.copy(here / "vm-init", root / "init")
    icount.add_file(root, Path("/usr/bin/busybox"), Path("/bin/busybox"))
    for fs in vmlife.MADE:
        mkfs, *_ = FILE_SYSTEMS[fs].mkfs
        program = shutil.which(mkfs)
        if not program:
            raise Failed(f"no program makes {fs}: run `tools/setup packages`")
        icount.add_file(root, Path(program), Path("/bin") / mkfs)
    icount.add_file(root, PYTHON)
    # What the program there imports, found by importing it.
    imported = "import sys, vmlife; print(*(getattr(m, '__file__', '') for m in sys.modules.values()))"
    for name in run(str(PYTHON), "-S", "-c", imported, env={"PYTHONPATH": str(here)}).split():
        path = Path(name)
        icount.add_file(root, path, "/" / path.relative_to(here) if path.is_relative_to(here) else None)
    icount.add_modules(root, kernel, MODULES)
    icount.pack(root, archive)
    shutil.rmtree(root)
    return archive


class Machine:
    """One boot. Its answers stand in a file that it has for its second disk."""

    def __init__(self, disk: str, way: tuple[str, str], life: str) -> None:
        cache, kernel = way
        files = ["-kernel", str(image(kernel)), "-initrd", str(initramfs(kernel))]
        self.life, self.start = life, time.monotonic()
        self.answers, self.console = f"{SCRATCH}/answers", f"{SCRATCH}/console"
        with open(self.answers, "wb") as file:
            file.truncate(16 * MIB)
        command = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
        command += ["-machine", "q35", "-accel", "tcg,tb-size=16", "-cpu", "max", "-m", MEGABYTES]
        command += [*files, "-append", f"{OPTIONS} life={life}"]
        for file, how in ((disk, f"cache={cache},discard=unmap"), (self.answers, "cache=writeback")):
            command += ["-drive", f"file={file},format=raw,if=virtio,aio=threads,{how}"]
        with open(self.console, "wb") as console:
            self.qemu = subprocess.Popen([*command, "-serial", "stdio"], stdout=console, stderr=console)

    def log(self) -> str:
        with open(self.console, errors="replace") as file:
            return file.read()

    def kill(self) -> None:
        self.qemu.kill()
        self.qemu.wait()
        lines = self.log().splitlines()
        if wrong := [text for text in lines if COMPLAINTS.search(text) and not HARMLESS.search(text)]:
            raise Failed("the machine's kernel complains:\n" + "\n".join(wrong))

    def told(self) -> list[dict[str, Any]]:
        data = b""
        with open(self.answers, "rb") as file:
            while b"\0" not in data and (piece := file.read(1 << 16)):
                data += piece
        return [json.loads(line) for line in data.split(b"\0")[0].split(b"\n")[:-1]]

    def wait(self, state: str, limit: float) -> bool:
        """Until it says that it is in that state."""
        while True:
            ended = self.qemu.poll() is not None
            seconds = time.monotonic() - self.start
            if any(answer.get("state") == state for answer in self.told()):
                say(f"vmguest: {self.life}: {state} after {seconds:.1f} s")
                return True
            if ended or seconds > limit:
                return False
            time.sleep(0.5)

    def trees(self, state: str) -> dict[str, dict[str, list[str]]]:
        """What it has told of each file system until then."""
        if not self.wait(state, LIMIT):
            # 0 is a reset without a word, such as a triple fault; negative is a signal to QEMU itself.
            end = f"QEMU's exit status {self.qemu.poll()}, and this kernel said: {run('dmesg')[-1000:]}"
            raise Failed(f"its {self.life} life never came to '{state}':\n{self.log()[-1500:]}\n{end}")
        trees: dict[str, dict[str, list[str]]] = {}
        for answer in self.told():
            if "fs" in answer:
                trees.setdefault(answer.pop("fs"), {}).update(answer)
        return trees


@contextmanager
def machine(disk: str, way: tuple[str, str], life: str) -> Iterator[Machine]:
    for _ in range(BOOTS):
        it = Machine(disk, way, life)
        try:
            if it.wait("up", BOOT_LIMIT):
                yield it
                return
        finally:
            it.kill()
    raise Failed(f"the machine never came up, {BOOTS} times over:\n{it.log()[-1500:]}")


def kept_of_noise(fs: str, path: str) -> int:
    """Blocks that read back as they were written."""
    kept = 0
    with open(path, "rb") as file:
        for piece in vmlife.noise(fs):
            found = file.read(len(piece))
            if len(found) != len(piece):
                raise Failed(f"{fs}: {path} is too short")
            kept += sum(found[at : at + 4096] == piece[at : at + 4096] for at in range(0, len(piece), 4096))
    return kept


def looked_at(fs: str, disk: str, place: tuple[int, int], told: list[str]) -> int:
    """By this side: the checker, every name, and the blocks of noise that were kept."""
    with mapped("part", f"0 {place[1] >> 9} linear {disk} {place[0] >> 9}") as device:
        run(*whole_check(fs), device)
        with mounted(device, fs) as top:
            equal(fs, told, manifest(top))
            kept = kept_of_noise(fs, f"{top}/noise")
        run(*whole_check(fs), device)
    return kept


def a_life(disk: str, way: tuple[str, str], kills: int = 1) -> dict[str, int]:
    """Returns how many blocks of noise were kept."""
    when = random.Random(7)
    expected: dict[str, list[str]] = {}
    for life in ("first", *["again"] * (kills - 1), "last"):
        with machine(disk, way, life) as it:
            trees = it.trees("ends" if life == "last" else "lives")
            if life == "last":
                it.qemu.wait(LIMIT)
            else:
                time.sleep(when.uniform(0, 6))
        for fs, told in trees.items():
            equal(f"{fs}, after a crash", expected.setdefault(fs, told["tree"]), told["tree"])
            if life != "first" and not told["lost"]:
                raise Failed(f"{fs}: nothing is there of what the machine was at when it was killed")
    places = vmlife.partitions(SIZE)
    return {fs: looked_at(fs, disk, places[fs], told["whole"]) for fs, told in trees.items()}


def on_a_fake_disk(way: tuple[str, str]) -> None:
    with ram_disk(STORE) as dev, fake_disk(NAME, SIZE, dev, "--classify", "implicit") as disk:
        kept = a_life(disk, way, 5 if FULL else 1)
        figures = device_stats(NAME)
    say(f"vmguest: {way}: of {BLOCKS} blocks of noise {kept} were kept; written {figures['written']}")
    for fs, blocks in kept.items():
        if blocks > 0.01 * BLOCKS:
            raise Failed(f"{fs}: {blocks} of {BLOCKS} blocks of noise were kept")


@case
def a_machine_past_the_page_cache_is_killed_and_recovers() -> None:
    on_a_fake_disk(PAST)


@case
def a_machine_through_the_page_cache_is_killed_and_recovers() -> None:
    on_a_fake_disk(THROUGH)


@case(full=True)
def on_a_plain_disk_the_same_and_all_noise_is_there() -> None:
    with linear_disk("plain", SIZE) as disk:
        kept = a_life(disk, PAST)
    if any(blocks != BLOCKS for blocks in kept.values()):
        raise Failed(f"of {BLOCKS} blocks of noise {kept} read back on a disk that keeps everything")


@case(full=True)
def a_disk_that_drops_metadata_is_found() -> None:
    """From the first boot's end on everything is dropped, what recovery needs and what it writes."""
    with ram_disk(STORE) as dev, fake_disk(NAME, SIZE, dev, "--classify", "implicit") as disk:
        with machine(disk, PAST, "first") as it:
            it.trees("lives")
            table = run("dmsetup", "table", NAME).replace("classify=implicit", "classify=data")
            run("dmsetup", "reload", NAME, "--table", table)
            run("dmsetup", "resume", NAME)
            time.sleep(5)
        try:
            with machine(disk, PAST, "last") as it:
                it.trees("ends")
        except Failed as found:
            print(f"vmguest: {found}", flush=True)
            return
    raise Failed("a disk that drops all metadata does not trouble the machine")
