# SPDX-License-Identifier: GPL-2.0
"""Import of strace's text, with all its options; what has no calls in it, or no names, is refused.

What a line does not say is made up. Without times, calls are a microsecond apart. Without -T, a call takes no
time.
"""

from __future__ import annotations

import errno
import re
import struct
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from . import tracefile
from .account import NOT_UNDERSTOOD, SUMMARY, Clock
from .constants import number
from .tracefile import TraceFile

SECOND = 1_000_000_000
DAY = 86400 * SECOND
BACK = 1000  # ns: what rounding makes of two times
BACKWARD = "lines of an earlier time than the line in front of them: the log is not in its order"
BEGIN = SECOND  # a trace file has no time 0
LARGE = 10_000_000 * SECOND
AT_FDCWD = -100
ALIASES = {
    "pread": "pread64",
    "pwrite": "pwrite64",
    "_llseek": "lseek",
    "fstat64": "fstat",
    "stat64": "stat",
    "lstat64": "lstat",
    "fstatat64": "newfstatat",
    "fcntl64": "fcntl",
    "mmap2": "mmap",
    "sendfile64": "sendfile",
    "truncate64": "truncate",
    "ftruncate64": "ftruncate",
    "umount": "umount2",
    "_newselect": "select",
    "waitpid": "wait4",
    "statfs64": "statfs",
    "fstatfs64": "fstatfs",
    "fadvise64_64": "fadvise64",
    "utimensat_time64": "utimensat",
    "getuid32": "getuid",
    "geteuid32": "geteuid",
    "getgid32": "getgid",
    "getegid32": "getegid",
    "chown32": "chown",
    "fchown32": "fchown",
    "lchown32": "lchown",
    "sigaction": "rt_sigaction",
    "sigprocmask": "rt_sigprocmask",
    "sigreturn": "rt_sigreturn",
    "recv": "recvfrom",
    "send": "sendto",
}
FORKS = ("fork", "vfork", "clone", "clone3")

