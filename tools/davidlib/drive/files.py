# SPDX-License-Identifier: GPL-2.0
"""Where profiles are: those in profiles/, by name, and others, by file."""

from __future__ import annotations

from pathlib import Path

from ..nearest import did_you_mean
from ..util import PROFILES, UserError

DIRECTORY = PROFILES
SUFFIX = ".profile"


def names() -> list[str]:
    return sorted(path.name.removesuffix(SUFFIX) for path in DIRECTORY.glob("*" + SUFFIX))


def path_of(name: str) -> Path:
    """The file of one of names()."""
    return DIRECTORY / (name + SUFFIX)


class ProfileError(UserError):
    """There is no such profile, or it cannot be read; the text says what to do."""


def find(profile: str) -> Path:
    """The file of a profile that is named by its file or, where there is none, by its name in profiles/."""
    if Path(profile).is_file():
        return Path(profile)
    if profile in names():
        return path_of(profile)
    otherwise = f"there are {', '.join(names()) or 'none'}"
    raise ProfileError(f"there is no profile '{profile}': neither a file nor a drive in profiles/; "
                       + did_you_mean(profile, names(), otherwise))
