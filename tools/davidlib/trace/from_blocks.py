# SPDX-License-Identifier: GPL-2.0
"""Traces of requests to disks, a line each: MSR, SYSTOR '17, FIU, Alibaba, Tencent, SPC, DiskSim.

Each function has the format's description. A request without a response time ends when it begins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from .from_requests import SECOND, SECTOR, Reader, Sink, Transfer, each, fraction, number

SINCE_1601 = 11_644_473_600 * SECOND // 100  # to 1970
MILLISECOND = 1_000_000

Take = Callable[[Sink, list[str]], None]


def _write(said: str, read: str, write: str) -> bool:
    if said.lower() not in (read, write):
        raise ValueError(said)
    return said.lower() == write


def _reader(words: Callable[[str], list[str]], take: Take, header: str = "") -> Reader:
    """Of lines of words; one that begins with the header has none."""

    def read(to: Sink, lines: Iterable[str]) -> Iterator[None]:
        def line(text: str) -> None:
            if not text or header and text.lower().startswith(header):
                to.account.has_none("headers" if text else "blank lines")
            else:
                take(to, words(text))

        return each(to, lines, line)

    return read


def _commas(line: str) -> list[str]:
    return [word.strip() for word in line.split(",")]


def _msr(to: Sink, words: list[str]) -> None:
    """Timestamp,Host,Disk,Type,Offset,Size,ResponseTime: times are 100 ns, the first since 1601.

    Copies have times from their own beginning.
    """
    time, host, disk, kind, offset, size, took = words
    write = _write(kind, "read", "write")
    ticks = number(time)
    start = number(str(ticks - SINCE_1601 if ticks >= SINCE_1601 else ticks), 100)
    end = start + number(took, 100)
    to.transfer(Transfer(1, f"/{host}/{number(disk)}", write, number(offset), number(size), start, end))


def _systor(to: Sink, words: list[str]) -> None:
    """Timestamp,Response,IOType,LUN,Offset,Size: seconds since 1970, seconds, R or W, bytes.

    Without a response time it is not known when the request ended.
    """
    time, took, kind, lun, offset, size = words
    write = _write(kind, "r", "w")
    start = fraction(time, SECOND)
    end = start + (fraction(took, SECOND) if took else 0)
    to.transfer(Transfer(1, f"/lun/{number(lun)}", write, number(offset), number(size), start, end))


def _fiu(to: Sink, words: list[str]) -> None:
    """[ns] [pid] [process] [sector] [sectors] [W or R] [major] [minor] [MD5]: no response times."""
    time, pid, _, sector, sectors, kind, major, minor, _ = words
    write = _write(kind, "r", "w")
    start, task = number(time), number(pid) & 0x7FFFFFFF or 1
    place, size = number(sector, SECTOR), number(sectors, SECTOR)
    disk = f"/dev/block/{number(major)}:{number(minor)}"
    to.transfer(Transfer(task, disk, write, place, size, start, start))


def _alibaba(to: Sink, words: list[str]) -> None:
    """device_id,opcode,offset,length,timestamp: R or W, bytes, microseconds; no response times."""
    device, kind, offset, size, time = words
    write = _write(kind, "r", "w")
    start = number(time, 1000)
    disk = f"/device/{number(device)}"
    to.transfer(Transfer(1, disk, write, number(offset), number(size), start, start))


def _tencent(to: Sink, words: list[str]) -> None:
    """Timestamp,Offset,Size,IOType,VolumeID: seconds since 1970, sectors, 0 (read) or 1.

    There are no response times.
    """
    time, sector, sectors, kind, volume = words
    write = _write(kind, "0", "1")
    start = fraction(time, SECOND)
    place, size = number(sector, SECTOR), number(sectors, SECTOR)
    to.transfer(Transfer(1, f"/volume/{number(volume)}", write, place, size, start, start))


def _spc(to: Sink, words: list[str]) -> None:
    """ASU,LBA,Size,Opcode,Timestamp and optional fields: blocks of 512 bytes, bytes, R or W, seconds.

    There are no response times.
    """
    unit, block, size, kind, time, *_ = words
    write = _write(kind, "r", "w")
    start = fraction(time, SECOND)
    place = number(block, SECTOR)
    to.transfer(Transfer(1, f"/asu/{number(unit)}", write, place, number(size), start, start))


def _disksim(to: Sink, words: list[str]) -> None:
    """Arrival, device, block, blocks, flags: ms, blocks of 512 bytes; flags are hexadecimal, bit 0 is a read.

    There are no response times.
    """
    time, device, block, blocks, flags = words
    write = not int(flags, 16) & 1
    start = fraction(time, MILLISECOND)
    place, size = number(block, SECTOR), number(blocks, SECTOR)
    to.transfer(Transfer(1, f"/device/{number(device)}", write, place, size, start, start))


msr = _reader(_commas, _msr, "timestamp,hostname")
systor = _reader(_commas, _systor, "timestamp,response")
fiu = _reader(str.split, _fiu)
alibaba = _reader(_commas, _alibaba, "device_id,")
tencent = _reader(_commas, _tencent, "timestamp,offset")
spc = _reader(_commas, _spc)
disksim = _reader(lambda line: re.split(r"\s+", line), _disksim)
