# SPDX-License-Identifier: GPL-2.0
"""The uml lab: User Mode Linux with the host's root, read-only, as its own.

The guest's processes are processes of the host. Everything that a lab needs
lies in one private directory; the guest writes the command's output and exit
status there through hostfs, and the host passes them on.
"""

import os
import selectors
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from . import module, uml
from .console import Console
from .lab import FRESH, Lab, Result, Streams, command_script, private_directory, rw_paths, shown_paths
from .outcome import judge

POLL = 0.05
# A guest with its command done has nothing to do any more but to switch itself off.
GRACE = 10
INIT = Path(__file__).with_name("guest") / "uml-init"


def run(lab: Lab, streams: Streams) -> Result:
    tree = uml.ensure(lab.kernel)
    modules = module.ensure("uml", lab.kernel) if lab.load_module else []
    with private_directory() as private:
        prepare(lab, private, modules)
        return boot(lab, tree, private, streams)


def prepare(lab: Lab, private: Path, modules: list[Path]) -> None:
    shutil.copy(INIT, private / "init")
    for name in ("stdout", "stderr"):
        (private / name).touch()
    loads = []
    for ko in modules:
        # A copy, because the tree's may be built anew meanwhile.
        shutil.copy(ko, private)
        loads.append(f"insmod /run/lab/{ko.name}\n")
    (private / "modules").write_text("".join(loads))
    (private / "command").write_text(command_script(lab))
    mounts, finish = mount_script(lab)
    (private / "mounts").write_text(mounts)
    (private / "finish").write_text(finish)


def mount_script(lab: Lab) -> tuple[str, str]:
    """Shell commands that arrange the guest's file tree, and those that bring it to rest."""
    lines = ["mkdir /run/host", "mount --bind / /run/host"]
    lines += [f"mount -t tmpfs tmpfs {top}" for top in FRESH if str(top) != "/run" and top.is_dir()]
    for path in shown_paths(lab):
        there = shlex.quote(str(path))
        make = f"mkdir -p {there}" if path.is_dir() else \
            f"mkdir -p {shlex.quote(str(path.parent))}; : >{there}"
        lines += [make, f"mount --bind /run/host{there} {there}"]
    rest = []
    for path in sorted(rw_paths(lab)):
        there = shlex.quote(str(path))
        lines += [f"mkdir -p {there} 2>/dev/null", f"mount -t hostfs -o {there} none {there}"]
        rest.append(f"sync -f {there}")
    return "\n".join(lines) + "\n", "\n".join(rest) + "\n"


def memory_directory(megabytes: int) -> str:
    """UML maps its memory from a file; it has to lie where that much fits."""
    shm = "/dev/shm"
    if os.access(shm, os.W_OK) and shutil.disk_usage(shm).free >> 20 > megabytes:
        return shm
    return tempfile.gettempdir()


def command_line(lab: Lab, tree: Path, private: Path) -> list[str]:
    line = ["setpriv", "--pdeathsig", "KILL", str(tree / "linux"),
            f"mem={lab.megabytes()}M", f"uml_dir={private}/", "umid=uml", "noreboot",
            "con=null", "con0=null,fd:2", "ssl=null", "console=tty0", "printk.time=1",
            "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "devtmpfs.mount=0",
            f"init={private}/init", f"david_lab={private}",
            "panic=-1", "oops=panic", "random.trust_cpu=1"]
    if lab.virtual_time:
        line.append("time-travel=inf-cpu")
    return line


def boot(lab: Lab, tree: Path, private: Path, streams: Streams) -> Result:
    console = Console()
    env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "TMPDIR": memory_directory(lab.megabytes())}
    with subprocess.Popen(command_line(lab, tree, private), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env,
                          # Its own session, so that ending it ends every process of the guest.
                          start_new_session=True) as guest:
        try:
            timed_out = watch(lab, guest, private, console, streams)
        finally:
            end(guest)
    if (private / "init.log").exists():
        console.feed((private / "init.log").read_bytes())
    return judge(lab, read_status(private), timed_out, console, streams)


def watch(lab: Lab, guest: subprocess.Popen, private: Path, console: Console, streams: Streams) -> bool:
    """Pass output on until the guest is done; true when it had to be given up."""
    deadline = time.monotonic() + lab.timeout
    with selectors.DefaultSelector() as ready, \
            open(private / "stdout", "rb", 0) as out, open(private / "stderr", "rb", 0) as err:
        ready.register(guest.stdout, selectors.EVENT_READ)
        while True:
            closed = False
            for key, _ in ready.select(POLL):
                data = os.read(key.fd, 1 << 16)
                console.feed(data)
                closed = not data
            # The end first, the output after it: nothing is printed in between.
            ended = closed or guest.poll() is not None
            moved = pump(out, streams.stdout) + pump(err, streams.stderr)
            if ended:
                return False
            now = time.monotonic()
            if (private / "status").exists():
                deadline = now + GRACE if moved else min(deadline, now + GRACE)
            if now > deadline:
                return True


def pump(source, sink) -> int:
    moved = 0
    while data := source.read(1 << 16):
        sink(data)
        moved += len(data)
    return moved


def end(guest: subprocess.Popen) -> None:
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
