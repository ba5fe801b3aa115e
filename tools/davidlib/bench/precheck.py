# SPDX-License-Identifier: GPL-2.0
"""What only programs know of a question, asked of them before a lab starts: david-sim about options of a
profile and faults, fio about a job, mkfs about its words, on an empty file of the disk's size.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .. import build, filesystems
from ..disk import md, plan
from ..drive import profileword
from ..lab import memory as machine
from ..lab import needs
from ..packages import to_get
from ..sizes import SECTOR, format_both, format_size, parse_size
from ..workload import fiojob
from . import kernelwords, mountoptions, zonewords
from .arraywords import Array
from .disks import Disk, short_name
from .spec import NO_FILE_SYSTEM, FileSystem, Spec, SpecError

# An empty file may be larger there than on ext4.
SPARSE = "/dev/shm"
# They say what they would do, and write nothing; the others write a few MB.
DRY = {"mkfs.ext2": "-n", "mkfs.ext3": "-n", "mkfs.ext4": "-n", "mkfs.xfs": "-N"}
# Of larger ones it writes too much for a look: 700 MB for 15 TB.
MOST_OF_F2FS = 1 << 40
SECONDS = 60
# What mkfs stores by plan.FORMULAS holds to a tenth and 64 KiB: tests/system/cases/plan.py. So much is sure.
SURE, BUT = 0.9, 64 << 10


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=SECONDS)


def size_of(disk: Disk) -> int:
    """Bytes that a file system on it has, of an array about; 0 if the profile does not say."""
    size = disk.size or profileword.parse(disk.text, disk.profile).capacity()
    return int(size * disk.array.data_members()) if disk.array else size


@contextmanager
def _as_file(text: str, suffix: str) -> Iterator[str]:
    """The name of a file that has it."""
    with tempfile.NamedTemporaryFile("w", suffix=suffix) as file:
        file.write(text)
        file.flush()
        yield file.name


def _profiles(spec: Spec) -> None:
    """Each drive with its options, and as large as is asked for."""
    sim = str(build.ensure("david-sim"))
    for disk in spec.disks:
        if not disk.profile_options:
            continue
        size = ["--sectors", str(disk.size // SECTOR)] if disk.size else []
        options = [word for option in disk.profile_options for word in ("--option", option)]
        with _as_file(disk.text, ".profile") as name:
            done = _run(sim, "profile", "show", name, "--word", *size, *options)
            said = done.stderr.strip().replace(f"{name}: ", "").replace(name, disk.profile)
        if done.returncode:
            raise spec.source.wrong("disk", disk.number, "profile-option",
                                    f"profile-option: {short_name(disk.profile)}: {said}")


def _faults(spec: Spec) -> None:
    """The words of faults, by the same parser as the module's."""
    sim, begin = str(build.ensure("david-sim")), "david-sim bench: --faults: "
    texts = {faults.text: faults.number for faults in spec.faults if faults.text}
    for text, number in texts.items():
        for profile in dict.fromkeys(disk.text for disk in spec.disks):
            with _as_file(profile, ".profile") as name:
                done = _run(sim, "bench", "--profile", name, "--no-doubts", "--faults", text,
                            "--job", "read count=1")
            if done.stderr.startswith(begin):
                said = done.stderr.splitlines()[0].removeprefix(begin)
                raise spec.source.wrong("faults", number, "faults", f"faults = {text!r}: {said}")


def _fio(spec: Spec) -> None:
    """fio's own parser."""
    jobs = {work.of_seed(spec.seeds[0])["job"]: work.number for work in spec.workloads if work.kind == "fio"}
    for job, number in jobs.items():
        if not shutil.which("fio"):
            raise spec.source.wrong("workload", number, "kind", "kind = 'fio': fio is not installed here: "
                                    f"{to_get('fio')}")
        with _as_file(fiojob.text("/tmp", job, spec.seeds[0]), ".fio") as name:
            done = _run("fio", "--parse-only", name)
        if done.returncode:
            lines = (line.strip() for line in (done.stderr + done.stdout).splitlines())
            said = "; ".join(filter(None, lines))
            raise spec.source.wrong("workload", number, "job", f"job: {said[:400]}")


def _mkfs_mistake(system: FileSystem, size: int) -> str:
    words = filesystems.FILE_SYSTEMS[system.type].mkfs
    program = words[0]
    if not shutil.which(program) or (system.type == "f2fs" and size > MOST_OF_F2FS):
        return ""
    with tempfile.NamedTemporaryFile(dir=SPARSE) as file:
        file.truncate(size)
        dry = [DRY[program]] if program in DRY else []
        done = _run(*words, *dry, *system.mkfs, file.name)
        said = (done.stderr.strip() or done.stdout.strip()).replace(file.name, "the disk")
    return said.splitlines()[0] if done.returncode and said else ""


def _systems(spec: Spec) -> None:
    """Words for mkfs and mount. Of mkfs alone it is known what it takes."""
    # A file has no zones that mkfs could look at.
    sizes = {size for disk in spec.disks if not zonewords.is_zoned(disk) and (size := size_of(disk))}
    for system in spec.file_systems:
        if system.type == NO_FILE_SYSTEM:
            continue
        # Another kernel may have more options.
        others = spec.where == "here" or any(kernel.told() for kernel in spec.kernels)
        if system.mount and not others and (why := mountoptions.mistake(system.type, system.mount)):
            raise spec.source.wrong("filesystem", system.number, "mount", f"mount = {system.mount!r}: {why}")
        for size in sorted(sizes) if system.mkfs else ():
            if why := _mkfs_mistake(system, size):
                raise spec.source.wrong("filesystem", system.number, "mkfs", f"mkfs: {why}")


