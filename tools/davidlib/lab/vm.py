# SPDX-License-Identifier: GPL-2.0
"""The vm lab: Debian's stock kernel in QEMU, by way of virtme-ng.

virtme-run is virtme-ng's lower half: it boots a kernel with the host's root
over 9p, without the writable overlays that virtme-ng puts over it. Output goes
through files, as in every lab, so that the serial console is the kernel's alone.
"""

import math
import os
import shlex
import subprocess
from pathlib import Path

from ..packages import to_get
from ..util import UserError
from . import host, kernels, kvm, module, venv
from .lab import Lab, Result, Streams, private_directory, rw_paths

QEMU = "qemu-system-x86_64"
# An emulated machine is up after 10 to 50 s. On a host with more work than CPUs one
# in some dozens never comes up, for its kernel fails to calibrate its clocks.
BOOT_LIMIT = 150
BOOTS = 3
# as many as the uml lab has
RAM_DISKS = 4
GUEST_ROOT = shlex.quote(str(host.GUEST / "vm-root"))


def run(lab: Lab, streams: Streams) -> Result:
    if lab.cpus is None:
        lab.cpus = 2
    if lab.cpus < 1:
        raise UserError(f"--cpus {lab.cpus}: want at least one")
    modules = module.ensure("vm", lab.kernel) if lab.load_module else []
    use_kvm = kvm.works(lab.kernel, probe)
    for _ in range(BOOTS):
        try:
            return boot(lab, modules, use_kvm, streams, BOOT_LIMIT)
        except host.NeverUp:
            streams.tell(f"the guest did not come up within {BOOT_LIMIT} s; once more")
    raise UserError(f"the vm lab's guest never came up, {BOOTS} times over; is this machine overloaded?")


def boot(lab: Lab, modules: list[Path], use_kvm: bool, streams: Streams, limit: float = math.inf) -> Result:
    with private_directory() as private:
        rw = sorted(rw_paths(lab))
        host.prepare(lab, private, modules, lambda path, there:
                     f"mount --bind /run/rw/{rw.index(path)} {shlex.quote(str(there))}", begin_command(lab))
        line = command_line(lab, private, rw, use_kvm)
        return host.run_guest(lab, line, vm_environment(), private, streams, limit)


def begin_command(lab: Lab) -> str:
    size = lab.ram_disk_kilobytes()
    return f"/sbin/modprobe brd rd_nr={RAM_DISKS} rd_size={size}\n" if size else ""


def probe(kernel: str, seconds: float) -> bool:
    """Whether a guest under KVM gets as far as running a command, in that time."""
    lab = Lab(["true"], kind="vm", kernel=kernel, cpus=1, memory="512M", timeout=seconds, cwd=Path("/"))
    return boot(lab, [], True, Streams(lambda _: None, lambda _: None)).returncode == 0


def vm_environment() -> dict[str, str]:
    path = [str(venv.ensure()), os.environ.get("PATH", ""), "/usr/sbin:/usr/bin:/sbin:/bin"]
    return os.environ | {"PATH": ":".join(path)}


def command_line(lab: Lab, private: Path, rw: list[Path], use_kvm: bool) -> list[str]:
    line = ["virtme-run", "--kimg", str(kernels.vmlinuz(lab.kernel)), "--mods", "auto",
            "--qemu-bin", str(host.GUEST / "qemu"), "--force-9p", "--name", "lab",
            "--memory", f"{lab.megabytes()}M", "--cpus", str(lab.cpus),
            "--show-boot-console", "--script-sh", f"exec busybox sh {GUEST_ROOT}",
            "--rwdir", f"/run/lab={private}"]
    for n, path in enumerate(rw):
        line += ["--rwdir", f"/run/rw/{n}={path}"]
    # loglevel: notices and worse; every character costs a slow serial port's time.
    # PATH: for virtme's init, which finds quicker programs there than the host's.
    options = ["loglevel=6", "oops=panic", f"PATH={host.GUEST / 'vm-bin'}:/usr/sbin:/usr/bin:/sbin:/bin"]
    if not use_kvm:
        line += ["--disable-kvm"]
        # Emulated on a busy host, a CPU may well be away for half a minute. A fifth level of page
        # tables is one more to walk for every miss, which is software here.
        options += ["no5lvl", "mitigations=off", "rcupdate.rcu_cpu_stall_timeout=120", "watchdog_thresh=60"]
    for option in options:
        line += ["--kopt", option]
    # No CD-ROM, floppy, network card: drivers would be loaded for them.
    line += ["-q=-nodefaults"]
    # The host's root once more, for guest/vm-root.
    return line + ["-q=-fsdev", "-q=local,id=cached,path=/,security_model=none,readonly=on,multidevs=remap",
                   "-q=-device", "-q=virtio-9p-pci,fsdev=cached,mount_tag=cached"]


def qemu_version() -> str:
    try:
        return subprocess.run([QEMU, "--version"], check=True, capture_output=True, text=True).stdout
    except FileNotFoundError:
        raise UserError(f"the vm lab needs {QEMU}: {to_get('qemu-system-x86')}") from None
