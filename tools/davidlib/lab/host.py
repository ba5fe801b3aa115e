# SPDX-License-Identifier: GPL-2.0
"""The host's side of a running lab: its private directory, its output, its end.

guest/main is the other side. A lab's machine is one process group of the
host; its console comes through a pipe, everything else through files in the
private directory.
"""

import math
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from ..util import TREE
from . import stdin
from .console import Console
from .lab import (
    FRESH,
    KERNEL_WARNED,
    LAB_FAILED,
    SEALED_TREE,
    TIMED_OUT,
    Lab,
    Result,
    Streams,
    command_script,
    opened_paths,
    shown_paths,
)

GUEST = Path(__file__).resolve().with_name("guest")
POLL = 0.05
# The first thing that guest/main makes.
MAIN_LOG = "main.log"
# And the last before the command.
RUNNING = "running"
# A guest with its command done has nothing to do any more but to switch itself off.
GRACE = 10


# Of the host's directory that is open for writing, and its name in the guest: the command that mounts it.
MountRw = Callable[[Path, Path], str]


def prepare(lab: Lab, private: Path, modules: list[Path], mount_rw: MountRw, begin: str = "") -> None:
    """Fill the private directory. BEGIN is the guest's last command before the lab's own."""
    shutil.copy(GUEST / "main", private)
    for name in ("stdout", "stderr"):
        (private / name).touch()
    (private / "modules").write_text("".join(load_command(ko, private) for ko in modules))
    (private / "command").write_text(command_script(lab))
    (private / "mounts").write_text(mount_script(lab, mount_rw))
    (private / "begin").write_text(begin)
    if lab.stdin:
        (private / "in").mkdir()
        (stdin.read_all if lab.virtual_time else stdin.feed)(private / "in")
    rest = [f"sync -f {shlex.quote(str(there))}\n" for _, there in opened_paths(lab)]
    (private / "rest").write_text("".join(rest))


def load_command(ko: Path, private: Path) -> str:
    # A copy, because the tree's may be rebuilt meanwhile.
    shutil.copy(ko, private)
    depends = subprocess.run(["/sbin/modinfo", "-F", "depends", ko],
                             check=True, capture_output=True, text=True)
    needed = [f"/sbin/modprobe {name}\n" for name in depends.stdout.strip().split(",") if name]
    return "".join(needed) + f"/sbin/insmod /run/lab/{ko.name} || exec busybox poweroff -f -n\n"


def mount_script(lab: Lab, mount_rw: MountRw) -> str:
    """Shell commands that arrange the guest's file tree: fresh places, what is named in them, --rw."""
    lines = ["mkdir -p /run/host", "mount --bind / /run/host"]
    lines += [f"mount -t tmpfs tmpfs {top}" for top in FRESH if str(top) != "/run" and top.is_dir()]
    for path in shown_paths(lab):
        there = shlex.quote(str(path))
        make = f"mkdir -p {there}" if path.is_dir() else \
            f"mkdir -p {shlex.quote(str(path.parent))}; : >{there}"
        lines += [make, f"mount --bind /run/host{there} {there}"]
    if lab.sealed:
        lines += [f"mkdir -p {SEALED_TREE}",
                  f"mount --bind {shlex.quote(f'/run/host{TREE}')} {SEALED_TREE}"]
    for path, place in opened_paths(lab):
        lines += [f"mkdir -p {shlex.quote(str(place))} 2>/dev/null",
                  f"{mount_rw(path, place)} || exec busybox poweroff -f -n"]
    return "\n".join(lines) + "\n"


class NeverUp(Exception):
    """The guest did not get as far as our script in time: nothing has been run, so it may be tried again."""


def run_guest(lab: Lab, machine: list[str], env: dict[str, str], private: Path, streams: Streams,
              boot_limit: float = math.inf, pass_fds: Sequence[int] = ()) -> Result:
    """Start MACHINE, pass on what its command prints, and judge how it ended."""
    console = Console()
    # It goes when this process goes, however that comes about.
    with subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *machine], env=env, start_new_session=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, pass_fds=pass_fds,
                          stderr=subprocess.STDOUT) as guest:
        try:
            timed_out = watch(lab, guest, private, console, streams, time.monotonic() + boot_limit)
        finally:
            end(guest)
    # A kernel that is emulated on a busy host may die while it boots, too.
    if boot_limit < math.inf and not (private / MAIN_LOG).exists():
        raise NeverUp
    return judge(lab, private, timed_out, console, streams)


def watch(lab: Lab, guest: subprocess.Popen[bytes], private: Path, console: Console, streams: Streams,
          up_by: float) -> bool:
    """Pass output on until the guest is done; true when it had to be given up."""
    deadline = time.monotonic() + lab.timeout
    with selectors.DefaultSelector() as ready, \
            open(private / "stdout", "rb", 0) as out, open(private / "stderr", "rb", 0) as err:
        assert guest.stdout
        ready.register(guest.stdout, selectors.EVENT_READ)
        while True:
            closed = False
            for key, _ in ready.select(POLL):
                data = os.read(key.fd, 1 << 16)
                console.feed(data)
                closed = not data
            if not console.up and (private / RUNNING).exists():
                console.is_up()
            # The end first, the output after it: nothing is printed in between.
            ended = closed or guest.poll() is not None
            moved = pump(out, streams.stdout) + pump(err, streams.stderr)
            if ended:
                return False
            now = time.monotonic()
            if read_status(private) is not None:
                deadline = now + GRACE if moved else min(deadline, now + GRACE)
            if now > deadline:
                return True
            if now > up_by and not (private / MAIN_LOG).exists():
                raise NeverUp


def pump(source: IO[bytes], sink: Callable[[bytes], None]) -> int:
    moved = 0
    while data := source.read(1 << 16):
        sink(data)
        moved += len(data)
    return moved


def end(guest: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(guest.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    guest.wait()


def read_status(private: Path) -> int | None:
    try:
        return int((private / "status").read_text())
    except (OSError, ValueError):
        return None


def judge(lab: Lab, private: Path, timed_out: bool, console: Console, streams: Streams) -> Result:
    """The lab's exit status; says on stderr what was wrong."""
    console.close()
    status = read_status(private)
    if status is None:
        if console.panicked:
            code, what = LAB_FAILED, "the guest's kernel panicked"
        elif timed_out:
            code, what = TIMED_OUT, f"the command was not done after {lab.timeout:g} s, see --timeout"
            if console.up and not console.after.strip():
                # The kernel has nothing to say of it.
                streams.tell(what)
                return Result(code, console=console.text, warnings=console.warnings)
        else:
            code, what = LAB_FAILED, "the guest ended before the command did"
        show_end(what, private, console, streams)
        return Result(code, console=console.text, warnings=console.warnings)
    for line in console.warnings[:20]:
        streams.tell(f"kernel warning: {line}")
    if console.warnings and status == 0:
        show_end("the command succeeded, but the guest's kernel warned", private, console, streams)
        status = KERNEL_WARNED
    return Result(status, console=console.text, warnings=console.warnings)


def show_end(what: str, private: Path, console: Console, streams: Streams) -> None:
    streams.tell(f"{what}; the end of its console:")
    log = private / MAIN_LOG
    text = console.tail() + "\n" + (log.read_text(errors="replace") if log.exists() else "")
    streams.stderr(text.encode())
