# SPDX-License-Identifier: GPL-2.0
"""Debian's stock kernels: headers to build against, images for the vm lab."""

import re
from pathlib import Path

from .util import UserError

RELEASE = {"6.1": r"6\.1\.0-\d+-amd64", "6.12": r"6\.12\.\d+\+deb\d+-amd64"}
VERSIONS = tuple(RELEASE)


def release(kernel: str) -> str:
    """The newest installed headers' kernel release, such as 6.1.0-42-amd64."""
    found = [p.name.removeprefix("linux-headers-") for p in Path("/usr/src").glob("linux-headers-*")]
    found = [name for name in found if re.fullmatch(RELEASE[kernel], name)]
    if not found:
        raise UserError(f"the headers of Debian's {kernel} kernel are not installed: "
                        "run `tools/setup packages`")
    return max(found, key=lambda name: [int(n) for n in re.findall(r"\d+", name)])


def headers(kernel: str) -> Path:
    return Path("/usr/src") / f"linux-headers-{release(kernel)}"
