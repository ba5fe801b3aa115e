# SPDX-License-Identifier: GPL-2.0
"""A page of `david report` in Chromium, from a phone to a wall, in light and dark."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

WIDTHS = (400, 1280, 2560)
# Of Chromium's settings: 0 is dark.
MODES = {"light": (), "dark": ("--blink-settings=preferredColorScheme=0",)}
# Chromium's window is never narrower than 500, so the page is in a frame of the width wanted.
FRAME = """<!doctype html><body>
<iframe id="f" style="width:{width}px;height:1000px;border:0" src="{page}"></iframe>
<script>onload = () => {{
  const found = document.getElementById("f").contentDocument;
  document.title = found.documentElement.scrollWidth + " " + getComputedStyle(found.body).color;
}}</script>"""


def dom(page: Path, width: int, mode: str) -> tuple[int, str]:
    """How wide the page is where there is that width, and the colour of its text."""
    frame = page.with_name("frame.html")
    frame.write_text(FRAME.format(width=width, page=page.as_uri()))
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
               *MODES[mode], f"--window-size={max(width, 500)},1000", "--dump-dom", frame.as_uri()]
    said = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    found = re.search(r"<title>(\d+) (.*?)</title>", said)
    if not found:
        raise SystemExit(f"{page} has not been rendered: {said[:300]}")
    return int(found[1]), found[2]


def look(page: Path) -> None:
    """Nothing of the page is cut off at any width, dark is not light, and nothing comes from elsewhere."""
    text = page.read_text()
    addresses = set(re.findall(r"""(?:src|href)=["'](https?:[^"']*)""", text))
    if addresses:
        raise SystemExit(f"the page wants {addresses}")
    colours = {}
    for mode in MODES:
        for width in WIDTHS:
            wide, colours[mode] = dom(page, width, mode)
            if wide > width:
                raise SystemExit(f"the page is {wide} wide where there are {width}")
    if colours["light"] == colours["dark"]:
        raise SystemExit("the page does not become dark")


def refuses_what_is_wrong(top: Path) -> None:
    """Planted: a page that is too wide, one without dark, one that wants the network."""
    dark = "<style>body{color:#123}@media (prefers-color-scheme:dark){body{color:#abc}}</style>"
    wrong = {"wide": f"{dark}<div style='width:450px'>wide</div>", "light": "no dark",
             "network": f"{dark}<a href='https://example.org'>"}
    for name, text in {**wrong, "right": dark}.items():
        page = top / f"{name}.html"
        page.write_text(f"<!doctype html><body>{text}</body>")
        try:
            look(page)
            refused = False
        except SystemExit:
            refused = True
        if refused != (name in wrong):
            raise SystemExit(f"pages.look() is wrong about a page: {name}")