_TASK = re.compile(r"(?:\[pid +(\d+)(?:<[^>]*>)?\]|(\d+)(?:<[^>]*>)?(?= )) *")  # -Y says the command
# -t, -ttt or -r; with both, how long it is since the last line stands behind. Whole seconds of -r are known
# by what follows: a call, or a line in marks.
_TIME = re.compile(
    r" *(?:(\d+):(\d\d):(\d\d)(?:\.(\d+))?|(\d+)\.(\d+)|(\d{9,})(?= )|(\d+)(?= +[a-zA-Z_<+\[-]))"
    r"(?: \(\+ +\d+(?:\.\d+)?\))? +"
)
_CLOCK = re.compile(r"(?:\[pid +\d+\] +|\d+(?:<[^>]*>)? +)?(?:\d\d:\d\d:\d\d|\d{9,})(?:\.\d+)? ")
_PLACE = re.compile(r"(?:\[(?:[0-9a-fA-F]{8,}|\?+)\] +|\[ *\d+\] +)+")
_CALL = re.compile(r"([a-zA-Z_]\w*)\(")
# The second of an execve that makes its thread the process's first one, if nothing was written meanwhile.
_GOES_ON = re.compile(r"<(?:unfinished|pid changed to \d+) \.\.\.>$")
_RESUMED = re.compile(r"<\.\.\. ([a-zA-Z_]\w*) resumed> ?")
_SUPERSEDED = re.compile(r"\+\+\+ superseded by execve in pid (\d+)(?:<[^>]*>)? \+\+\+")
# -c's table: its titles, by -U others and in another order; a row; the last row.
_SUMMARY = re.compile(r" *(?:(?:% time|seconds|usecs/call|calls|errors|shortest|longest|syscall)(?: +|$))+$")
_ROW = re.compile(r"[-\d. ]*(?:[a-zA-Z_]\w*)?[-\d. ]*$")
_USAGE = re.compile(r"System call usage summary for ")
_PROCESS = re.compile(r"(?:\[ )?Process (?:PID=)?\d+ ")
_FORKED = re.compile(r"<\.\.\. (?:v?fork|clone3?) resumed>.*\)\s*= (\d+)")
# What -y says of a descriptor: a path, in which < and > are escaped, or a socket's ends.
_DECODED = re.compile(r"(?<=\d|D)<(?:[A-Z][\w-]*:\[(?:->|[^<>])*?\]|(?:[^<>]|<[^<>]*>)*)>(?:\(deleted\))?")
AHEAD = 100_000  # lines that are looked through for a fork's end
STAMPS = 200  # lines that are looked through for what kind of times they have
# What -y says of the working directory, also in the forms of -X raw and verbose.
_HERE = re.compile(r"[^\"]*?(?:\bAT_FDCWD|[( ]-100)(?: /\* AT_FDCWD \*/)?<(/(?:[^<>]|<[^<>]*>)*)>")
_MOVES = re.compile(r"[^\"]*?\bf?chdir\(")
_DUMP = re.compile(r" \| [0-9a-f]{5,}  | \* \d+ bytes in buffer | = \d+ buffers in vector ")  # -e read, write
# A call with its result, behind what this reader does not know.
_LIKE_A_CALL = re.compile(r"[a-zA-Z_]\w*\(.*\)\s*= ")
_ARGUMENT = re.compile(r"^[a-z_][a-z0-9_]*=(?!=)")  # its name, which -N, and some calls, put in front of it
_COLOR = re.compile(r"\x1b\[[0-9;]*m")  # --color; in a name strace escapes such letters
_COMMA = re.compile(r"(?:\d+:\d\d:)?\d+,\d{3,9} +[a-z<+-]")  # of -r, -t, -ttt, where a locale has it
_COMMA_BEHIND = re.compile(r"<\d+,\d+>\s*$")  # of -T
COMMA = "a time with a comma, where strace has a point"
_POINTER = re.compile(r"0x[0-9a-f]+")
NEWEST = "7.2"
UNKNOWN_FORM = f"lines of a form that strace up to {NEWEST} does not write"
POINTERS = "calls whose names are only pointers, as by -e raw"
SEPARATE = "lines behind a task's end: files of -ff behind one another; strace-log-merge makes one log"
GUESSED = "names relative to a directory that the text does not say, taken from /: --cwd says it"
FS = 0x200  # CLONE_FS
_DETACHED = re.compile(r"Process (\d+) detached")
NO_EXIT = "tasks without an end"
NO_RETURN = "tasks without an end, in a call"
NO_BEGINNING = "calls without a beginning"
_ENDED = re.compile(r"\+\+\+ (?:exited with (\d+)|killed by (\w+).*) \+\+\+")
_RESULT = re.compile(
    r"\)\s*= (\?|-?\d+|0x[0-9a-f]+)(<(?:[^<>]|->|<[^<>]*>)*>(?:\(deleted\))?)?"  # value, what -y says of it
    r"((?: (?:E[A-Z]|\(|/\*).*?)?)(?: <(\d+\.\d+)>)?\s*$"  # an error, what it means; what -T says
)
_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|[0-7]{1,3}|.)", re.DOTALL)
_SIMPLE = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"f": b"\f", b"v": b"\v", b"a": b"\a", b"b": b"\b"}
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_FIELD = r"\b{}=([^,{{}}\]]+)"
_STAT = re.compile(r"\bstx?_(mode|size|ino|nlink|dev_major|dev_minor)=([^,{}\]]+)")
_U64 = (1 << 64) - 1


def unquote(text: str) -> bytes:
    """A string as C has it, without its quotation marks."""

    def one(found: re.Match[bytes]) -> bytes:
        word = found[1]
        if word[:1] == b"x" and len(word) == 3:
            return bytes([int(word[1:], 16)])
        if word[:1].isdigit() and word[:1] < b"8":
            return bytes([int(word, 8) & 255])
        return _SIMPLE.get(word, word)

    return _ESCAPE.sub(one, text.encode("utf-8", "surrogateescape"))


def split_arguments(text: str) -> list[str]:
    """At the commas that are in no string and in no brackets; without the names that -y and -N add."""
    found, depth, start, at = [], 0, 0, 0
    while at < len(text):
        letter = text[at]
        if letter == "<" and (name := _DECODED.match(text, at)):
            text = text[:at] + text[name.end() :]
            continue
        if letter == '"':
            string = _QUOTED.match(text, at)
            at = string.end() if string else len(text)
            continue
        if letter in "({[":
            depth += 1
        elif letter in ")}]":
            depth -= 1
        elif letter == "," and depth <= 0:
            found.append(text[start:at].strip())
            start = at + 1
        at += 1
    last = text[start:].strip()
    return [_ARGUMENT.sub("", word) for word in found + [last]] if last or found else []


