# SPDX-License-Identifier: GPL-2.0
"""From a disk to an image, and back."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .. import build
from ..disk import dm
from ..disk.backing import check_backing, is_store
from ..disk.dm import DeviceError
from ..disk.parameters import DiskParameters
from ..drive import profileword
from ..sizes import SECTOR
from ..util import VERSION, UserError
from . import archive


def _words(fields: list[str]) -> dict[str, str]:
    return {key: value for key, _, value in (field.partition("=") for field in fields)}


def describe(name: str) -> tuple[dict[str, Any], str, str]:
    """What an image of a live disk says of it; its backing device, and its table."""
    table = dm.dmsetup("table", name).strip()
    if len(table.splitlines()) != 1:
        raise DeviceError(f"NAME {name}: its table has more than one line; push its disks by themselves")
    fields = table.split()
    words = _words(fields[5:])
    if "pool" in words or words.get("store") == "memory" or words.get("mode") == "model-only":
        raise DeviceError(f"NAME {name}: only a disk with a store of its own can be pushed; of a pool: "
                          f"david store export --disk {name} DEV FILE")
    blkid = dm.run("blkid", "-p", "-o", "export", f"/dev/mapper/{name}").stdout
    found = _words([line for line in blkid.splitlines() if "=" in line])
    system = {key.lower(): found[key] for key in ("TYPE", "UUID", "LABEL") if key in found}
    profile = words.get("profile")
    return {
        "made": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "david": VERSION,
        "size": int(fields[1]) * SECTOR,
        "block_size": int(words.get("block_size", 4096)),
        "content": words.get("content", "incompressible"),
        "seed": int(words.get("seed", 0)),
        "drive": profileword.parse(profile, "table").name() if profile else None,
        "profile": profile,
        "file_system": system,
    }, dm.device_node(fields[3]), table


@contextmanager
def taken_away(name: str, table: str) -> Iterator[None]:
    """The disk is removed, so that its store can be read, and made again."""
    if who := dm.users(dm.minor(name)):
        raise DeviceError(f"NAME {name}: in use ({', '.join(who)}); unmount it first")
    dm.dmsetup("remove", "--retry", name)
    try:
        yield
    finally:
        dm.dmsetup("create", name, "--uuid", dm.UUID + name, "--table", table)
        dm.make_node(name)


def call_store(*words: str, **more: Any) -> None:
    done = subprocess.run([str(build.ensure("david-store")), *words], stderr=subprocess.PIPE, **more)
    if done.returncode:
        raise UserError(done.stderr.decode(errors="replace").strip() or f"david-store {words[0]} failed")


def push(name: str, to: str, force: bool, more: dict[str, Any]) -> dict[str, Any]:
    """MORE is what else the description is to say."""
    target = Path(to)
    if target.exists() and not force:
        raise DeviceError(f"FILE {to}: it exists; give another name, or --force")
    if not target.parent.is_dir():
        raise DeviceError(f"FILE {to}: there is no directory {target.parent}")
    description, backing, table = describe(name)
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as scratch:
            exported, packed, whole = (Path(scratch) / part for part in ("store", archive.STORE, "image"))
            with taken_away(name, table):
                call_store("export", backing, str(exported))
            archive.compress(exported, packed)
            archive.write(whole, description | more, packed, exported.stat().st_size)
            os.replace(whole, target)
    except OSError as error:
        raise DeviceError(f"FILE {to}: {error.strerror}") from None
    return description


def pull(path: str, backing: str, format_it: bool) -> dict[str, Any]:
    """Make the store of an image on a device. What is wrong with the image is found before that."""
    with archive.opened(path) as (description, store):
        check_backing(backing, format_it)
        if is_store(backing) and not format_it:
            raise DeviceError(f"--backing {backing}: has a store; --format overwrites it")
        line = [str(build.ensure("david-store")), "import", *(["--format"] if format_it else []), "-"]
        line.append(backing)
        with subprocess.Popen(line, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as importer:
            assert importer.stdin and importer.stderr
            try:
                for piece in archive.pieces(store):
                    importer.stdin.write(piece)
                importer.stdin.close()
            except BrokenPipeError:
                pass  # it says why
            said = importer.stderr.read().decode(errors="replace").strip()
        if importer.returncode:
            raise DeviceError(f"--backing {backing}: {said or 'the import failed'}")
        return description


def parameters(name: str, description: dict[str, Any], backing: str) -> DiskParameters:
    """What makes the disk of a pulled image, but for its drive."""
    block = description["block_size"]
    return DiskParameters(name, backing, size=description["size"], content=description["content"],
                          options=[f"block_size={block}"] if block != 4096 else [])


def create_words(description: dict[str, Any], backing: str) -> list[str]:
    """The same as options of `david create`."""
    disk = parameters("", description, backing)
    words = ["--size", str(disk.size), "--backing", disk.backing, "--content", disk.content]
    return words + [word for option in disk.options for word in ("--option", option)]
