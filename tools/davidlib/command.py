# SPDX-License-Identifier: GPL-2.0
"""What the parsers of commands have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeAlias

Command = Callable[[argparse.Namespace], int]
# As a text: Python knows no type within this one.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add(sub: Commands, name: str, func: Command, text: str, example: str) -> argparse.ArgumentParser:
    """A command with its help: what it does, in one line, and an example."""
    parser = sub.add_parser(
        name,
        help=text,
        description=text[0].upper() + text[1:] + ".",
        epilog="example:\n" + example,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(func=func)
    return parser
