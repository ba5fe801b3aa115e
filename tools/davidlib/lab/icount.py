# SPDX-License-Identifier: GPL-2.0
"""The icount lab: Debian's stock kernel with virtual time, for measuring.

QEMU counts instructions: one is one nanosecond, waiting is skipped, and even
rdtsc shows that clock, so a figure is the number of instructions. It repeats to a
few per cent, the boot's length being the host's; the least of several to one.
One CPU, no host disk, no 9p: their timing would be the host's. Hence everything
is in an initramfs: busybox, dmsetup, some block device modules, dm-david, and
the files that the command names.
"""

import lzma
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from ..packages import to_get
from ..util import UserError
from . import host, kernels, module, vm
from .lab import Lab, Result, Streams, below, named_paths, private_directory

MODULES = ["dm-mod", "dm-zero", "brd", "null_blk"]
PROGRAMS = ["dmsetup"]


def run(lab: Lab, streams: Streams) -> Result:
    vm.qemu_version()
    if lab.rw:
        raise UserError("--rw: an icount lab shares no directories with the host")
    modules = module.ensure("vm", lab.kernel) if lab.load_module else []
    # The initramfs may be large, and is read twice.
    with private_directory() as private:
        root = private / "root"
        (root / "run/lab").mkdir(parents=True)
        host.prepare(lab, root / "run/lab", modules, lambda path, there: "")
        for leftover in ("stdout", "stderr"):
            (root / "run/lab" / leftover).rename(private / leftover)
        (root / "run/lab/mounts").write_text("")
        fill(root, lab)
        pack(root, private / "initramfs")
        shutil.rmtree(root)
        return host.run_guest(lab, command_line(lab, private), dict(os.environ), private, streams)


def command_line(lab: Lab, private: Path) -> list[str]:
    line = [vm.QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-machine", "q35", "-accel", "tcg", "-icount", "shift=0,sleep=off",
            "-smp", "1", "-m", str(lab.megabytes()),
            # Nothing random, and the same date every time.
            # Nor string instructions byte by byte: each byte would count, and none does on a real machine.
            "-cpu", "max,-rdrand,-rdseed,-erms,-fsrm", "-rtc", "base=2024-01-01T00:00:00,clock=vm",
            "-kernel", str(kernels.vmlinuz(lab.kernel)), "-initrd", str(private / "initramfs"),
            "-append", "console=ttyS0 loglevel=6 panic=-1 oops=panic nokaslr norandmaps rdinit=/init",
            "-serial", "stdio"]
    for name in ("stdout", "stderr", "status"):
        line += ["-serial", f"file:{private / name}"]
    return line


def fill(root: Path, lab: Lab) -> None:
    """Put together what the guest has."""
    shutil.copy(host.GUEST / "icount-init", root / "init")
    busybox = shutil.which("busybox")
    if not busybox:
        raise UserError(f"there is no busybox: {to_get('busybox-static')}")
    add_file(root, Path(busybox), Path("/bin/busybox"))
    for name in PROGRAMS:
        program = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if not program:
            raise UserError(f"there is no {name}: {to_get(name)}")
        add_file(root, Path(program))
    wanted = [Path(name).absolute() for name in lab.files] + named_files(lab)
    for path in wanted:
        if not path.exists():
            raise UserError(f"--files {path}: there is no such file")
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                add_file(root, file)
    add_modules(root, lab.kernel, MODULES)
    (root / str(lab.cwd).lstrip("/")).mkdir(parents=True, exist_ok=True)


def named_files(lab: Lab) -> list[Path]:
    """Files of the command; directories would be too much, and programs by name busybox has."""
    return [path for path in named_paths(lab)
            if path.is_file() and not below(path, [Path("/dev"), Path("/proc"), Path("/sys")])]


def add_file(root: Path, source: Path, target: Path | None = None) -> None:
    """Copy a file, and the shared libraries it needs, to where they are on the host."""
    place = root / str(target or source).lstrip("/")
    if place.exists():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, place)
    for library in libraries(source):
        add_file(root, library)


def libraries(program: Path) -> list[Path]:
    with open(program, "rb") as f:
        if f.read(4) != b"\x7fELF":
            return []
    run = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return [Path(path) for path in re.findall(r"(/\S+) \(0x", run.stdout)]


def add_modules(root: Path, kernel: str, modules: list[str]) -> None:
    """These modules, if not built in, and what they depend on, uncompressed, for modprobe to find."""
    release = kernels.release(kernel)
    tree = kernels.image_root(kernel) / "lib/modules" / release
    depends = {}
    for line in (tree / "modules.dep").read_text().splitlines():
        path, _, needs = line.partition(":")
        depends[module_name(path)] = [path, *needs.split()]
    built_in = {module_name(path) for path in (tree / "modules.builtin").read_text().split()}
    place = root / "lib/modules" / release
    for name in modules:
        if module_name(name) in built_in:
            continue
        if module_name(name) not in depends:
            raise UserError(f"the kernel {release} has no module {name} in {tree}")
        for path in depends[module_name(name)]:
            copy_module(tree / path, place / path)
    for index in tree.glob("modules.[bo]*"):
        shutil.copy(index, place)
    subprocess.run(["/sbin/depmod", "-b", root, release], check=True)


def module_name(path: str) -> str:
    return re.sub(r"\.ko(\.xz)?$", "", path.rpartition("/")[2]).replace("-", "_")


def copy_module(source: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix == ".xz":
        place.with_suffix("").write_bytes(lzma.decompress(source.read_bytes()))
    else:
        shutil.copy(source, place)


def pack(root: Path, archive: Path) -> None:
    names = "\0".join(listing(root))
    with open(archive, "wb") as out:
        subprocess.run(["cpio", "--quiet", "-0", "-o", "-H", "newc"], cwd=root, input=names.encode(),
                       stdout=out, check=True)


def listing(root: Path) -> Iterable[str]:
    return (str(path.relative_to(root)) for path in sorted(root.rglob("*")))
