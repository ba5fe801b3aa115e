# SPDX-License-Identifier: GPL-2.0
"""The script of a page: Vega, Vega-Lite and vega-embed in one bundle, page.js, and what these draw.

vl-convert makes the bundle, which takes some seconds, so it is kept in the cache by its version. The
page's policy allows this one script, by its digest, and nothing that evaluates text. licences.txt has the
licences of what is in the bundle, which ask to be told of.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import vl_convert

from ..pages import theme
from ..util import CACHE, write_whole
from . import charts

HERE = Path(__file__).parent
SNIPPET = "window.david = {vegaEmbed};"


@cache
def bundle() -> str:
    path = CACHE / f"vega-embed-{vl_convert.__version__}-{charts.VEGA_LITE}.js"
    if not path.is_file():
        CACHE.mkdir(parents=True, exist_ok=True)
        write_whole(path, str(vl_convert.javascript_bundle(SNIPPET, vl_version=charts.VEGA_LITE)))
    return path.read_text()


@cache
def program() -> str:
    parts = (f"/*!\n{(HERE / 'licences.txt').read_text()}*/", bundle(), (HERE / "page.js").read_text())
    return "\n".join(parts).replace("</script", "<\\/script")


def policy() -> str:
    digest = base64.b64encode(hashlib.sha256(program().encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def of_page(drawings: Sequence[charts.Drawing]) -> str:
    """What stands at a page's end; nothing where there is no drawing."""
    if not drawings:
        return ""
    found = {
        "config": theme.CONFIG,
        "light": dict(zip(theme.NAMES, theme.LIGHT, strict=True)),
        "colours": theme.SERIES,
        "dashes": theme.DASHES,
        "shapes": theme.SHAPES,
        "width": charts.FILE,
        "drawings": [drawing.for_page() for drawing in drawings],
    }
    data = json.dumps(found, separators=(",", ":"), ensure_ascii=False).replace("</", "<\\/")
    return f'<script type="application/json" id="drawings">{data}</script><script>{program()}</script>'
