# SPDX-License-Identifier: GPL-2.0
"""Arrays of md over fake disks: what sysfs says of them, and mdadm."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from . import dm
from .layers import sysfs_text
from .dm import DeviceError

# The least number of members, by level.
LEVELS = {"0": 2, "1": 2, "4": 3, "5": 3, "6": 4, "10": 2}
WITH_PARITY = ("4", "5", "6")


@dataclass
class Member:
    number: int  # from 0 on
    name: str  # of the fake disk: ARRAY-NUMBER
    state: str  # md's words, such as in_sync or faulty; "" if md does not have it


@dataclass
class Array:
    name: str
    device: str  # /dev/md127
    members: list[Member]

    def said(self, file: str) -> str:
        """What a file of md's directory in sysfs says, or ""."""
        return sysfs_text(self.place / file)

    @property
    def place(self) -> Path:
        return Path("/sys/block") / Path(self.device).name / "md"


def mdadm(*words: str) -> str:
    """Output of mdadm; its complaint as DeviceError."""
    done = dm.run("mdadm", *words)
    if done.returncode:
        said = [line.removeprefix("mdadm: ") for line in done.stderr.splitlines() if line.strip()]
        raise DeviceError(f"mdadm {words[0]}: {'; '.join(said) or f'exit status {done.returncode}'}")
    return done.stdout


def disks_of(name: str) -> dict[int, str]:
    """Fake disks that are called like members of the array: their names by their numbers, in order."""
    found = {}
    for device in dm.devices():
        head, _, number = device.name.rpartition("-")
        if head == name and number.isdecimal() and str(int(number)) == number:
            found[int(number)] = device.name
    return dict(sorted(found.items()))


def holder(disk: str) -> str:
    """The md device that has the disk as a member, or ""."""
    holders = (Path("/sys/dev/block") / dm.minor(disk) / "holders").glob("md*")
    return next((f"/dev/{each.name}" for each in holders if (each / "md").exists()), "")


def find(name: str) -> Array:
    """The array whose members are the fake disks NAME-0, NAME-1 and so on. DeviceError: there is none."""
    disks = disks_of(name)
    devices = {number: holder(disk) for number, disk in disks.items()}
    device = next((each for each in devices.values() if each), "")
    if not device:
        why = f"its disks {', '.join(disks.values())} are in no array" if disks else "no such array"
        raise DeviceError(f"NAME {name}: {why}; see 'david array create --help'")
    array = Array(name, device, [])
    for number, disk in disks.items():
        state = ""
        if devices[number] == device:
            block = Path(f"/sys/dev/block/{dm.minor(disk)}").resolve().name
            state = array.said(f"dev-{block}/state").replace(",", " ")
        array.members.append(Member(number, disk, state))
    return array


def _exported(*words: str) -> dict[str, str]:
    """What mdadm tells as KEY=VALUE; empty if it fails."""
    done = dm.run("mdadm", *words, "--export")
    pairs = (line.partition("=") for line in done.stdout.splitlines())
    return {key: value for key, _, value in pairs} if not done.returncode else {}


def uuid(array: Array) -> str:
    """Which array the device is now; "" if it is stopped."""
    return _exported("--detail", array.device).get("MD_UUID", "")


def path_of(disk: str) -> str:
    return f"/dev/mapper/{disk}"


def superblock(disk: str) -> dict[str, str]:
    """What md's superblock on a disk says, empty if there is none."""
    return _exported("--examine", path_of(disk))
