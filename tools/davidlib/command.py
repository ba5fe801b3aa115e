# SPDX-License-Identifier: GPL-2.0
"""What the parsers of commands have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Command = Callable[[argparse.Namespace], int]
# As a text: Python knows no type within this one.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


class OnceEach(argparse.Action):
    """Like "append", of KEY=VALUE: of a key that is there twice the last value would count alone."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace,
                 values: str | Sequence[Any] | None, option: str | None = None) -> None:
        assert isinstance(values, str)
        before, key = getattr(namespace, self.dest), values.partition("=")[0]
        if key in [one.partition("=")[0] for one in before]:
            raise argparse.ArgumentError(self, f"{key} is there twice; leave one out")
        setattr(namespace, self.dest, [*before, values])


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
