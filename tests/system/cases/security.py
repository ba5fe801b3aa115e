# SPDX-License-Identifier: GPL-2.0
"""Who may speak to a disk, what it tells of the kernel, and that no words do it harm."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import random
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cases import case
from helpers import raw
from helpers.guest import Failed, fake_disk, loop_disk, mapped, read_along, run, stats
from helpers.units import GIB, MIB, TIB

SECONDS = float(os.environ.get("DAVID_FUZZ_SECONDS", "1"))
SIZE = ctypes.sizeof(stats.Struct)
# What the caller gives: version, size, name.
HEAD = stats.Struct.name.offset + stats.NAME_LEN
IOC_VERSION = 2 << 30 | 16 << 16 | ord("D") << 8

# linux/dm-ioctl.h
DM_CREATE, DM_REMOVE, DM_SUSPEND, DM_LOAD, DM_MESSAGE = 3, 4, 6, 9, 14
DM_HEAD = struct.Struct("=3I II i 2I I 4x Q 128s 129s 7x".replace(" ", ""))
CAP_SYS_ADMIN = 21


def dm_ioctl(fd: int, number: int, name: bytes, payload: bytes = b"", targets: int = 0) -> int:
    """An ioctl of device-mapper, past dmsetup, which would take words apart: 0 or the error's number."""
    size = DM_HEAD.size + len(payload)
    head = DM_HEAD.pack(4, 0, 0, size, DM_HEAD.size, targets, 0, 0, 0, 0, name, b"")
    # Room for an answer.
    buffer = bytearray(head + payload) + bytearray(65536)
    struct.pack_into("=I", buffer, 12, len(buffer))
    try:
        fcntl.ioctl(fd, 3 << 30 | DM_HEAD.size << 16 | 0xFD << 8 | number, buffer)
    except OSError as error:
        return error.errno or -1
    return 0


def message(fd: int, name: bytes, text: bytes) -> int:
    return dm_ioctl(fd, DM_MESSAGE, name, struct.pack("=Q", 0) + text + b"\0")


def load(fd: int, name: bytes, params: bytes) -> int:
    size = (40 + len(params) + 1 + 7) & ~7
    spec = struct.pack("=QQiI16s", 0, TIB >> 9, 0, size, b"david")
    return dm_ioctl(fd, DM_LOAD, name, (spec + params).ljust(size, b"\0"), 1)


@contextmanager
def control() -> Iterator[int]:
    fd = os.open("/dev/mapper/control", os.O_RDWR)
    try:
        yield fd
    finally:
        os.close(fd)


def david_ioctl(fd: int, command: int, buffer: object) -> int:
    try:
        fcntl.ioctl(fd, command, buffer)  # type: ignore[call-overload]
    except OSError as error:
        return error.errno or -1
    return 0


def drop_capability(number: int) -> None:
    """Root without it."""
    libc = ctypes.CDLL(None, use_errno=True)
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    if libc.capget(head, data):
        raise Failed("capget")
    for word in (0, 1, 2):  # effective, permitted, inheritable
        data[word] &= ~(1 << number)
    if libc.capset(head, data):
        raise Failed("capset")


