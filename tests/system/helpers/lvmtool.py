# SPDX-License-Identifier: GPL-2.0
"""lvm2 with a configuration of its own, which sees the fake disks only, or the devices that it is told of."""

from __future__ import annotations

import shutil

from helpers.guest import SCRATCH, Failed, dm, run

GROUP = "group"
CONFIG = """
devices {{ dir="/dev" scan=["/dev"] use_devicesfile=0 obtain_device_list_from_udev=0 scan_lvs=1
  external_device_info_source="none" multipath_component_detection=0 md_component_detection=0
  filter=[{1}"r|.*|"] }}
global {{ locking_dir="{0}" use_lvmpolld=0 event_activation=0 umask=077 }}
activation {{ udev_sync=0 udev_rules=0 verify_udev_operations=1 monitoring=0 reserved_stack=64 }}
allocation {{ wipe_signatures_when_zeroing_new_lvs=1 }}
backup {{ backup=0 archive=0 backup_dir="{0}" archive_dir="{0}" }}
"""


DISKS = ("/dev/mapper/victim", "/dev/mapper/second")


def lvm(command: str, *words: str, disks: tuple[str, ...] = DISKS) -> str:
    where = SCRATCH / "lvm"
    where.mkdir(parents=True, exist_ok=True)
    seen = "".join(f'"a|^{disk}$|",' for disk in disks)
    config = CONFIG.format(where, seen)
    try:
        return run("lvm", command, "--config", config, "-y", *words)
    except Failed as error:
        # It is longer than what is left of an error where errors are told.
        raise Failed(str(error).replace(config, "...")) from None


def new_group(name: str, *disks: str) -> None:
    # A side that could not take its own away has left the directory of its nodes.
    shutil.rmtree(f"/dev/{name}", ignore_errors=True)
    lvm("pvcreate", *disks, disks=disks)
    lvm("vgcreate", name, *disks, disks=disks)


def volume(name: str) -> str:
    dm.make_node(f"{GROUP}-{name}")
    return f"/dev/mapper/{GROUP}-{name}"
