# SPDX-License-Identifier: GPL-2.0
"""The layers of attack.toml: each is made on devices that lie below it, the first time; and brought back as
it was after all has been taken away. On both sides the same: on fake disks, and on the control's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from davidlib.filesystems import FILE_SYSTEMS
from helpers import udev
from helpers.guest import Failed, attached, david, dm, loop_disk, mounted, remove, run
from helpers.lvmtool import lvm, new_group
from helpers.units import GIB, MIB
from helpers.victim import linear, size_of

KEY = "0f" * 16
PASS = "/tmp/david-attack-pass"
UPPER_MODES = {"fake disk": "auto", "fake disk that keeps": "keep", "fake disk that is implicit": "implicit"}


def gone(name: str) -> None:
    """Remove a device, if it is there. Who has it open for a moment is waited for."""
    for _ in range(20):
        if not dm.exists(name):
            return
        with suppress(Failed):
            run("dmsetup", "remove", name)
            return
        time.sleep(0.05)
    remove(name) if udev.runs() else run("dmsetup", "remove", name)


def without_group(name: str, *below: str) -> None:
    """If lvm cannot read its own labels any more, its volumes go all the same."""
    try:
        lvm("vgchange", "-an", name, disks=below)
    except Failed:
        for _ in range(3):
            for line in run("dmsetup", "ls").splitlines():
                if line.startswith(f"{name}-"):
                    with suppress(Failed):
                        run("dmsetup", "remove", line.split("\t")[0])


@dataclass
class Place:
    """What layers are made with. `life` ends with the life, `session` when all is taken away for a while."""

    fake: bool
    life: ExitStack
    session: ExitStack = field(default_factory=ExitStack)
    first: bool = True
    helpers: dict[str, str] = field(default_factory=dict)  # devices beside, by name: they stay
    arrays: list[str] = field(default_factory=list)
    uppers: list[str] = field(default_factory=list)  # fake disks among the layers
    legs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    below: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by layer: what it stands on
    mounts: list[str] = field(default_factory=list)

    def create(self, name: str, table: str) -> str:
        run("dmsetup", "create", name, "--table", table)
        self.session.callback(gone, name)
        dm.make_node(name)
        return f"/dev/mapper/{name}"

    def helper(self, name: str, size: int) -> str:
        """A real device beside: metadata of a thin pool, for one."""
        if name not in self.helpers:
            self.helpers[name] = self.life.enter_context(loop_disk(size))
        return self.helpers[name]

    def whole(self, device: str) -> int:
        """Sectors: whole MiB of the device."""
        return size_of(device) >> 20 << 11


Build = Callable[..., str]  # of a place, a name of its own, and the devices below


def partition(place: Place, name: str, below: str) -> str:
    if place.first:
        size = (size_of(below) >> 20) - 16
        run(
            "sh",
            "-c",
            f"printf '1MiB,7MiB\\n8MiB,{size}MiB\\n' | sfdisk -q --no-reread --no-tell-kernel -X gpt {below}",
        )
    return place.create(name, linear(size_of(below) - 16 * MIB, below, 8 * MIB))


def dm_linear(place: Place, name: str, below: str) -> str:
    return place.create(name, f"0 {place.whole(below) - 8192} linear {below} 4096")


def dm_pieces(place: Place, name: str, below: str) -> str:
    """The second half lies before the first."""
    half = place.whole(below) // 2 >> 11 << 11
    return place.create(name, f"0 {half} linear {below} {half}\n{half} {half} linear {below} 0")


def dm_striped(place: Place, name: str, *below: str) -> str:
    size = min(map(place.whole, below)) * len(below)
    legs = " ".join(f"{device} 0" for device in below)
    return place.create(name, f"0 {size} striped {len(below)} 128 {legs}")


def dm_delay(place: Place, name: str, below: str) -> str:
    return place.create(name, f"0 {place.whole(below)} delay {below} 0 0 {below} 0 1")


def dm_flakey(place: Place, name: str, below: str) -> str:
    return place.create(name, f"0 {place.whole(below)} flakey {below} 0 36000 0")


def dm_crypt(place: Place, name: str, below: str) -> str:
    return place.create(name, f"0 {place.whole(below)} crypt aes-cbc-plain {KEY} 0 {below} 0")


def luks(place: Place, name: str, below: str) -> str:
    Path(PASS).write_text("pass")
    quick = ("--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000", "-c", "aes-cbc-plain64", "-s", "128")
    if place.first:
        run("cryptsetup", "luksFormat", "-q", *quick, "-d", PASS, below)
    run("cryptsetup", "open", "-d", PASS, below, name)
    place.session.callback(run, "cryptsetup", "close", name)
    dm.make_node(name)
    return f"/dev/mapper/{name}"


def integrity(place: Place, name: str, below: str) -> str:
    words = ("--integrity", "crc32c", "--integrity-recalculate", "--integrity-no-journal")
    if place.first:
        run("integritysetup", "format", "-q", "--no-wipe", "--integrity", "crc32c", below)
    run("integritysetup", "open", *words, below, name)
    place.session.callback(run, "integritysetup", "close", name)
    dm.make_node(name)
    return f"/dev/mapper/{name}"


def dm_mirror(place: Place, name: str, *below: str) -> str:
    size = min(map(place.whole, below))
    legs = " ".join(f"{device} 0" for device in below)
    return place.create(name, f"0 {size} mirror core 2 1024 nosync {len(below)} {legs}")


def thin(place: Place, name: str, below: str) -> str:
    meta = place.helper(f"{name}-meta", 8 * MIB)
    pool = place.create(f"{name}-pool", f"0 {place.whole(below)} thin-pool {meta} {below} 128 0")
    if place.first:
        run("dmsetup", "message", f"{name}-pool", "0", "create_thin", "0")
    return place.create(name, f"0 {place.whole(below) - 32768} thin {pool} 0")


def cached(mode: str) -> Build:
    def build(place: Place, name: str, below: str) -> str:
        meta, fast = place.helper(f"{name}-meta", 8 * MIB), place.helper(f"{name}-fast", 64 * MIB)
        return place.create(name, f"0 {place.whole(below)} cache {meta} {fast} {below} 128 1 {mode} smq 0")

    return build


def writecache(place: Place, name: str, below: str) -> str:
    fast = place.helper(f"{name}-fast", 32 * MIB)
    return place.create(name, f"0 {place.whole(below)} writecache s {below} {fast} 4096 0")


def snapshot(place: Place, name: str, below: str) -> str:
    """Of zeros: what is written lies in the store, in the order it came."""
    zeros = place.create(f"{name}-zeros", f"0 {place.whole(below)} zero")
    if place.first:
        run("dd", "if=/dev/zero", f"of={below}", "bs=64k", "count=1", "conv=fsync", "status=none")
    return place.create(name, f"0 {place.whole(below) // 8 * 7 >> 11 << 11} snapshot {zeros} {below} P 16")


def snapshot_origin(place: Place, name: str, below: str) -> str:
    """The snapshot's store is on the same device, and is filled by the kernel's own copies."""
    third = place.whole(below) // 3 >> 11 << 11
    base = place.create(f"{name}-base", f"0 {third * 2} linear {below} 0")
    store = place.create(f"{name}-store", f"0 {third} linear {below} {third * 2}")
    if place.first:
        run("dd", "if=/dev/zero", f"of={store}", "bs=64k", "count=1", "conv=fsync", "status=none")
    place.create(f"{name}-old", f"0 {third * 2} snapshot {base} {store} P 16")
    return place.create(name, f"0 {third * 2} snapshot-origin {base}")


def clone(place: Place, name: str, below: str) -> str:
    meta, source = place.helper(f"{name}-meta", 8 * MIB), place.helper(f"{name}-source", size_of(below))
    return place.create(name, f"0 {place.whole(below)} clone {meta} {below} {source} 64")


def ebs(place: Place, name: str, below: str) -> str:
    return place.create(name, f"0 {place.whole(below)} ebs {below} 0 1 8")


def era(place: Place, name: str, below: str) -> str:
    return place.create(
        name, f"0 {place.whole(below)} era {place.helper(f'{name}-meta', 8 * MIB)} {below} 128"
    )


def dust(place: Place, name: str, below: str) -> str:
    return place.create(name, f"0 {place.whole(below)} dust {below} 0 512")


def on_volumes(*words: str) -> Build:
    """A group of the devices, and a volume in it."""

    def build(place: Place, name: str, *below: str) -> str:
        if place.first:
            new_group(name, *below)
            size = sum(size_of(device) for device in below) // 4 * 3 >> 20
            lvm("lvcreate", "-Wn", "-n", "a", *(word.format(size=size) for word in words), name, disks=below)
        else:
            lvm("vgchange", "-ay", name, disks=below)
        place.session.callback(without_group, name, *below)
        dm.make_node(f"{name}-a")
        return f"/dev/mapper/{name}-a"

    return build


def volume_in_pieces(place: Place, name: str, below: str) -> str:
    """A neighbour lies between its pieces."""
    if place.first:
        new_group(name, below)
        for words in (
            ("lvcreate", "-Wn", "-n", "a", "-L", "12M", name),
            ("lvcreate", "-Wn", "-n", "b", "-L", "64M", name),
        ):
            lvm(*words, disks=(below,))
        lvm("lvextend", "-l", "+80%FREE", f"{name}/a", disks=(below,))
    else:
        lvm("vgchange", "-ay", name, disks=(below,))
    place.session.callback(without_group, name, below)
    dm.make_node(f"{name}-a")
    return f"/dev/mapper/{name}-a"


def array(*words: str) -> Build:
    def build(place: Place, name: str, *below: str) -> str:
        device = f"/dev/md{100 + int(name.strip('layer'), 36)}"
        udev.settle()
        if place.first:
            run("mdadm", "--create", device, "--run", *words, f"--raid-devices={len(below)}", *below)
        else:
            run("mdadm", "--assemble", "--run", device, *below)
        place.session.callback(run, "mdadm", "--stop", device)
        place.arrays.append(device)
        place.legs[device] = below
        if words[0] == "--level=5":
            Path(f"/sys/block/{Path(device).name}/md/skip_copy").write_text("1")
        return device

    return build


def looped(direct: bool, offset: int = 0, told: bool = False) -> Build:
    def build(place: Place, name: str, below: str) -> str:
        device = place.session.enter_context(attached(below, offset, direct=direct))
        if told and place.fake:
            david("stack")
        return device

    return build


def on_a_file(fs: str, direct: bool) -> Build:
    """A loop device over a file of a file system on the device."""

    def build(place: Place, name: str, below: str) -> str:
        if place.first:
            # Not of the UUID of what is made in it.
            run(*FILE_SYSTEMS[fs].mkfs, below)
        outer = place.session.enter_context(mounted(below, fs))
        place.mounts.append(outer)
        image = f"{outer}/image"
        if place.first:
            Path(image).touch()
            os.truncate(image, size_of(below) // 20 * 17 >> 20 << 20)
        return place.session.enter_context(attached(image, direct=direct))

    return build


def upper(mode: str) -> Build:
    """A fake disk on a fake disk, twice as large as what it stores on; in the control a linear one."""

    def build(place: Place, name: str, below: str) -> str:
        size = size_of(below) >> 20 << 20
        if not place.fake:
            return place.create(name, f"0 {size >> 9} linear {below} 0")
        words = ("--format",) if place.first else ()
        david("create", name, "--size", str(size), "--backing", below, "--classify", mode, *words)
        place.session.callback(gone, name)
        place.uppers.append(name)
        return f"/dev/mapper/{name}"

    return build


MIRRORED = ("--metadata=1.2", "--bitmap=none", "--assume-clean")
BUILDERS: dict[str, Build] = {
    "partition": partition,
    "linear": dm_linear,
    "two halves, exchanged": dm_pieces,
    "striped": dm_striped,
    "delay": dm_delay,
    "flakey": dm_flakey,
    "crypt": dm_crypt,
    "LUKS": luks,
    "integrity": integrity,
    "mirror": dm_mirror,
    "thin": thin,
    "cache, writethrough": cached("writethrough"),
    "cache, writeback": cached("writeback"),
    "writecache": writecache,
    "snapshot": snapshot,
    "snapshot origin": snapshot_origin,
    "clone": clone,
    "ebs": ebs,
    "era": era,
    "dust": dust,
    "LVM linear": on_volumes("-L", "{size}M"),
    "LVM striped": on_volumes("-L", "{size}M", "-i", "2", "-I", "64k"),
    "LVM thin": on_volumes("-T", "-L", "{size}M", "-V", "{size}M", "--thinpool", "pool", "-Zn"),
    "LVM raid1": on_volumes("-l", "70%FREE", "--type", "raid1", "--nosync"),
    "LVM in pieces": volume_in_pieces,
    "md raid0": array("--level=0", "--metadata=1.2", "--chunk=64"),
    "md raid1": array("--level=1", *MIRRORED),
    "md raid1, at the beginning": array("--level=1", "--metadata=1.0", "--bitmap=none", "--assume-clean"),
    "md raid10": array("--level=10", "--layout=n2", *MIRRORED),
    "md raid10, far": array(
        *("--level=10", "--layout=f2", "--metadata=1.0", "--bitmap=none", "--assume-clean", "--chunk=512")
    ),
    "md raid5": array("--level=5", "--chunk=64", *MIRRORED),
    "loop, buffered": looped(False),
    "loop, direct": looped(True),
    "loop, direct, told": looped(True, MIB, told=True),
    "loop, direct, on a file of ext4": on_a_file("ext4", True),
    "loop, direct, on a file of xfs": on_a_file("xfs", True),
    "loop, direct, on a file of btrfs": on_a_file("btrfs", True),
    "loop, buffered, on a file of ext4": on_a_file("ext4", False),
    **{name: upper(mode) for name, mode in UPPER_MODES.items()},
}

SIZE = 3 * GIB // 2  # of a disk


def build(place: Place, names: list[str], joins: dict[str, int], devices: list[str]) -> list[str]:
    """The devices on top. Raises Failed, with the layer's name."""
    for number, name in enumerate(names):
        width = joins.get(name, 1)
        groups = [tuple(devices[i : i + width]) for i in range(0, len(devices), width)]
        place.below |= {f"layer{number}{i}": group for i, group in enumerate(groups)}
        try:
            devices = [BUILDERS[name](place, f"layer{number}{i}", *group) for i, group in enumerate(groups)]
        except (Failed, OSError) as error:
            raise Failed(f"{name}: {error}") from None
    return devices
