# SPDX-License-Identifier: GPL-2.0
"""Texts of other tools that no importer reads: which line shows what they are, and what can be done.

Of a table it is tried whether it would be one of the formats with other signs between its values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

LINES = 50  # of a text's beginning that are looked at
LINE_MAX = 10000  # bytes of each of them

_BLKTRACE = "`blktrace -d DEVICE -o - | blkparse -i -` records the same, and that is read"
_TRACE = "`david trace record` or strace records calls"
# What a line of the text looks like, who writes it, and what to do.
_OTHERS = (
    (re.compile(r"# tracer: \w+"), "ftrace's", _BLKTRACE),
    (re.compile(r"\s*\S.*-\d+\s+(\(\s*\S+\)\s+)?\[\d+\]\s+\S+\s+\d+\.\d+: \w+: "),
     "ftrace's", _BLKTRACE),
    (re.compile(r"\s*\S.*\s\d+(/\d+)?\s+(\[\d+\]\s+)?\d+\.\d+:\s+(\d+\s+)?[\w-]+:[\w-]+:? "),
     "perf script's", f"{_BLKTRACE}; {_TRACE}"),
    (re.compile(r"\s*\d+\.\d+ \(\s*(\d+\.\d+ ms)?\s*\): .*\("), "perf trace's", _TRACE),
    (re.compile(r"TIME\(s\)\s+COMM\s+PID\s"), "biosnoop's", _BLKTRACE),
    (re.compile(r"Attaching \d+ probe|Tracing .*Ctrl-C|@\w*\[.*\]: \d"), "a tool of bcc's or bpftrace's",
     f"{_BLKTRACE}; {_TRACE}"),
    (re.compile(r"Device:?\s+.*\b(r/s|tps)\b"), "iostat's", f"it has no requests; {_BLKTRACE}"),
    (re.compile(r"\d+, (\d+, [012], \d+(, \d+){0,3}|[012], \d+(, \d+){16,})\s*$"),
     "a log of fio's measured values", "it has no requests in order; `write_iolog=FILE` writes them"),
    (re.compile(r"(\[pid \d+\] )?\w+->\w+\(|\+\+\+ exited \(status"), "ltrace's", _TRACE),
)

# What stands between a table's values, or around them, and the command that makes it a comma, or nothing.
_SIGNS: tuple[tuple[str, Callable[[str], str], str], ...] = (
    ("quotes around its values", lambda line: line.replace('"', ""), "tr -d '\"'"),
    ("';' between its values, not ','", lambda line: line.replace(";", ","), "tr ';' ','"),
    ("tabs between its values, not ','", lambda line: line.replace("\t", ","), "tr '\\t' ','"),
    ("blanks between its values, not ','", lambda line: ",".join(line.split()) + "\n", "tr -s ' ' ','"),
)


def other_tool(lines: list[str]) -> str:
    """Whose text it is, by which line; nothing, where that is not known."""
    for number, line in enumerate(lines[:LINES], 1):
        for form, whose, what in _OTHERS:
            if form.match(line[:LINE_MAX]):
                return f"line {number} is {whose}, {line.strip()[:60]!r}: {what}"
    return ""


def first_line(lines: list[str]) -> str:
    """What is said of a text of which nothing else is known."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            return f"line {number}, {line.strip()[:60]!r}, is of none of them"
    return ""


def rewritten(lines: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    """The beginning as it would be with other signs: what is wrong with it, the command, and the lines."""
    head = lines[:LINES]
    for wrong, change, command in _SIGNS:
        changed = [change(line) for line in head]
        if changed == head:
            continue
        yield wrong, f"{command} <FILE", changed
        for more, again, further in _SIGNS[1:]:
            twice = [again(line) for line in changed]
            if change is _SIGNS[0][1] and twice != changed:
                yield f"{wrong}, and {more}", f"{command} <FILE | {further}", twice
