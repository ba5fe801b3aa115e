# SPDX-License-Identifier: GPL-2.0
"""A file that is there when it is whole."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..util import UserError


@contextlib.contextmanager
def new_file(path: str, force: bool) -> Iterator[Path]:
    """A name beside PATH that becomes PATH at the end; what fails on the way leaves nothing."""
    target = Path(path)
    if target.exists() and not force:
        raise UserError(f"-o {path}: it exists; give another name, or --force")
    if not target.parent.is_dir():
        raise UserError(f"-o {path}: there is no directory {target.parent}")
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise UserError(f"-o {path}: {error.strerror}") from None
    os.close(handle)
    try:
        yield Path(name)
        os.chmod(name, 0o644)
        os.replace(name, target)
    finally:
        Path(name).unlink(missing_ok=True)
