# SPDX-License-Identifier: GPL-2.0
"""Fake disks, arrays of them and pools. All need root, the module and dmsetup; DeviceError says what is in
the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any

from davidlib.disk import array, check, create, device, group, info, md, pool, show
from davidlib.disk.parameters import DiskParameters


@dataclass(frozen=True)
class Check:
    """Was a run valid? By question, what was found."""

    valid: bool
    findings: list[dict[str, Any]]  # what, good, text: david schema check


@dataclass(frozen=True)
class Disk:
    """A fake disk by its device-mapper name. In a `with` it is removed at the end; what it held stays."""

    name: str

    @staticmethod
    def create(
        name: str,
        *,
        backing: str = "",
        pool: str = "",
        size: int = 0,
        profile: str = "",
        profile_options: Sequence[str] = (),
        mode: str = "",
        classify: str = "auto",
        content: str = "incompressible",
        options: Sequence[str] = (),
        format: bool = False,
    ) -> Disk:
        """Make one, or open the one that is stored on `backing` (a block device), or in `pool`.

        size is in bytes; 0 is the drive's own. The others are the options of `david create`.
        """
        create.create_disk(
            DiskParameters(
                name,
                backing,
                pool,
                size,
                profile,
                tuple(profile_options),
                mode,
                classify,
                content,
                tuple(options),
                format,
            )
        )
        return Disk(name)

    @staticmethod
    def all() -> list[Disk]:
        return [Disk(one["name"]) for one in device.disks()]

    @property
    def path(self) -> str:
        return f"/dev/mapper/{self.name}"

    def info(self) -> dict[str, Any]:
        """What it is: david schema info."""
        return info.of_disk(self.name)

    def stats(self) -> dict[str, Any]:
        """What it counted in its whole life: david schema stats."""
        return show.of_life(self.name)

    def check(self) -> Check:
        """Of its whole life."""
        figures = self.stats()
        return _checked(check.of_run(figures))

    def resize(self, size: int) -> None:
        """To so many bytes, more than it has."""
        device.resize_disk(self.name, size)

    def remove(self, wait: float = 5) -> None:
        """Seconds are for those who have it open."""
        device.remove_disk(self.name, wait)

    def __enter__(self) -> Disk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()


def _checked(found: list[check.Finding]) -> Check:
    return Check(check.valid(found), [asdict(one) for one in found])


@dataclass(frozen=True)
class Array:
    """An array of md whose members are the fake disks NAME-0, NAME-1 and so on."""

    name: str

    @staticmethod
    def create(
        name: str,
        level: str,
        members: Sequence[DiskParameters],
        *,
        chunk: int = 0,
        layout: str = "",
        bitmap: str = "none",
        resync: bool = False,
    ) -> Array:
        """Of `members`: parameters of disks, by Array.member(). chunk is in bytes, 0 is md's own."""
        array.create_array(array.ArrayParameters(name, level, members, chunk, layout, bitmap, resync))
        return Array(name)

    @staticmethod
    def member(name: str, **parameters: Any) -> DiskParameters:
        """Parameters of one: those of Disk.create()."""
        return DiskParameters(name, **parameters)

    @property
    def disks(self) -> list[Disk]:
        return [Disk(member.name) for member in md.find(self.name).members]

    def show(self) -> dict[str, Any]:
        """david schema array show."""
        return array.describe(md.find(self.name))

    def stats(self) -> dict[str, Any]:
        """Of all members as one (sum), and of each (members)."""
        return show.of_group(group.find(self.name))

    def remove(self, wait: float = 5) -> None:
        array.remove_array(self.name, wait)


@dataclass(frozen=True)
class Pool:
    """Several disks on one backing device. Name it by its name, or by its device."""

    name: str

    @staticmethod
    def create(name: str, backing: str, *, format: bool = False, share: bool = False) -> Pool:
        """On a blank block device, or with `format` on any. share: the same blocks are stored once."""
        pool.create_pool(name, backing, format, share)
        return Pool(name)

    def show(self) -> dict[str, Any]:
        """david schema pool show."""
        return pool.describe(self.name)

    def stats(self) -> dict[str, Any]:
        """Of its disks that are in use, as one (sum), and of each (members)."""
        return show.of_group(group.find(self.name))