def _field(text: str, name: str) -> int:
    found = re.search(_FIELD.format(name), text)
    return number(found[1]) if found else 0


def _as_lseek(text: str, value: int) -> tuple[str, int]:
    """Of i386: descriptor, offset, the new position in brackets, whence; the result is 0."""
    words = split_arguments(text)
    if len(words) != 4:
        return text, value
    return ", ".join((words[0], words[1], words[3])), number(words[2].strip("[]")) if not value else value


def _no_call(text: str) -> str:
    """What kind of line it is, if no call's: strace has words of its own between those."""
    if not text.strip():
        return "blank lines"
    if text.startswith("---"):
        return "signals"
    if _PROCESS.match(text):
        return "lines of strace's own"
    return "lines of strace's own" if text.startswith("strace:") or " attached" in text[:40] else ""


def _stamp(found: re.Match[str]) -> int:
    """A time as a decimal number, or whole seconds."""
    return int(found[8]) * SECOND if found[8] else int(found[5]) * SECOND + int((found[6] + "0" * 9)[:9])


def _seconds(text: str) -> int:
    whole, _, part = text.partition(".")
    return int(whole) * SECOND + int((part + "0" * 9)[:9])


def _of_a_call_before(line: str) -> str:
    """Lines without task and time, which -k and -e read, write put behind a call's."""
    if line.startswith((" > ", ">")):
        return "lines of stacks"
    return "dumps of what was read and written" if _DUMP.match(line) else ""


@dataclass
class _Place:
    """A working directory, which threads share."""

    known: bool = False


def clock_of(lines: Iterable[str]) -> Clock:
    """Do they begin with the time of a clock, by -t, -tt or -ttt?"""
    found = next(filter(None, map(_CLOCK.match, lines)), None)
    if not found:
        return Clock.NONE
    return Clock.FINE if "." in found[0] else Clock.COARSE


@dataclass
class _Task:
    tid: int
    place: _Place = field(default_factory=_Place)
    pending: tuple[str, str, int] | None = None  # an unfinished call: name, arguments so far, time
    made: set[int] = field(default_factory=set)  # tasks that were seen before their fork returned
    former: int = 0  # the thread that began the execve by which it goes on
    last: tuple[int, str] = (0, "")  # of its lines


