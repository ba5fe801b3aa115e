# SPDX-License-Identifier: GPL-2.0
"""dmsetup and what it needs around it: the few calls that `david create|remove|list|stats` are made of."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ..nearest import did_you_mean
from ..util import DAVID, INSTALLED, UserError
from . import modulehelp
from .mounts import mounts

TARGET = "david"
MODULE = "dm-david"
# Begins the device-mapper uuid of a disk that david made: udev's rules go by it.
UUID = "DAVID-"


class DeviceError(UserError):
    """A device cannot be made, removed or asked; the text says why and what to do."""


def environment() -> dict[str, str]:
    """Without a running udevd, libdevmapper must make the nodes in /dev/mapper itself."""
    env = dict(os.environ, LC_ALL="C", PATH=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not os.path.exists("/run/udev/control"):
        env["DM_DISABLE_UDEV"] = "1"
    return env


def run(*command: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, env=environment(), capture_output=True, text=True)
    except FileNotFoundError:
        package = {"wipefs": "util-linux", "modprobe": "kmod"}.get(command[0], command[0])
        raise DeviceError(f"the program {command[0]} is missing; apt-get install {package}") from None


def dmsetup(*args: str) -> str:
    """Output of dmsetup; its complaint as DeviceError."""
    done = run("dmsetup", *args)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line and line != "Command failed."]
        # Its first line is the cause, the others guess.
        raise DeviceError(f"dmsetup {args[0]}: " + (lines[0] if lines else f"exit status {done.returncode}"))
    return done.stdout


def _find(name: str) -> str:
    # Of sysfs, not of dmsetup: the start of a program takes a tenth of a second where a lab is emulated.
    for entry in Path("/sys/block").glob("dm-*"):
        try:
            if (entry / "dm" / "name").read_text().strip() == name:
                return (entry / "dev").read_text().strip()
        except OSError:  # gone meanwhile
            continue
    return ""


def exists(name: str) -> bool:
    return _find(name) != ""


def minor(name: str) -> str:
    """major:minor of a device-mapper name"""
    number = _find(name)
    if not number:
        require_target()
        raise DeviceError(f"NAME {name}: no such device")
    return number


def target_loaded() -> bool:
    if os.path.exists("/sys/module/dm_david"):
        return True
    if not os.path.exists("/sys/class/misc/device-mapper"):
        return False
    return any(line.split()[0] == TARGET for line in dmsetup("targets").splitlines() if line.strip())


def load_module() -> None:
    """Make sure that the kernel knows the target."""
    if target_loaded():
        return
    done = run("modprobe", MODULE)
    if not target_loaded():
        raise DeviceError(modulehelp.advice(MODULE, done.stderr.strip() or "modprobe says nothing"))


def require_target() -> None:
    """Without the target there is no disk to ask: say which one command helps, and load nothing."""
    if target_loaded():
        return
    done = run("modprobe", "--dry-run", MODULE)
    if done.returncode:
        raise DeviceError(modulehelp.advice(MODULE, done.stderr.strip() or "modprobe says nothing"))
    raise DeviceError(modulehelp.explain("its module is not loaded", f"modprobe {MODULE}"))


@dataclass
class Device:
    """One line of `dmsetup table --target david`."""

    name: str
    sectors: int
    backing: str
    words: list[str]


def size_of(path: str) -> int:
    """Bytes of a block device."""
    with open(path, "rb") as file:
        return file.seek(0, os.SEEK_END)


def device_node(dev: str) -> str:
    """/dev/loop0 for the table's 7:0"""
    try:
        for line in Path(f"/sys/dev/block/{dev}/uevent").read_text().splitlines():
            if line.startswith("DEVNAME="):
                return "/dev/" + line.removeprefix("DEVNAME=")
    except OSError:
        pass
    return dev


def devices() -> list[Device]:
    """All david devices, in dmsetup's order."""
    require_target()
    found = []
    for line in dmsetup("table", "--target", TARGET).splitlines():
        name, _, table = line.partition(": ")
        fields = table.split()
        if len(fields) >= 4 and fields[2] == TARGET:
            found.append(Device(name, int(fields[1]), device_node(fields[3]), fields[5:]))
    return found


def make_node(name: str) -> None:
    """/dev/mapper/NAME must exist when create returns, udev or not."""
    if not os.path.exists(f"/dev/mapper/{name}"):
        dmsetup("mknodes", name)
    if not os.path.exists(f"/dev/mapper/{name}"):
        raise DeviceError(f"device '{name}' was created, but there is no /dev/mapper/{name}; is udevd stuck?")


def users(dev: str) -> list[str]:
    """Who keeps the block device major:minor busy, as far as /proc and /sys tell."""
    found = [f"mounted on {mount.point}" for mount in mounts() if dev in (mount.number, number(mount.source))]
    for holder in sorted(_entries(f"/sys/dev/block/{dev}/holders")):
        found.append(f"used by /dev/{holder}")
    for pid in sorted(entry for entry in _entries("/proc") if entry.isdigit()):
        for fd in _entries(f"/proc/{pid}/fd"):
            if number(f"/proc/{pid}/fd/{fd}") == dev:
                found.append(f"opened by process {pid} ({_comm(pid)})")
                break
    return found


def _entries(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []


def number(path: str) -> str:
    """major:minor of a block device's node"""
    try:
        stat = os.stat(path)
    except OSError:
        return ""
    if not stat.st_rdev or (stat.st_mode & 0o170000) != 0o060000:
        return ""
    return f"{os.major(stat.st_rdev)}:{os.minor(stat.st_rdev)}"


def _comm(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return "gone"


def shortened(words: str) -> str:
    """A table line, or its words, with the name of the profile in place of all of it."""
    return re.sub(r"profile=(?:\S*?;)?name=([^;\s]*)\S*", r"profile=\1", words)


def need_root(what: str) -> None:
    if os.geteuid():
        lab = "" if INSTALLED else f", or try it in a lab: {DAVID} lab run -- COMMAND"
        raise DeviceError(f"{what} needs root: sudo {DAVID} {what} ...{lab}")


def need_disk(name: str) -> None:
    """DeviceError unless there is a david device of that name."""
    there = [device.name for device in devices()]
    if name in there:
        return
    if exists(name):
        raise DeviceError(f"NAME {name}: not a david device; dmsetup handles the others")
    raise DeviceError(f"NAME {name}: no such device; "
                      + did_you_mean(name, there, f"'{DAVID} list' shows those there are"))
