# SPDX-License-Identifier: GPL-2.0
"""Where davidlib is: beside this package (a source tree, or pip), or where `make install` puts it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def find_davidlib() -> None:
    """Make `import davidlib` work; ImportError says where it was looked for."""
    if "davidlib" in sys.modules:
        return
    here = Path(__file__).resolve()
    places = [
        here.parents[1] / "davidlib",
        *(above / "share" / "dm-david" / "tools" / "davidlib" for above in here.parents),
    ]
    for place in places:
        if (place / "__init__.py").is_file():
            spec = importlib.util.spec_from_file_location(
                "davidlib", place / "__init__.py", submodule_search_locations=[str(place)]
            )
            assert spec and spec.loader
            sys.modules["davidlib"] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules["davidlib"])
            return
    raise ImportError(
        "dm_david: there is no davidlib beside it, nor in PREFIX/share/dm-david; install dm-david again"
    )