def _made(disk: Disk, system: FileSystem) -> float:
    """Bytes that mkfs alone stores of the disk, by david plan; 0 where it cannot tell."""
    size = size_of(disk)
    if system.type not in plan.FORMULAS or size > plan.LARGEST.get(system.type, size):
        return 0
    return plan.needs(system.type, size).made


def _surely_stored(disk: Disk, system: FileSystem) -> int:
    """The least of that, of all members of an array together; 0 where nobody can tell. Words for mkfs, the
    disk or its drive may make it less."""
    told = system.mkfs or disk.options or disk.classify == "data" or zonewords.is_zoned(disk)
    if told or (disk.profile_options and not disk.size):
        return 0
    out = len(disk.state.members) if disk.state else 0
    times = disk.array.surely_stored(out) if disk.array else 1
    return max(0, int(_made(disk, system) * SURE * times) - BUT)


def _place(disk: Disk) -> str:
    """A disk as large as it is, or an array."""
    size = format_both(size_of(disk))
    return f"{disk.array.word}, of {size}" if disk.array else f"a disk of {size}"


def _stores(spec: Spec) -> None:
    """The store lies in the lab's memory. Without room in both for what mkfs writes no run gets further."""
    lab = machine.parse_memory(spec.memory) << 20
    for disk in spec.disks:
        for system in spec.file_systems:
            least = _surely_stored(disk, system)
            if least <= min(disk.backing, lab if spec.where != "here" else least):
                continue
            alone = (f"{filesystems.FILE_SYSTEMS[system.type].mkfs[0]} alone stores at least "
                     f"{format_size(least)} on {_place(disk)}")
            if least > disk.backing:
                raise spec.source.wrong("disk", disk.number, "backing",
                                        f"backing: {alone}, and the backing is {format_size(disk.backing)}: "
                                        "write a larger one, by david plan")
            raise spec.source.wrong("", 0, "memory", f"memory: {alone}, in a lab's memory of {spec.memory}: "
                                    "write a larger one")


def of_machine(spec: Spec) -> None:
    """A lab with more memory than this machine is refused when it starts, each one."""
    wanted, there = machine.parse_memory(spec.memory), machine.machines_megabytes()
    if spec.where != "here" and wanted > there:
        raise spec.source.wrong("", 0, "memory", f"memory = {spec.memory!r}: this machine has {there} MiB")


def _parity(array: Array, backing: int) -> str:
    """How much data there is room for, where all of it is kept."""
    room = format_size(backing * array.data_members() / array.members)
    return (f"{array.word} keeps all that is written, and parity: the backing of "
            f"{format_size(backing)}, which its members share, has room for about {room} of data")


def _mkfs_stores(spec: Spec) -> Iterator[str]:
    """Of file systems that mkfs by itself makes larger than the store."""
    for disk in spec.disks:
        if not disk.array:
            continue
        for system in spec.file_systems:
            made = _made(disk, system) * disk.array.stored()
            if made and (least := plan.backing(made)) > disk.backing:
                yield (f"{filesystems.FILE_SYSTEMS[system.type].mkfs[0]} alone stores up to "
                       f"{format_size(least)} on {_place(disk)}, copies and parity included, and backing is "
                       f"{format_size(disk.backing)}: write a larger one, and a larger memory")


def memory(spec: Spec, workers: int) -> list[str]:
    """What arrays take, and which stores are larger than a lab, before anything starts."""
    larger, above = max(disk.backing for disk in spec.disks), []
    if spec.where != "here" and larger > parse_size(spec.memory):
        above = [f"a backing of {format_size(larger)} is in a lab's memory of {spec.memory}: a run fails "
                 "where it stores more than there is free"]
    arrays = list(dict.fromkeys((disk.array, disk.backing) for disk in spec.disks if disk.array))
    if not arrays:
        return above
    whole = parse_size(spec.memory) * workers
    found = [f"of memory, each lab has {spec.memory}, and {workers} at a time {format_size(whole)}"]
    found += [_parity(array, backing) for array, backing in arrays if array.level in md.WITH_PARITY]
    return above + found + list(dict.fromkeys(_mkfs_stores(spec)))


def missing(spec: Spec) -> list[str]:
    """Debian's packages that the runs need, and that are not installed here."""
    systems = (system.type for system in spec.file_systems if system.type != NO_FILE_SYSTEM)
    used = [filesystems.FILE_SYSTEMS[name] for name in systems]
    known = {system.package: system.mkfs[0] for system in used}
    if any(work.kind == "fio" for work in spec.workloads):
        known["fio"] = "fio"
    labs = [] if spec.where == "here" else needs.of_labs(kernelwords.KIND[spec.where])
    return [*labs, *needs.of_python(), *needs.missing(known)]


def check(spec: Spec) -> None:
    """SpecError names the line."""
    checks: tuple[Callable[[Spec], None], ...] = (_profiles, _faults, _fio, _systems, _stores)
    for one in checks:
        try:
            one(spec)
        except subprocess.TimeoutExpired as error:
            program = Path(error.cmd[0]).name
            raise SpecError(f"{spec.source.path}: {program} did not end in {SECONDS} s") from None