def in_child(action: Callable[[], None]) -> None:
    """Failed with what the child says."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            action()
        except BaseException as error:
            os.write(writer, f"{type(error).__name__}: {error}".encode()[:4000])
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as file:
        said = file.read().decode()
    os.waitpid(child, 0)
    if said:
        raise Failed(said)


@case
def messages_and_ioctls_are_for_the_administrator() -> None:
    with loop_disk(4 * MIB) as dev, fake_disk("mine", TIB, dev), control() as dm_fd:
        fd = os.open(stats.CONTROL, os.O_RDONLY)
        asks = stats.Struct(version=1, size=SIZE, name=b"mine")
        texts = (
            b"stats",
            b"raw list",
            b"raw add suffix:db",
            b"content zeros",
            b"files default",
            b"mode speedup",
        )

        def everything(expected: int) -> None:
            answers = {
                "DAVID_IOC_VERSION": david_ioctl(fd, IOC_VERSION, bytearray(16)),
                "DAVID_IOC_STATS": david_ioctl(fd, stats.IOC_STATS, asks),
                **{text.decode(): message(dm_fd, b"mine", text) for text in texts},
            }
            wrong = {what: answer for what, answer in answers.items() if answer != expected}
            assert not wrong, f"instead of {errno.errorcode.get(expected, expected)}: {wrong}"

        def without_the_capability() -> None:
            drop_capability(CAP_SYS_ADMIN)
            asks.target_sectors = 0x5A5A
            reply = bytearray(b"\xa5" * 16)
            assert david_ioctl(fd, IOC_VERSION, reply) == errno.EPERM and set(reply) == {0xA5}
            everything_refused()
            assert asks.target_sectors == 0x5A5A, "a refused ioctl wrote an answer"

        def everything_refused() -> None:
            for command, buffer in (
                (IOC_VERSION, bytearray(16)),
                (stats.IOC_STATS, asks),
            ):
                assert david_ioctl(fd, command, buffer) == errno.EPERM
            for text in texts:
                answer = message(dm_fd, b"mine", text)
                # Device-mapper's own check.
                assert answer == errno.EACCES, f"{text!r}: {answer}"

        def another_user() -> None:
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
            for path in (stats.CONTROL, "/dev/mapper/control", "/dev/mapper/mine"):
                try:
                    os.close(os.open(path, os.O_RDONLY))
                except PermissionError:
                    continue
                raise Failed(f"another user opened {path}")
            # What was opened for it by root is no way in.
            everything_refused()

        try:
            everything(0)
            run("dmsetup", "message", "mine", "0", "raw", "remove", "suffix:db")
            before = run("dmsetup", "table", "mine")
            in_child(without_the_capability)
            in_child(another_user)
            assert run("dmsetup", "table", "mine") == before, "a refused message changed something"
        finally:
            os.close(fd)


def must_be_figures(reply: stats.Struct, name: bytes) -> None:
    """Every byte has a meaning, or is 0."""
    for field, kind in stats.Struct._fields_:
        value = getattr(reply, field)
        if issubclass(kind, ctypes.Array) and kind._length_ == stats.SLOTS:  # type: ignore[attr-defined]
            used = max(
                (len(names) for place, _, names in stats.ALL_GROUPS.values() if place == field),
                default=stats.SLOTS,
            )
            if field == "more_evidence":
                used = len(stats.ALL_GROUPS["evidence"][2]) - stats.SLOTS
            assert not any(value[used:]), f"{field} tells something behind its last slot: {list(value)}"
            # More bytes, or nanoseconds since the start, than anybody has: an address, not a figure.
            assert max(value) < 1 << 62, f"{field}: {list(value)}"
    assert reply.name == name


@case
def an_ioctls_reply_is_of_its_figures_only() -> None:
    """Short, long and hostile sizes; bytes that are not of the reply stay the caller's."""
    with (
        loop_disk(4 * MIB) as dev,
        fake_disk("told", TIB, dev, "--classify", "keep") as disk,
    ):
        with raw.opened(disk) as fd:
            raw.write(fd, raw.patterned(1, 65536), GIB)
        fd = os.open(stats.CONTROL, os.O_RDONLY)
        room = SIZE + 4096
        versions = (0, 1, 2, 99, 0xFFFFFFFF)
        sizes = [
            0,
            1,
            4,
            8,
            HEAD - 1,
            HEAD,
            HEAD + 1,
            HEAD + 7,
            SIZE - 1,
            SIZE,
            SIZE + 1,
            SIZE + 4096,
        ]
        sizes += [1 << 16, 1 << 31, (1 << 32) - 1, *range(HEAD + 8, SIZE, 331)]
        try:
            for version in versions:
                for size in sizes:
                    seen = []
                    for pattern in (0xA5, 0x5A):
                        buffer = bytearray([pattern]) * room
                        struct.pack_into("=II128s", buffer, 0, version, size, b"told")
                        answer = david_ioctl(fd, stats.IOC_STATS, buffer)
                        if size < HEAD:
                            assert answer == errno.EINVAL, f"size {size}: {answer}"
                            filled = 8
                        elif version != stats.ABI_VERSION:
                            assert answer == errno.EPROTONOSUPPORT, f"version {version}: {answer}"
                            filled = HEAD
                        else:
                            assert answer == 0, f"size {size}: {answer}"
                            filled = min(size, SIZE)
                        rest = buffer[HEAD if size < HEAD else filled :]
                        assert set(rest) == {pattern}, f"size {size}: wrote behind its {filled} bytes"
                        seen.append(bytes(buffer[:filled]))
                    first, second = seen
                    if answer == 0:
                        # Figures of CPU time may go on between the two.
                        reply = stats.Struct.from_buffer_copy(first.ljust(SIZE, b"\0"))
                        must_be_figures(reply, b"told")
                        place = stats.Struct.cpu
                        cut = place.offset, place.offset + place.size
                        first = first[: cut[0]] + first[cut[1] :]
                        second = second[: cut[0]] + second[cut[1] :]
                    assert first == second, (
                        f"version {version}, size {size}: bytes of the caller's in the reply"
                    )
            # The end of the caller's memory; no memory at all.
            assert bad_addresses(fd) == {errno.EFAULT}
        finally:
            os.close(fd)


