# SPDX-License-Identifier: GPL-2.0
"""where = "here": runs on this machine, in real time, with its own kernel.

The module is loaded where it is not, and stays. A disk is made for each run, and removed however the run
ends. There is one run at a time: two would share the machine that is measured.
"""

from __future__ import annotations

import argparse
import os
import subprocess
from contextlib import suppress
from pathlib import Path

from .. import source
from ..disk import dm
from ..disk.dm import DeviceError
from ..util import TREE, UserError

# In memory, as the backing devices of labs are.
SCRATCH = "/dev/shm"
BUILT = TREE / "dm-david" / "dm-david.ko"
# Not there in a kernel that takes none.
MODULES = Path("/proc/modules")
LOADED = Path("/sys/module/dm_david/notes/.note.gnu.build-id")
# The head of the note of a build's id: lengths of name and id, its type, "GNU".
NOTE = bytes.fromhex("040000001400000003000000474e5500")
UNPACK = {".xz": "xz", ".gz": "gzip", ".zst": "zstd"}
INSTEAD = 'where = "virtual" needs no module: its labs have kernels of their own'


def ready(args: argparse.Namespace) -> None:
    """Say what is missing before anything is made."""
    if args.scheduler:
        raise UserError('where = "here" is this machine: leave out --scheduler')
    if args.workers > 1:
        raise UserError(f'where = "here" has one run at a time: leave out --workers {args.workers}')
    try:
        dm.need_root("bench")
        _load()
    except DeviceError as error:
        raise UserError(f'where = "here": {error}\n  or: {INSTEAD}') from None


def _load() -> None:
    """The module that is installed, or else the one that was built here."""
    if not dm.target_loaded() and not MODULES.exists():
        raise DeviceError(f"the kernel of this machine, {os.uname().release}, takes no modules")
    with suppress(DeviceError):
        dm.load_module()
    if not dm.target_loaded() and BUILT.exists():
        dm.run("modprobe", "dm-mod")
        dm.run("insmod", str(BUILT))
    dm.load_module()


def build_id(data: bytes) -> str:
    """Of a module, or of the notes of one: a digest of its code that the linker has written into it."""
    at = data.find(NOTE)
    return data[at + len(NOTE) : at + len(NOTE) + 20].hex()[: source.SHORT] if at >= 0 else source.short(data)


def _installed() -> Path | None:
    """The file that modprobe would load, else the one that was built in the tree."""
    done = subprocess.run(["/sbin/modinfo", "-n", "dm-david"], capture_output=True, text=True)
    found = Path(done.stdout.strip() or BUILT)
    return found if found.is_file() else None


def _module_file(path: Path) -> bytes:
    if path.suffix in UNPACK:
        return subprocess.run([UNPACK[path.suffix], "-dc", str(path)], check=True, capture_output=True).stdout
    return path.read_bytes()


def module() -> str:
    """The build of the module that is loaded, or would be."""
    if LOADED.exists():
        return build_id(LOADED.read_bytes())
    path = _installed()
    return build_id(_module_file(path)) if path else "none"


def identity() -> dict[str, str]:
    """Of this machine: the kernel that runs, and the module in it."""
    running = os.uname()
    return {"kernel": f"{running.release} {running.version}", "module": module()}
