# SPDX-License-Identifier: GPL-2.0
"""An image: a tar archive of description.json and store.xz, as david-store exports it.

The description has the checksum of the store and its own. Nothing is used before both were looked at.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ..util import UserError

FORMAT = 1
DESCRIPTION, STORE = "description.json", "store.xz"
PIECE = 1 << 20
LARGEST_DESCRIPTION = 1 << 20


class ImageError(UserError):
    """The file is no image, or is damaged."""


def _own_sum(description: dict[str, Any]) -> str:
    rest = {key: value for key, value in description.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece


def _sum(file: IO[bytes]) -> str:
    found = hashlib.sha256()
    for piece in pieces(file):
        found.update(piece)
    return found.hexdigest()


def compress(exported: Path, to: Path) -> None:
    with exported.open("rb") as source, lzma.open(to, "wb", preset=2) as packed:
        for piece in pieces(source):
            packed.write(piece)


def write(to: Path, description: dict[str, Any], packed: Path, exported_bytes: int) -> None:
    """PACKED is the compressed store."""
    with packed.open("rb") as file:
        store = {"sha256": _sum(file), "bytes": exported_bytes}
    description = description | {"format": FORMAT, "store": store}
    description["sha256"] = _own_sum(description)
    text = json.dumps(description, indent=2).encode() + b"\n"
    with tarfile.open(to, "w") as archive:
        head = tarfile.TarInfo(DESCRIPTION)
        head.size = len(text)
        archive.addfile(head, io.BytesIO(text))
        archive.add(packed, STORE, filter=_nobodys)


def _nobodys(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member


def _description(path: str, archive: tarfile.TarFile) -> dict[str, Any]:
    try:
        member = archive.getmember(DESCRIPTION)
        file = archive.extractfile(member)
        if not file or member.size > LARGEST_DESCRIPTION:
            raise ValueError
        found = json.loads(file.read())
        if found["sha256"] != _own_sum(found):
            raise ImageError(f"{path}: its description is damaged: get the image again")
        if found["format"] != FORMAT:
            raise ImageError(f"{path}: of format {found['format']}, not {FORMAT}: take another david")
        return found
    except (KeyError, ValueError, TypeError):
        raise ImageError(f"{path}: no image of a disk; 'david image push' makes one") from None


@contextmanager
def opened(path: str) -> Iterator[tuple[dict[str, Any], IO[bytes]]]:
    """The description, and the exported store; both are whole."""
    try:
        with tarfile.open(path, "r:") as archive:
            description = _description(path, archive)
            packed = archive.extractfile(STORE)
            if not packed or _sum(packed) != description["store"]["sha256"]:
                raise ImageError(f"{path}: its store is damaged (wrong checksum): get the image again")
            packed.seek(0)
            with lzma.open(packed) as store:
                yield description, store
    except OSError as error:
        raise ImageError(f"{path}: {error.strerror or error}") from None
    except (tarfile.TarError, KeyError, EOFError, lzma.LZMAError):
        raise ImageError(f"{path}: no image of a disk, or cut short: get it again") from None
