# SPDX-License-Identifier: GPL-2.0
"""A page of `david report` in Chromium, measured: on a phone, a screen and a wall, light, dark, and on paper.

boxes.js looks for what is outside its card, on something else, cut, pale, empty or without a unit. Besides,
nothing may come from elsewhere or stand on the console, and what one sees first has to be there in time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .browser import Browser

SCRIPT = Path(__file__).with_name("boxes.js").read_text()
WIDTHS = (400, 1280, 2560)
SCHEMES = ("light", "dark")
PAPER = 688  # px of A4 without its margins of 14 mm
NO_TIME = 0.02  # seconds: Vega alone takes more
IN_TIME = 3.0  # seconds until what one sees first is drawn


@dataclass(frozen=True)
class View:
    width: int
    scheme: str = "light"
    media: str = "screen"

    def __str__(self) -> str:
        return "printed" if self.media == "print" else f"{self.width} px, {self.scheme}"


EVERY = (*(View(width, scheme) for width in WIDTHS for scheme in SCHEMES), View(PAPER, media="print"))
READY = """new Promise((done, fail) => {
	const since = performance.now();
	const look = () => {
		const seen = [...document.querySelectorAll("figure[data-drawing]")].filter(
			one => one.getBoundingClientRect().top < innerHeight);
		if (document.documentElement.dataset.ready && seen.every(one => one.dataset.drawn))
			return done(1);
		if (performance.now() - since > 20000)
			return fail(new Error("drawings that are in sight are not drawn"));
		setTimeout(look, 5);
	};
	look();
})"""
# Two frames: the first draws what the new width has called for.
SETTLED = """davidDrawAll().then(() => new Promise(done =>
	requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(1), 30)))))"""


def opened(browser: Browser, page: Path) -> float:
    """How long it takes until what one sees is drawn: seconds of the page's own thread. Other work on the
    machine does not count."""
    browser.open(page)
    browser.evaluate(READY)
    # All that this process has done: a page mostly has one of its own, and else the figure is too large.
    return browser.busy()


def measured(browser: Browser, view: View) -> list[str]:
    """What is wrong with the open page there."""
    browser.see(view.width, scheme=view.scheme, media=view.media)
    if view.media == "print":
        browser.evaluate("dispatchEvent(new Event('beforeprint'))")
    browser.evaluate(SETTLED)
    found = browser.evaluate(SCRIPT)
    if view.media == "print":
        browser.evaluate("dispatchEvent(new Event('afterprint'))")
    empty = [what for what, count in found["counted"].items() if not count]
    return [f"{view}: {text}" for text in [*found["wrong"], *(f"there are no {what}" for what in empty)]]


def from_elsewhere(page: Path) -> list[str]:
    text = page.read_text()
    found = re.findall(r"""<(?:script|link|img|iframe|a)\b[^>]*?(?:src|href)=["'](https?:[^"']*)""", text)
    return [f"it wants {address}" for address in found]


def wrong(browser: Browser, page: Path, views: Iterable[View] = EVERY, in_time: float = 0) -> list[str]:
    """All that is wrong with a page, in words; IN_TIME is how many seconds it may take, if it is not 0."""
    found = from_elsewhere(page)
    browser.see(WIDTHS[1])
    took = opened(browser, page)
    if took < NO_TIME:
        found.append(f"it took {took:.4f} s of CPU until one sees it: that was not measured")
    if in_time and took > in_time:
        found.append(f"it takes {took:.1f} s until one sees it, and {in_time:g} s are allowed")
    colours = {}
    for view in views:
        found += measured(browser, view)
        colours[view.media, view.scheme] = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    if len({colours[key] for key in colours if key[0] == "screen"}) < len(
        [key for key in colours if key[0] == "screen"]
    ):
        found.append("it does not become dark")
    return found + [f"on the console: {text}" for text in dict.fromkeys(browser.said)]