def bad_addresses(fd: int) -> set[int]:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [
        ctypes.c_void_p,
        ctypes.c_size_t,
        *[ctypes.c_int] * 3,
        ctypes.c_long,
    ]
    at = libc.mmap(None, 8192, 3, 0x22, -1, 0)
    libc.munmap(ctypes.c_void_p(at + 4096), 4096)
    seen = set()
    whole = struct.pack("=II128s", 1, SIZE, b"told")
    for address in (
        0,
        1,
        4096,
        at + 4096 - 8,
        at + 4096 - HEAD,
        (1 << 64) - 4096,
        (1 << 63) + 8,
    ):
        if address == at + 4096 - HEAD:
            ctypes.memmove(address, whole, HEAD)
        ctypes.set_errno(0)
        libc.ioctl(fd, ctypes.c_ulong(stats.IOC_STATS), ctypes.c_ulong(address))
        seen.add(ctypes.get_errno())
    return seen


NUMBERS = (
    "0",
    "1",
    "-1",
    "7",
    "511",
    "4096",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "1e9",
    "0x10",
    "",
)
VALUES = {
    "mode": ("speedup", "timing-accurate", "model-only"),
    "classify": ("auto", "implicit", "explicit", "keep", "data"),
    "content": (
        "zeros",
        "text",
        "stamp",
        "compressible:20",
        "compressible:",
        "pattern:0102",
        "pattern:",
        "pattern:xyz",
    ),
    "seed": NUMBERS,
    "block_size": ("512", "1024", "2048", "4096", *NUMBERS),
    "low_water": NUMBERS,
    "unclassified": NUMBERS,
    "checksums": ("auto", "on", "off"),
    "checksum_memory": NUMBERS,
    "exact": NUMBERS[:6],
    "table_memory": NUMBERS,
    "files": ("off", "default", "htm,html=html;gz=gzip", "=;=;,,", "a=b", ";" * 70),
    "raw": (
        "none",
        "ino:5-7",
        "ino:9-3",
        "dir:2",
        "sectors:0-99",
        "suffix:db",
        "suffix:",
        "ino:1/",
        "sectors:-",
        ",",
    ),
    "store": ("auto", "format", "memory"),
    "profile": (
        "",
        ";",
        "rpm=7200;",
        "capacity=1",
        "=" * 50,
        "rpm=99999999999999999999;",
    ),
}
MESSAGES = (
    "stats",
    "mode",
    "content",
    "files",
    "raw",
    "raw add",
    "raw remove",
    "raw list",
    "drive",
    "reach",
    "reach restart",
    "help",
    "",
)