class StraceImport:
    """One log. steps() records all of it into the trace."""

    def __init__(
        self, trace: TraceFile, calls: list[tuple[int, str, str, str]], cwd: str | None = None
    ) -> None:
        self._trace = trace
        self._cwd = cwd  # of who was there at first
        self._calls = {name: (nr, args) for nr, name, _, args in calls}
        self._tasks: dict[int, _Task] = {}
        self._now = BEGIN
        self._day = 0
        self._last_clock = 0
        self._relative: bool | None = None  # None: not known yet
        self._first = 0  # of the times since 1970
        self._numbered: bool | None = None  # do lines say whose they are?
        self._ends = 0  # tasks
        self._detached: set[int] = set()
        self._summary = False
        self._lines: Iterator[str] = iter(())
        self._ahead: deque[tuple[int, str]] = deque()
        self._line = 0, ""  # the current one, with its number

    def steps(self, lines: Iterable[str]) -> Iterator[None]:
        self._lines = iter(lines)
        while self._ahead or self._read_on():
            self._line = self._ahead.popleft()
            self._trace.account.go_back_to(*self._line)
            self._take(self._line[1])
            yield
        for task in self._tasks.values():
            if task.tid not in self._detached and task.last[0]:
                kind = NO_RETURN if task.pending else NO_EXIT
                self._trace.account.is_half(kind, *task.last)
            if task.pending:
                self._write(task, *task.pending, self._now, None, 0, "")

    # A line: whose, when, what.

    def _read_on(self) -> bool:
        line = next(self._lines, None)
        if line is None:
            return False
        self._ahead.append((self._trace.account.lines, _COLOR.sub("", line.rstrip("\r\n"))))
        self._trace.account.go_back_to(*self._line)
        return True

    def _take(self, line: str) -> None:
        if self._is_summary(line):
            self._trace.account.has_none(SUMMARY)
            return
        if kind := _of_a_call_before(line):
            self._trace.account.has_none(kind)
            return
        tid, at = 1, 0
        if found := _TASK.match(line):
            # A time without a point looks like a task, where there is none.
            if not (found[2] and len(found[2]) >= 9):
                tid, at = int(found[1] or found[2]) & 0x7FFFFFFF, found.end()
        self._numbered = bool(at)
        time, at = self._time(line, at)
        if found := _PLACE.match(line, at):
            at = found.end()
        text = line[at:]
        if kind := _no_call(text):
            self._trace.account.has_none(kind)
            if found := _DETACHED.search(text):
                self._detached.add(int(found[1]) & 0x7FFFFFFF)
            return
        if self._is_separate(tid, text):
            self._trace.account.refuse(SEPARATE)
            return
        task = self._task(tid)
        task.last = self._line
        if found := _ENDED.match(text):
            self._trace.account.has_none("ends of tasks")
            self._ended(task, found)
        elif found := _SUPERSEDED.match(text):
            self._trace.account.has_none("ends of tasks")
            self._superseded(task, int(found[1]) & 0x7FFFFFFF)
        elif found := _RESUMED.match(text):
            self._resumed(task, found[1], text[found.end() :], time)
        elif found := _CALL.match(text):
            self._called(task, found[1], text[found.end() :], time)
        elif _COMMA.match(text):
            self._trace.account.leave_out(NOT_UNDERSTOOD, why=COMMA)
        elif _LIKE_A_CALL.search(text):
            self._trace.account.refuse(UNKNOWN_FORM)
        else:
            self._trace.misunderstood()

    def _is_separate(self, tid: int, text: str) -> bool:
        """Where no line says whose it is there is one task. The next one begins with a program."""
        gone = self._ends and not self._numbered and tid not in self._tasks
        return bool(gone and not re.match(r"execve(at)?\(", text))

    def _is_summary(self, line: str) -> bool:
        """-C's table is behind the calls. With -A another log may follow."""
        if _SUMMARY.match(line) or _USAGE.match(line):
            self._summary = True
            return True
        if not self._summary or not _ROW.match(line):
            self._summary = False
            return False
        self._summary = "total" not in line.split()
        return True

    def _time(self, line: str, at: int) -> tuple[int, int]:
        found = _TIME.match(line, at)
        if not found:
            self._now += 1000
            return self._now, at
        if found[1]:
            clock = ((int(found[1]) * 60 + int(found[2])) * 60 + int(found[3])) * SECOND
            clock += int(((found[4] or "") + "0" * 9)[:9])
            if clock + DAY // 2 < self._last_clock:
                self._day += DAY
            elif clock + BACK < self._last_clock:
                self._trace.account.is_backward(BACKWARD)
            self._last_clock = clock
            self._now = max(self._now, self._day + clock + BEGIN)
        elif found[7]:
            self._now = int(found[7]) * SECOND
        else:
            stamp = _stamp(found)
            if self._relative is None:
                self._relative = self._are_relative(stamp)
            if self._relative and stamp < LARGE:
                self._now += stamp
            else:
                if LARGE <= stamp < self._now - BEGIN - BACK:
                    self._trace.account.is_backward(BACKWARD)
                # Somebody may have put a line without a time of its own in front: ARTC's sample has one.
                self._now = (stamp if stamp >= LARGE else max(stamp, self._first)) + BEGIN
        return self._now, found.end()

    def _are_relative(self, first: int) -> bool:
        """-r: each since the line before it. Others never become less; times since 1970 are far larger."""
        stamps = [first]
        for line in self._peek(STAMPS):
            task = _TASK.match(line)
            found = _TIME.match(line, task.end() if task else 0)
            if found and (found[5] or found[8]):
                stamps.append(_stamp(found))
        self._first = min((stamp for stamp in stamps if stamp >= LARGE), default=0)
        if self._first:
            return False
        return first < SECOND and (len(set(stamps)) < 2 or stamps != sorted(stamps))

    # Tasks.

    def _task(self, tid: int) -> _Task:
        if tid not in self._tasks:
            parent = self._parent_of(tid)
            self._tasks[tid] = _Task(tid)
            if parent and parent.pending:
                parent.made.add(tid)
                self._fork(parent, tid, parent.pending[0], parent.pending[1], parent.pending[2])
            else:
                self._place(self._tasks[tid])
        return self._tasks[tid]

    def _place(self, task: _Task) -> None:
        """Where one is that was there at first: --cwd says it, or -y."""
        said = self._cwd.encode(errors="surrogateescape") if self._cwd else self._said_by_y(task.tid)
        if said:
            task.place.known = True
            self._trace.record(tracefile.TASK, task.tid, task.tid, blobs=[(tracefile.CWD, said)])

    def _said_by_y(self, tid: int) -> bytes | None:
        for line in chain([self._line[1]], self._peek(STAMPS)):
            whose = _TASK.match(line)
            if self._numbered and (not whose or int(whose[1] or whose[2]) & 0x7FFFFFFF != tid):
                continue
            if found := _HERE.match(line):
                return unquote(found[1])
            if _MOVES.match(line):
                return None
        return None

    def _peek(self, count: int) -> Iterator[str]:
        """The lines behind the current one."""
        for at in range(count):
            if at >= len(self._ahead) and not self._read_on():
                return
            yield self._ahead[at][1]

    def _parent_of(self, tid: int) -> _Task | None:
        """Who has a fork under way. Of several it is the one whose fork returns that number."""
        forking = [
            task
            for task in self._tasks.values()
            if task.pending and task.pending[0] in FORKS and not task.made
        ]
        if len(forking) < 2:
            return forking[0] if forking else None
        by = self._forked_by(tid)
        return next((task for task in forking if task.tid == by), forking[0] if not by else None)

    def _forked_by(self, tid: int) -> int:
        """Reads on to the line that says so; 0: there is none."""
        for line in self._peek(AHEAD):
            found = _FORKED.search(line)
            whose = _TASK.match(line)
            if found and whose and int(found[1]) == tid:
                return int(whose[1] or whose[2]) & 0x7FFFFFFF
        return 0

    def _superseded(self, leader: _Task, by: int) -> None:
        """Another thread's execve goes on as the process's first one."""
        former = self._tasks.pop(by, None)
        if not former or not former.pending:
            return
        if leader.pending:
            self._write(leader, *leader.pending, self._now, None, 0, "")
        leader.pending = former.pending
        leader.former = by

    def _fork(self, parent: _Task, tid: int, name: str, text: str, time: int) -> None:
        flags = {"fork": 0, "vfork": 0x4100}.get(name)
        if flags is None:
            found = re.search(r"flags=([\w|]+)", text)
            flags = number(found[1]) if found else 0
        self._trace.record(tracefile.FORK, parent.tid, tid, time, time, args=(flags,))
        child = self._tasks[tid]
        child.place = parent.place if flags & FS else _Place(parent.place.known)

    def _ended(self, task: _Task, found: re.Match[str]) -> None:
        if task.pending:
            self._write(task, *task.pending, self._now, None, 0, "")
        killed = number(found[2] or "0") if (found[2] or "").startswith("SIG") else 0
        status = int(found[1] or 0) << 8 if found[1] else killed or 9
        self._trace.record(tracefile.EXIT, task.tid, entry=self._now, exit=self._now, result=status)
        self._ends += 1
        del self._tasks[task.tid]

    # Calls.

    def _called(self, task: _Task, name: str, rest: str, time: int) -> None:
        rest = rest.rstrip()
        if found := _GOES_ON.search(rest):
            task.pending = (name, rest[: found.start()], time)
            task.made = set()
            return
        if rest.endswith("<detached ...>"):
            # What it does behind that, strace has not seen.
            self._detached.add(task.tid)
            self._write(task, name, rest[: -len("<detached ...>")], time, time, None, 0, "")
            return
        self._complete(task, name, rest, time)

    def _resumed(self, task: _Task, name: str, rest: str, time: int) -> None:
        if name in ("execve", "execveat") and (task.pending or ("",))[0] != name:
            # -qqq does not say whose execve this is.
            others = (other for other in self._tasks.values() if other.place is task.place)
            if by := next((other for other in others if (other.pending or ("",))[0] == name), None):
                self._superseded(task, by.tid)
        if not task.pending:
            # The beginning of the log is missing.
            self._trace.account.is_half(NO_BEGINNING, *self._line)
            self._complete(task, name, rest, time)
            return
        begun = task.pending
        task.pending = None
        self._trace.account.has_none("beginnings of calls")
        self._complete(task, begun[0], begun[1] + rest, begun[2], time)

    def _complete(self, task: _Task, name: str, rest: str, entry: int, resumed: int = 0) -> None:
        found = None
        # The result is behind the last bracket that ends the arguments.
        for place in re.finditer(r"\)\s*= ", rest):
            found = _RESULT.match(rest, place.start()) or found
        if not found:
            if _COMMA_BEHIND.search(rest):
                self._trace.account.leave_out(NOT_UNDERSTOOD, why=COMMA)
            elif re.search(r"\)\s*= \S", rest):
                self._trace.account.refuse(UNKNOWN_FORM)
            else:
                self._trace.misunderstood()
            return
        text, value, more = rest[: found.start()], found[1], found[3].strip()
        result = None if value == "?" and not more else number(value) if value != "?" else 0
        if more[:1] == "E" and value in ("-1", "?"):
            word = more.split()[0]
            codes = {
                "ERESTARTSYS": 512,
                "ERESTARTNOINTR": 513,
                "ERESTARTNOHAND": 514,
                "ERESTART_RESTARTBLOCK": 516,
            }
            code = codes.get(word, 0) or getattr(errno, word, 0)
            result = -code or -1
        exit = entry + _seconds(found[4]) if found[4] else resumed or entry
        self._write(task, name, text, entry, exit, result, result or 0, more)

    def _write(
        self,
        task: _Task,
        name: str,
        text: str,
        entry: int,
        exit: int,
        result: int | None,
        value: int,
        more: str,
    ) -> None:
        del more
        task.pending = None
        if name == "_llseek":
            text, value = _as_lseek(text, value)
        name = ALIASES.get(name, name)
        nr, letters = self._calls.get(name, (tracefile.UNKNOWN, ""))
        args, blobs, flags = self._arguments(name, letters, text)
        if flags & tracefile.BAD_PATH and value >= 0 and self._has_pointers(letters, text):
            self._trace.account.refuse(POINTERS)
            return
        if result is None or value >= 0:
            self._look_where(task, name, letters, args, blobs)
        if result is None:
            flags |= tracefile.NO_EXIT
        elif name in FORKS and value > 0 and value not in task.made:
            self._tasks.setdefault(value, _Task(value))
            self._fork(task, value, name, text, entry)
        elif name in ("execve", "execveat") and value == 0:
            self._trace.record(tracefile.EXEC, task.tid, task.former or task.tid, entry, entry)
            task.former = 0
        self._trace.call(task.tid, nr, entry, exit, value, args, flags, blobs)

    def _has_pointers(self, letters: str, text: str) -> bool:
        words = split_arguments(text)
        return any(
            letter in "pP" and _POINTER.fullmatch(word)
            for letter, word in zip(letters, words, strict=False)
        )

    def _look_where(
        self, task: _Task, name: str, letters: str, args: tuple[int, ...], blobs: list[tracefile.Blob]
    ) -> None:
        """Does it name a file relative to a working directory that nobody has said?"""
        if name == "fchdir":
            task.place.known = True
        paths = dict(blobs)
        if name in ("symlink", "symlinkat"):
            paths.pop(tracefile.PATH, None)  # what the link says
        for kind, letter in ((tracefile.PATH, "d"), (tracefile.PATH2, "D")):
            path = paths.get(kind, b"/") or b"/"
            if not path.startswith(b"/") and not task.place.known:
                if letter not in letters or args[letters.index(letter)] == AT_FDCWD:
                    self._trace.account.guess(GUESSED)
                    return
        if name == "chdir" and paths.get(tracefile.PATH, b"").startswith(b"/"):
            task.place.known = True

    def _arguments(
        self, name: str, letters: str, text: str
    ) -> tuple[tuple[int, ...], list[tracefile.Blob], int]:
        words = split_arguments(text)
        blobs: list[tracefile.Blob] = []
        args = [0] * 6
        flags = 0
        if name == "clone":
            found = re.search(r"flags=([\w|]+)", text)
            return (number(found[1]) if found else 0,), blobs, 0
        offsets = []
        for i, (letter, word) in enumerate(zip(letters, words, strict=False)):
            if letter in "pP":
                string = _QUOTED.match(word)
                if string:
                    blobs.append((tracefile.PATH if letter == "p" else tracefile.PATH2, unquote(string[1])))
                elif word == "NULL" and "AT_EMPTY_PATH" in text:
                    blobs.append((tracefile.PATH, b""))
                elif word != "NULL":
                    flags |= tracefile.BAD_PATH
            elif letter == "y":
                offsets.append(word)
            elif letter in "vrah":
                self._structure(letter, word, blobs)
            elif letter in "st":
                self._stat(word, blobs)
            elif letter not in "b":
                args[i] = number(word)
        if name in ("readlink", "readlinkat") and len(words) == len(letters):
            # What was cut off by -s ends in dots.
            if said := _QUOTED.fullmatch(words[letters.index("p") + 1]):
                blobs.append((tracefile.TARGET, unquote(said[1])))
        self._told(name, words, blobs)
        if offsets:
            given = [
                number(word.strip("[]").split("]")[0]) if word.startswith("[") else -1 for word in offsets
            ]
            blobs.append((tracefile.OFFSETS, struct.pack("<2q", *(given + [-1])[:2])))
        return tuple(args), blobs, flags

    @staticmethod
    def _told(name: str, words: list[str], blobs: list[tracefile.Blob]) -> None:
        """What the kernel has written into structures: how long messages were, who has ended."""
        if name in ("sendmmsg", "recvmmsg") and len(words) > 1:
            lengths = [int(length) & 0xFFFFFFFF for length in re.findall(r"\bmsg_len=(\d+)", words[1])]
            if lengths:
                blobs.append((tracefile.MESSAGES, struct.pack(f"<{len(lengths)}I", *lengths)))
        if name == "waitid" and len(words) > 2 and re.search(r"si_code=CLD_(EXITED|KILLED|DUMPED)", words[2]):
            if child := re.search(r"si_pid=(\d+)", words[2]):
                blobs.append((tracefile.CHILD, struct.pack("<I", int(child[1]) & 0xFFFFFFFF)))

    def _structure(self, letter: str, word: str, blobs: list[tracefile.Blob]) -> None:
        if letter == "v":
            total = sum(number(length) for length in re.findall(r"iov_len=(\d+)", word))
            blobs.append((tracefile.TOTAL, struct.pack("<Q", total & (1 << 64) - 1)))
        elif letter == "r":
            fds = re.findall(r"(\d+)(?:<[^>]*>)?(?=[,\]])", word)
            if len(fds) >= 2:
                blobs.append((tracefile.FDS, struct.pack("<II", *(int(fd) & 0x7FFFFFFF for fd in fds[:2]))))
        elif letter == "a":
            blobs.append(
                (tracefile.ARGV, b"\0".join(unquote(found) for found in _QUOTED.findall(word)) + b"\0")
            )
        elif letter == "h":
            how = [_field(word, name) & (1 << 64) - 1 for name in ("flags", "mode", "resolve")]
            blobs.append((tracefile.HOW, struct.pack("<3Q", *how)))

    def _stat(self, word: str, blobs: list[tracefile.Blob]) -> None:
        """Type and size are always said; which file it is by -v only, and is 0 without."""
        fields = {found[1]: found[2] for found in _STAT.finditer(word)}
        if "mode" not in fields:
            return
        value = {name: number(text) & _U64 for name, text in fields.items()}
        if device := re.search(r"st_dev=makedev\((\w+), ?(\w+)\)", word):
            value["dev_major"], value["dev_minor"] = (number(text) & _U64 for text in device.groups())
        known = "ino" in value and "dev_minor" in value
        device_number = value["dev_major"] << 8 | value["dev_minor"] if known else 0
        inode = value["ino"] if known else 0
        blobs.append(
            (
                tracefile.ATTR,
                struct.pack(
                    "<5Q2I",
                    device_number & _U64,
                    inode,
                    value.get("size", 0),
                    0,
                    0,
                    value["mode"] & 0xFFFFFFFF,
                    value.get("nlink", 0) & 0xFFFFFFFF,
                ),
            )
        )
