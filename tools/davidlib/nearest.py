# SPDX-License-Identifier: GPL-2.0
"""Did you mean? Of a name that is not known, those that may have been meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

# Names of drives are long; who has typed a part of one has meant one of a few.
MOST = 4


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """The names that it is a part of, or that differ from it by little."""
    names = sorted(set(known))
    plain = name.lower()
    parts = [one for one in names if len(plain) > 2 and plain in one.lower()]
    alike = {one.lower(): one for one in names}
    close = [alike[one] for one in difflib.get_close_matches(plain, alike, n=MOST, cutoff=0.7)]
    return (parts or close)[:MOST]


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """The end of a message: the names that may have been meant, or what to do."""
    found = nearest(name, known)
    return f"did you mean {' or '.join(found)}?" if found else otherwise


def shorter(message: str) -> str:
    """What argparse says of a word that is no choice, without all of the choices where one was meant."""
    said = re.match(r"(.*invalid choice: )['\"](.*)['\"] \(choose from (.*)\)$", message, re.S)
    if not said:
        return message
    choices = [choice.strip("' ") for choice in said[3].split(",")]
    return f"{said[1]}'{said[2]}': {did_you_mean(said[2], choices, 'choose from ' + ', '.join(choices))}"