class Words:
    """Lines that are nearly right: words of the grammar, and bytes changed, doubled and left out."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def value(self, name: str) -> str:
        rng = self.rng
        if rng.random() < 0.1:
            return rng.choice(list(rng.choice(list(VALUES.values()))))
        value = rng.choice(VALUES[name])
        return value * rng.choice((2, 30, 900)) if rng.random() < 0.03 else value

    def mutated(self, line: str) -> bytes:
        rng, text = self.rng, bytearray(line.encode())
        for _ in range(rng.choice((0, 0, 1, 1, 2, 8)) if text else 0):
            at = rng.randrange(len(text))
            how = rng.randrange(4)
            if how == 0:
                text[at] = rng.randrange(1, 256)
            elif how == 1:
                text[at:at] = bytes([rng.choice(b" \\=,;:-/%0\n\t\x7f\xff")]) * rng.choice((1, 1, 3))
            elif how == 2 and len(text) > 1:
                del text[at : at + rng.randrange(1, 5)]
            else:
                text += text[at : at + 40]
            if not text:
                break
        return bytes(text.replace(b"\0", b"x"))[:60000]

    def table(self, dev: str) -> bytes:
        rng = self.rng
        names = rng.sample(list(VALUES), rng.choice((0, 1, 1, 2, 3, len(VALUES))))
        words = [f"{name}={self.value(name)}" for name in names]
        count = len(words) if rng.random() < 0.95 else rng.choice((0, 99, -1))
        return self.mutated(f"{dev} {count} {' '.join(words)}")

    def message(self) -> bytes:
        rng = self.rng
        first = rng.choice(MESSAGES)
        name = first.split()[0] if first else "raw"
        words = [
            self.value(name if name in VALUES else "seed") for _ in range(rng.choice((0, 1, 1, 1, 2, 50)))
        ]
        return self.mutated(" ".join((first, *words)))


def for_a_while(step: Callable[[], int]) -> dict[int, int]:
    answers: dict[int, int] = {}
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        # Each refusal is told in the kernel log.
        if sum(answers.values()) % 256 == 0:
            read_along()
        answer = step()
        answers[answer] = answers.get(answer, 0) + 1
    return answers


def no_harm(disk: str, data: bytes) -> None:
    with raw.opened(disk) as fd:
        raw.must_read(fd, data, GIB)
        raw.write(fd, data, 2 * GIB)
        os.fsync(fd)
        raw.must_read(fd, data, 2 * GIB)


def told(what: str, answers: dict[int, int], must: tuple[int, ...]) -> None:
    names = ", ".join(f"{count} {errno.errorcode.get(code, 'taken')}" for code, count in answers.items())
    print(f"{what}: {names}", flush=True)
    assert all(code in answers for code in must), f"{what} tests nothing: {names}"


@case
def hostile_table_lines_do_no_harm() -> None:
    words = Words(int(os.environ.get("DAVID_SEED", "1")))
    data = raw.patterned(1, 65536)
    with loop_disk(4 * MIB) as dev, loop_disk(4 * MIB) as spare, control() as fd:
        with fake_disk("live", TIB, dev, "--classify", "keep") as disk:
            with raw.opened(disk) as there:
                raw.write(there, data, GIB)

            def step() -> int:
                """A new device and, as a reload, the live one."""
                rng = words.rng
                name, place = (b"live", dev) if rng.random() < 0.4 else (b"fuzz", spare)
                answer = load(fd, name, words.table(place))
                if not answer and rng.random() < 0.3:
                    return dm_ioctl(fd, DM_SUSPEND, name)
                return answer

            assert not dm_ioctl(fd, DM_CREATE, b"fuzz")
            try:
                answers = for_a_while(step)
            finally:
                dm_ioctl(fd, DM_REMOVE, b"fuzz")
            table = run("dmsetup", "table", "live").strip()
            assert load(fd, b"live", table.split(" ", 3)[3].encode()) == 0, (
                f"its own line is refused: {table}"
            )
            assert load(fd, b"live", f"{dev} 1 classify=keep".encode()) == 0
            run("dmsetup", "resume", "live")
            no_harm(disk, data)
        told("table lines", answers, (0, errno.EINVAL))


@case
def hostile_messages_do_no_harm() -> None:
    words = Words(int(os.environ.get("DAVID_SEED", "2")))
    data = raw.patterned(2, 65536)
    profile = "--profile", "hitachi-hds721010kla330", "--mode", "speedup"
    with loop_disk(4 * MIB) as dev, control() as fd:
        with fake_disk("live", TIB, dev, "--classify", "keep", *profile) as disk:
            with raw.opened(disk) as there:
                raw.write(there, data, GIB)
            answers = for_a_while(lambda: message(fd, b"live", words.message()))
            no_harm(disk, data)
        told("messages", answers, (0, errno.EINVAL))


@case
def hostile_ioctls_do_no_harm() -> None:
    rng = random.Random(int(os.environ.get("DAVID_SEED", "3")))
    with loop_disk(4 * MIB) as dev, mapped("live", f"0 {TIB >> 9} david {dev}"):
        fd = os.open(stats.CONTROL, os.O_RDONLY)

        def step() -> int:
            number = rng.choice((0, 1, 1, 1, 1, 1, rng.randrange(256)))
            size = rng.choice((16, SIZE, SIZE, SIZE, rng.randrange(1 << 14)))
            command = rng.choice((3, 3, 2, rng.randrange(4))) << 30 | size << 16
            command |= rng.choice((ord("D"), ord("D"), ord("D"), rng.randrange(256))) << 8 | number
            if rng.random() < 0.7:
                command = stats.IOC_STATS
            name = rng.choice((b"live", b"", b"live\0x", b"x" * 128, rng.randbytes(128)))
            version = rng.choice((1, 1, 1, rng.getrandbits(32)))
            claims = rng.choice((SIZE, SIZE, rng.getrandbits(13), rng.getrandbits(32)))
            buffer = bytearray(struct.pack("=II128s", version, claims, name)) + bytearray(1 << 14)
            return david_ioctl(fd, command, buffer)

        try:
            answers = for_a_while(step)
        finally:
            os.close(fd)
        told(
            "ioctls",
            answers,
            (0, errno.EINVAL, errno.ENODEV, errno.EPROTONOSUPPORT, errno.ENOTTY),
        )
