# SPDX-License-Identifier: GPL-2.0
"""Import of nfsdump's text, as the Harvard traces have it: calls (C2, C3) and replies (R2, R3).

A file is known by its handle. It gets the path /nfs/HANDLE: its directory may have been looked up before the
trace. A reply ends the call. A call whose reply is missing is not recorded, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from . import tracefile
from .from_requests import Calls, Requests, Transfer, each

_LINE = re.compile(r"(\d+)\.(\d+) (\S+) (\S+) [TU] ([CR])([23]) ([0-9a-f]+) ([0-9a-f]+) (\w+)(?: (.*))?$")
_QUOTED = re.compile(r'(\w+)\s+"((?:[^"\\]|\\.)*)"|(\w+)\s+(\S+)')
MOST = 1 << 20  # calls that wait for a reply


class Nfsdump:
    def __init__(self, requests: Requests) -> None:
        self.to = requests
        self.waiting: dict[tuple[str, str], tuple[int, str, dict[str, str]]] = {}

    def take(self, line: str) -> None:
        if not line:
            self.to.account.has_none("blank lines")
            return
        found = _LINE.match(line)
        if not found:
            raise ValueError(line)
        seconds, part, source, target, way, _, xid, _, name, rest = found.groups()
        time = int(seconds) * 10**9 + int((part + "0" * 9)[:9])
        fields = {
            one or three: two or four
            for one, two, three, four in _QUOTED.findall((rest or "").removeprefix("OK"))
        }
        if way == "C":
            if len(self.waiting) > MOST:
                self.waiting.pop(next(iter(self.waiting)))
                self.to.trace.misunderstood()
            self.waiting[source, xid] = time, name, fields
            self.to.account.has_none("beginnings of calls")
            return
        begun = self.waiting.pop((target, xid), None)
        if begun is None:
            raise ValueError("a reply without its call")
        self._done(self._task(target), begun, time, rest or "", fields)

    def _task(self, client: str) -> int:
        """A client is a task; its address says which."""
        return int(re.sub(r"[^0-9a-f]", "", client) or "0", 16) % 0x3FFFFFFF + 1

    def _done(
        self, tid: int, begun: tuple[int, str, dict[str, str]], end: int, rest: str, reply: dict[str, str]
    ) -> None:
        start, name, fields = begun
        good = rest.startswith("OK")
        path = "/nfs/" + fields.get("fh", "unknown")
        match name:
            case "read" | "write" if good:
                offset = int(fields.get("off", fields.get("offset", "0")), 16)
                size = int(reply.get("count", fields.get("count", "0")), 16)
                self.to.transfer(Transfer(tid, path, name == "write", offset, size, start, end))
            case "commit" if good:
                self.to.sync(tid, path, start)
            case "getattr" | "access" | "setattr":
                self._named(tid, "stat", start, end, 0 if good else -5, path)
            case "lookup":
                self._named(tid, "stat", start, end, 0 if good else -2, self._child(path, fields))
            case "create" | "mkdir" | "remove" | "rmdir":
                call = {"create": "mknod", "mkdir": "mkdir", "remove": "unlink", "rmdir": "rmdir"}[name]
                mode = (0, 0o100644) if name == "create" else ()
                self._named(tid, call, start, end, 0 if good else -5, self._child(path, fields), mode)
            case "rename":
                other = f"/nfs/{fields.get('fh2', 'unknown')}/{fields.get('name2', 'unknown')}"
                self._named(
                    tid, "rename", start, end, 0 if good else -5, self._child(path, fields), (), other
                )
            case (
                "readdir"
                | "readdirp"
                | "readdirplus"
                | "readlink"
                | "symlink"
                | "link"
                | "fsstat"
                | "statfs"
                | "fsinfo"
                | "pathconf"
                | "null"
                | "mknod"
                | "read"
                | "write"
                | "commit"
            ):
                self._named(tid, "stat", start, end, 0 if good else -5, path)
            case _:
                raise ValueError(name)

    def _child(self, directory: str, fields: dict[str, str]) -> str:
        return f"{directory}/{fields.get('name', fields.get('fn', 'unknown'))}"

    def _named(
        self,
        tid: int,
        call: str,
        start: int,
        end: int,
        result: int,
        path: str,
        args: tuple[int, ...] = (),
        other: str = "",
    ) -> None:
        blobs = [(tracefile.PATH, path.encode(errors="surrogateescape"))]
        if other:
            blobs.append((tracefile.PATH2, other.encode(errors="surrogateescape")))
        self.to.call(tid, call, start, end, result, args, blobs)


def nfsdump(trace: tracefile.TraceFile, calls: Calls, lines: Iterable[str]) -> Iterator[None]:
    requests = Requests(trace, calls)
    reader = Nfsdump(requests)
    yield from each(requests, lines, reader.take)
    trace.account.leave_out("calls without a reply", len(reader.waiting))
