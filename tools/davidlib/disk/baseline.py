# SPDX-License-Identifier: GPL-2.0
"""Figures of a part of a disk's life: what was counted since an earlier look at it.

The kernel counts from the disk's creation. An earlier look is a file of `david stats --json`, or a mark that
`david stats --reset` leaves. Both are of one disk: `created` is another one of a disk that is made again
under the same name, so its figures have no difference to those before.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from .dm import DeviceError

MARKS = Path("/run/dm-david")
# What is so now, and was not counted. The other numbers only grow while the disk lives.
STATES = (
    *("block_size", "target_sectors", "store_blocks", "store_used", "store_low_water", "late_max"),
    *("pool_saved", "pool_memory", "reach", "pending"),
    *("created", "exact_blocks", "exact_limit", "raw_names", "raw_names_full", "mem", "ranges", "blocks"),
)
STATES_WITHIN = {"unclassified": ("now", "most"), "checksums": ("blocks", "store")}


def _less(name: str, now: Any, then: Any) -> Any:
    if isinstance(now, dict):
        still = STATES_WITHIN.get(name, ())
        return {key: now[key] if key in still else now[key] - then.get(key, 0) for key in now}
    if isinstance(now, list):
        return [count - (then[i] if i < len(then) else 0) for i, count in enumerate(now)]
    return now - then


def _counted(name: str, value: Any) -> bool:
    return name not in STATES and not isinstance(value, str) and name != "mounted_above"


def _least(value: Any) -> int:
    if isinstance(value, dict):
        return min(value.values(), default=0)
    return min(value, default=0) if isinstance(value, list) else value


def difference(now: dict[str, Any], then: dict[str, Any]) -> dict[str, Any]:
    """What was counted between two looks at a disk, both as stats.as_dict() has them."""
    try:
        counted = {name: value for name, value in now.items() if _counted(name, value)}
        one_disk = 0 < now["created"] == then["created"]
        result = now | {name: _less(name, value, then[name]) for name, value in counted.items()}
    except (KeyError, TypeError, AttributeError):
        raise DeviceError("the earlier figures are not of 'david stats --json' of this version") from None
    if not one_disk or min(_least(result[name]) for name in counted) < 0:
        raise DeviceError("the earlier figures are of another disk, or of one that was made again meanwhile; "
                          "make them again: 'david stats NAME --json'")
    # The latest of all may have been before: the histogram bounds the latest since.
    top = max((bucket for bucket, count in enumerate(result["late"]) if count), default=-1)
    result["late_max"] = min(now["late_max"], 1000 << top) if top >= 0 else 0
    return result


def read_file(path: str, name: str) -> dict[str, Any]:
    """The figures of the disk NAME in a file of `david stats --json`; they must be of its whole life."""
    try:
        figures = json.loads(Path(path).read_text())
    except OSError as error:
        raise DeviceError(f"--since {path}: {error.strerror}") from None
    except ValueError as error:
        remedy = "make it with 'david stats NAME --json'"
        raise DeviceError(f"--since {path}: not JSON ({error}); {remedy}") from None
    if not isinstance(figures, dict):
        raise DeviceError(f"--since {path}: not of 'david stats NAME --json'")
    if figures.get("name", name) != name:
        raise DeviceError(f"--since {path}: of the disk {figures['name']}, not of {name}")
    if part := figures.get("since"):
        raise DeviceError(f"--since {path}: its figures are those {part}, and not of the disk's whole life; "
                          "make it with 'david stats NAME --all --json'")
    return figures


def set_mark(name: str, figures: dict[str, Any]) -> None:
    """From now on mark() returns these figures."""
    MARKS.mkdir(mode=0o755, exist_ok=True)
    path = MARKS / f"{name}.json"
    new = path.with_suffix(".new")
    new.write_text(json.dumps({"at": int(time.time()), "figures": figures}))
    os.replace(new, path)


def mark(name: str, now: dict[str, Any]) -> tuple[int, dict[str, Any]] | None:
    """When the disk's mark was set (seconds since 1970), and the figures then; None without one. NOW are its
    figures."""
    try:
        left = json.loads((MARKS / f"{name}.json").read_text())
        if 0 < left["figures"]["created"] == now["created"]:
            return left["at"], left["figures"]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


def _asked(figures: dict[str, Any]) -> tuple[int, ...]:
    return tuple(figures["requests"][kind] for kind in ("read", "write"))


def without_other_reach(shown: dict[str, Any], now: dict[str, Any], then: dict[str, Any] | None) -> None:
    """Places are not counted: `reach` is of what was asked since the mark, or in the whole life, and can be
    said of the figures SHOWN only if these are of the same requests. They are what NOW has counted since
    THEN. If not, it is left out: 0, as of several disks."""
    left = mark(now["name"], now)
    begun = _asked(left[1]) if left else (0, 0)
    if begun != (_asked(then) if then else (0, 0)):
        shown["reach"] = dict.fromkeys(now["reach"], 0)


def drop_mark(name: str) -> None:
    (MARKS / f"{name}.json").unlink(missing_ok=True)
