# SPDX-License-Identifier: GPL-2.0
"""Why the kernel has no target, and the one command that helps."""

from __future__ import annotations

import os
from pathlib import Path

from ..util import INSTALLED, TREE

ROOT = Path("/")
# dkms keeps its key here; a machine with Secure Boot must be told of it once.
DKMS_KEY = "var/lib/dkms/mok.pub"
# What modprobe says of a module that is not signed with a key that the kernel knows.
UNSIGNED = ("Key was rejected", "Required key not available", "Loading of unsigned module")
OTHER_KERNEL = ("Exec format error", "Invalid module format", "Invalid argument")


def release() -> str:
    return os.uname().release


def _secure_boot() -> bool:
    for path in (ROOT / "sys/firmware/efi/efivars").glob("SecureBoot-*"):
        try:
            return path.read_bytes()[-1:] == b"\1"
        except OSError:
            return False
    return False


def _by_dkms() -> bool:
    return any((ROOT / "usr/src").glob("dm-david-*/dkms.conf"))


def _device_mapper(modules: Path) -> bool:
    """Whether the running kernel has device-mapper, or a module of it."""
    return (ROOT / "sys/class/misc/device-mapper").exists() or \
        any(modules.glob("kernel/drivers/md/dm-mod.ko*"))


def _not_found() -> tuple[str, str]:
    """Cause and command where modprobe finds no module for the running kernel."""
    kernel = release()
    modules = ROOT / "lib/modules" / kernel
    headers = (modules / "build/Makefile").exists()
    built = TREE / "dm-david" / "dm-david.ko"
    if not any((ROOT / "lib/modules").glob("*")):
        return f"kernel {kernel} has no modules, and no other one is installed", \
            "apt-get install linux-image-amd64 linux-headers-amd64, then reboot"
    if not modules.exists():
        return f"the kernel that runs, {kernel}, has no modules any more: another one is installed", "reboot"
    if not _device_mapper(modules):
        return f"kernel {kernel} has no device-mapper", "boot a kernel with CONFIG_BLK_DEV_DM"
    if not INSTALLED and built.exists():
        return "the module is built, and not loaded", f"insmod {built}"
    if INSTALLED and not _by_dkms():
        return "the package of the module is not installed", "apt-get install dm-david-dkms"
    if not headers:
        return (f"the module needs the headers of kernel {kernel}, and they are missing",
                f"apt-get install linux-headers-{kernel}")
    if INSTALLED:
        return f"the module is not built for kernel {kernel}", f"dkms autoinstall -k {kernel}"
    return "the module is not built", f"make -C {TREE} && insmod {built}"


def _unsigned() -> tuple[str, str]:
    cause = "Secure Boot lets the kernel load no module that is not signed with a key it knows"
    if (ROOT / DKMS_KEY).exists():
        return cause, f"mokutil --import /{DKMS_KEY}, then reboot and enrol the key"
    return cause, "mokutil --disable-validation, then reboot; or sign the module with a key of your own"


def explain(cause: str, command: str) -> str:
    return f"the kernel has no target 'david': {cause}; try: {command}"


def advice(module: str, complaint: str) -> str:
    """What to tell root, whose `modprobe MODULE` ended with COMPLAINT."""
    if any(words in complaint for words in UNSIGNED) or "not permitted" in complaint and _secure_boot():
        cause, command = _unsigned()
    elif "not found" in complaint:
        cause, command = _not_found()
    elif any(words in complaint for words in OTHER_KERNEL):
        cause = f"the module was built for another kernel than {release()}"
        command = f"dkms autoinstall -k {release()} --force" if _by_dkms() else f"make -C {TREE}"
    elif "not permitted" in complaint:
        cause, command = "this machine may load no modules (a container?)", "run it on the host"
    else:
        cause, command = "the module cannot be loaded", f"modprobe {module}; dmesg | tail"
    return f"{explain(cause, command)} (modprobe: {'; '.join(complaint.splitlines())})"
