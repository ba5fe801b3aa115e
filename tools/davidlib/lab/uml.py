# SPDX-License-Identifier: GPL-2.0
"""The uml lab: User Mode Linux with the host's root, read-only, as its own.

The guest's processes are processes of the host, its directories the host's
through hostfs.
"""

import os
import shlex
import shutil
import tempfile
from pathlib import Path

from ..util import UserError
from . import host, kernels, module, needs, own_kernel, terminal, uml_kernel
from .lab import Lab, Result, Streams, private_directory

# CONFIG_NR_CPUS in uml-smp.config
MOST_CPUS = 4
# The lab's private directory as UML's process sees it. Its own name is another each time, and the kernel
# makes random numbers of its command line.
HERE = "/proc/self/cwd"
# Under the virtual clock it is always the same day when a lab starts, later than any file of the host: the
# first day of 2030. Times and random numbers get into file systems, and so into how long things take.
START_NS = 1_893_456_000 * 10**9
# When a lab's command begins under the virtual clock, in nanoseconds from boot; see uml-time.patch. Not on
# one of the kernel's ticks, which come every 10 ms.
BEGIN_NS = 10 * 10**9 + 3_141_592
BEGIN = "/proc/time_travel_begin"


def run(lab: Lab, streams: Streams) -> Result:
    check(lab)
    needs.check("the uml lab", needs.missing(needs.MACHINE))
    tree = uml_kernel.ensure(lab.kernel, lab.debug)
    modules = module.ensure("uml", lab.kernel, lab.debug) if lab.load_module else []
    with private_directory() as private:
        host.prepare(lab, private, modules, mount_rw, begin_command(lab))
        shutil.copy(host.GUEST / "uml-init", private / "init")
        line = command_line(lab, tree, private)
        if not lab.shell:
            return host.run_guest(lab, line, uml_environment(lab), private, streams)
        with terminal.attached(private) as there:
            line += [f"con1=fd:{there.slave}"]
            return host.run_guest(lab, line, uml_environment(lab), private, streams, pass_fds=[there.slave])


def check(lab: Lab) -> None:
    called = own_kernel.called(lab.kernel)
    several = lab.kernel == kernels.NEWEST or uml_kernel.smp(lab.kernel)
    if lab.cpus is None:
        lab.cpus = 1
    # Before it is built nobody knows.
    if lab.virtual_time and own_kernel.is_resolved(lab.kernel):
        if (why := own_kernel.about(lab.kernel).virtual_time) != "yes":
            raise UserError(f"--virtual-time: {own_kernel.said(lab.kernel)} has none: {why}")
    if lab.virtual_time and several:
        raise UserError(f"--virtual-time: the uml lab's {called} kernel has several CPUs instead; "
                        "use --kernel 6.12")
    most = MOST_CPUS if several else 1
    if not 1 <= lab.cpus <= most:
        raise UserError(f"--cpus {lab.cpus}: the uml lab's {called} kernel has at most {most}"
                        f"{'' if several else '; --kernel newest has 4, and so has --kind vm'}")


def begin_command(lab: Lab) -> str:
    return f"echo {BEGIN_NS} >{BEGIN} || exec busybox poweroff -f -n\n" if lab.virtual_time else ""


def mount_rw(path: Path, there: Path) -> str:
    # as in guest/uml-init
    return f"busybox mount -t hostfs -o {shlex.quote(str(path))} none {shlex.quote(str(there))}"


def uml_environment(lab: Lab) -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "TMPDIR": memory_directory(lab.megabytes())}


def memory_directory(megabytes: int) -> str:
    """UML maps its memory from a file; it has to lie where that much fits."""
    shm = "/dev/shm"
    if os.access(shm, os.W_OK) and shutil.disk_usage(shm).free >> 20 > megabytes:
        return shm
    return tempfile.gettempdir()


def command_line(lab: Lab, tree: Path, private: Path) -> list[str]:
    # Where the host puts UML's heap decides how much memory the guest has beside `mem`, to no use.
    line = ["env", "-C", str(private), "setarch", "-R", str(tree / "linux"),
            f"mem={lab.megabytes()}M", f"uml_dir={HERE}/", "umid=uml", "noreboot",
            # By itself it is 16 KiB: who prints much would overwrite what was to be read.
            "log_buf_len=1M",
            "con=null", "con0=null,fd:2", "ssl=null", "console=tty0", "stderr=1",
            "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "devtmpfs.mount=0",
            f"init={HERE}/init", f"david_lab={HERE}",
            "panic=-1", "oops=panic"]
    if lab.ram_disk:
        line += [f"brd.rd_size={lab.ram_disk_kilobytes()}"]
    if uml_kernel.smp(lab.kernel):
        # System calls by seccomp, which takes half the time of ptrace.
        line += ["seccomp=on", f"ncpus={lab.cpus}"]
    if lab.virtual_time:
        line += ["time-travel=inf-cpu", f"time-travel-start={START_NS}", "random_seed=1", "norandmaps"]
    return line
