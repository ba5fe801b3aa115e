# SPDX-License-Identifier: GPL-2.0
"""Other drivers than loop that send a device's own pages on to a file of a mounted fake disk: the targets of
NVMe and of SCSI, on the same machine. What lies in the file is metadata as well; inloops.py has more of that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

from cases import case
from helpers import udev
from helpers.guest import mounted, run
from helpers.units import GIB, MIB
from helpers.victim import drop_caches, fake, look, make, populate, told, tree, wait_until

CONFIG = Path("/sys/kernel/config")
SIZE = 400 * MIB


def modules(*names: str) -> None:
    for name in names:
        run("modprobe", name)
    if not any(CONFIG.iterdir()):
        run("mount", "-t", "configfs", "none", str(CONFIG))


def made(exits: ExitStack, path: Path) -> Path:
    """A directory there is an object of the target's; taken away in the opposite order."""
    path.mkdir()
    exits.callback(path.rmdir)
    return path


def linked(exits: ExitStack, link: Path, to: Path) -> None:
    link.symlink_to(to)
    exits.callback(link.unlink)


def disks(pattern: str) -> set[str]:
    """Of NVMe, /sys/block has ways to a disk, too, which have no node."""
    found = {f"/dev/{path.name}" for path in Path("/sys/block").glob(pattern)}
    return {device for device in found if os.path.exists(device)}


def new_disk(pattern: str, before: set[str]) -> str:
    wait_until(lambda: bool(disks(pattern) - before), "a new disk", 60)
    udev.settle()
    (device,) = disks(pattern) - before
    return device


@contextmanager
def over_nvme(path: str) -> Iterator[str]:
    modules("nvmet", "nvme-loop")
    before, target = disks("nvme*n*"), CONFIG / "nvmet"
    with ExitStack() as exits:
        system = made(exits, target / "subsystems" / "david")
        (system / "attr_allow_any_host").write_text("1")
        space = made(exits, system / "namespaces" / "1")
        (space / "buffered_io").write_text("0")
        (space / "device_path").write_text(path)
        (space / "enable").write_text("1")
        exits.callback((space / "enable").write_text, "0")
        port = made(exits, target / "ports" / "1")
        (port / "addr_trtype").write_text("loop")
        linked(exits, port / "subsystems" / "david", system)
        Path("/dev/nvme-fabrics").write_text("transport=loop,nqn=david")
        exits.callback(disconnect)
        device = new_disk("nvme*n*", before)
        exits.callback(udev.settle)  # before the disk goes: udev reads what was written to
        yield device


def disconnect() -> None:
    for controller in Path("/sys/class/nvme").glob("nvme*"):
        with suppress(OSError):
            (controller / "delete_controller").write_text("1")


@contextmanager
def over_scsi(path: str) -> Iterator[str]:
    modules("target_core_mod", "target_core_file", "tcm_loop", "sd_mod")
    before, target = disks("sd*"), CONFIG / "target"
    with ExitStack() as exits:
        store = made(exits, made(exits, target / "core" / "fileio_0") / "david")
        (store / "control").write_text(f"fd_dev_name={path},fd_dev_size={SIZE},fd_async_io=1")
        (store / "enable").write_text("1")
        fabric = target / "loopback"
        if not fabric.exists():
            made(exits, fabric)
        group = made(exits, made(exits, fabric / "naa.6001405000000001") / "tpgt_1")
        unit = made(exits, group / "lun" / "lun_0")
        (group / "nexus").write_text("naa.6001405000000002")
        linked(exits, unit / "david", store)
        device = new_disk("sd*", before)
        exits.callback(udev.settle)
        yield device


Served = Callable[[str], AbstractContextManager[str]]


def lives(mode: str, served: Served) -> None:
    with fake(mode, 4 * GIB) as (disk, _):
        make("ext4", disk)
        with mounted(disk, "ext4") as top:
            Path(f"{top}/image").touch()
            os.truncate(f"{top}/image", SIZE)
            with served(f"{top}/image") as device:
                make("xfs", device)
                drop_caches()
                with mounted(device, "xfs") as inner:
                    populate(inner, "old", 40)
                    expected = tree(inner)
                look("xfs", device, expected)
        told(mode)


@case(uml=False, vm="newest", stock="6.12")
def an_xfs_on_an_nvme_target_on_a_file_is_whole() -> None:
    lives("auto", over_nvme)


@case(uml=False, stock="6.12 newest")
def an_xfs_on_a_scsi_target_on_a_file_is_whole() -> None:
    lives("auto", over_scsi)


@case(uml=False, vm="6.12", full=True)
def an_xfs_on_targets_on_a_file_is_whole_where_all_is_kept() -> None:
    for served in (over_nvme, over_scsi):
        lives("keep", served)
