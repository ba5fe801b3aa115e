# SPDX-License-Identifier: GPL-2.0
"""The labs keep their promises: what `david lab run` passes on, and how it tells of what goes wrong."""

import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from davidlib.lab import kernels

from helpers.units import FULL

TREE = Path(__file__).resolve().parents[2]
DAVID = TREE / "tools" / "david"
UML = ("--kind", "uml")
UML_NEWEST = ("--kind", "uml", "--kernel", "newest")
VM = ("--kind", "vm")
LONG = pytest.mark.skipif(not FULL, reason="only with DAVID_SCALE=full")


def lab(*args: str, cwd: Path = TREE, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([DAVID, "lab", "run", *args], cwd=cwd, env=os.environ | (env or {}),
                          capture_output=True, text=True, timeout=900, check=False)


def shell(kind: tuple[str, ...], script: str, *options: str) -> subprocess.CompletedProcess[str]:
    return lab(*kind, *options, "--", "sh", "-c", script)


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """So that no test's time or output has a build in it, or a trial of KVM."""
    subprocess.run([DAVID, "lab", "setup", "vm"], check=True)
    for kind in (UML, UML_NEWEST, VM):
        subprocess.run([DAVID, "lab", "module", *kind], check=True)


@pytest.fixture
def leftovers() -> Iterator[None]:
    """Nothing of the test's guests may run on, or stay behind."""
    before = abandoned()
    yield
    assert abandoned() <= before
    assert guests_of(os.getpid()) == []


def abandoned() -> set[Path]:
    """Private directories of labs that are no more; others may be running meanwhile."""
    found = set()
    for where in Path("/dev/shm").glob("dm-david-lab-*"):
        with contextlib.suppress(OSError):
            lock = os.open(where, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                found.add(where)
            finally:
                os.close(lock)
    return found


def guests_of(pid: int) -> list[str]:
    """Command lines and directories of guests started below a process, or by nobody who is alive."""
    found = []
    for proc in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((proc / "stat").read_text().rpartition(")")[2].split()[1])
            words = (proc / "cmdline").read_bytes().split(b"\0")
            words.append(os.readlink(bytes(proc / "cwd")))
        except (OSError, ValueError):
            continue
        if parent in (1, pid) and any(b"dm-david-lab-" in word for word in words):
            found.append(b" ".join(words).decode(errors="replace"))
    return found


def version(kind: tuple[str, ...]) -> str:
    """Of the kernel that the lab is to have."""
    return kernels.version(kernels.NEWEST) if "newest" in kind else "6.12"


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(UML, id="uml"),
        pytest.param(UML_NEWEST, id="uml-newest"),
        # Everyday the vm lab is known by what the tests of its kernels print.
        pytest.param(VM, id="vm", marks=LONG),
    ],
)
def test_a_command_has_its_output_and_status_the_target_and_the_hosts_files_to_read(
    kind: tuple[str, ...], tmp_path: Path
) -> None:
    for name in ("rw", "ro"):
        (tmp_path / name).mkdir()
    (tmp_path / "ro" / "file").write_text("host\n")
    wrong = f"(echo bad >{tmp_path}/ro/file; touch {TREE}/bad /usr/bad) 2>&1 | grep -c Read-only"
    run = shell(kind, f"echo out; echo err >&2; id -u; uname -r; pwd; {wrong}; cat {tmp_path}/ro/file;"
                      f"echo new >{tmp_path}/rw/file; touch /tmp/good /run/good; dmsetup targets; exit 7",
                "--rw", str(tmp_path / "rw"))
    assert run.returncode == 7, run.stderr
    lines = run.stdout.splitlines()
    assert lines[:2] == ["out", "0"]
    assert lines[2].startswith(f"{version(kind)}.")
    assert lines[3:6] == [str(TREE), "3", "host"]
    assert any(line.startswith("david ") for line in lines[6:])
    assert run.stderr == "err\n"
    assert (tmp_path / "rw/file").read_text() == "new\n"
    assert (tmp_path / "ro/file").read_text() == "host\n"
    assert not (TREE / "bad").exists()
    assert not Path("/tmp/good").exists()


def test_large_output_comes_through_whole() -> None:
    run = shell(UML, "seq 300000")
    assert run.stdout == "".join(f"{n}\n" for n in range(1, 300001))


def test_output_streams_while_the_command_runs() -> None:
    with subprocess.Popen([DAVID, "lab", "run", "--", "sh", "-c", "echo first; sleep 30"],
                          stdout=subprocess.PIPE, text=True) as run:
        start = time.monotonic()
        assert run.stdout.readline() == "first\n"
        assert time.monotonic() - start < 20
        run.terminate()


def test_a_lab_that_is_told_to_stop_leaves_nothing_behind(leftovers: None) -> None:
    with subprocess.Popen([DAVID, "lab", "run", "--", "sh", "-c", "echo up; sleep 100"],
                          stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "up\n"
        run.terminate()
        assert run.wait(timeout=20) == 143


def test_a_lab_that_is_killed_takes_its_guest_along() -> None:
    with subprocess.Popen([DAVID, "lab", "run", "--", "sh", "-c", "echo up; sleep 100"],
                          stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "up\n"
        private = [word for line in guests_of(run.pid) for word in line.split() if "dm-david-lab-" in word]
        assert private
        run.kill()
    deadline = time.monotonic() + 10
    while any(private[0] in line for line in guests_of(1)):
        assert time.monotonic() < deadline, "the guest runs on"
        time.sleep(0.1)


@pytest.mark.parametrize(
    "kind", [pytest.param(UML, id="uml"), pytest.param(VM, id="vm", marks=pytest.mark.seldom)]
)
def test_a_panic_is_told_with_the_end_of_the_console(kind: tuple[str, ...], leftovers: None) -> None:
    run = shell(kind, "echo before; sleep 1; echo c >/proc/sysrq-trigger; sleep 5")
    assert run.returncode == 125
    assert run.stdout == "before\n"
    assert "kernel panicked" in run.stderr
    assert "sysrq triggered crash" in run.stderr


def test_a_command_that_takes_too_long_is_told(leftovers: None) -> None:
    start = time.monotonic()
    run = shell(UML, "echo before; sleep 100", "--timeout", "5")
    assert time.monotonic() - start < 30
    assert run.returncode == 124
    assert run.stdout == "before\n"
    # Nothing of the boot: the kernel has no part in it.
    assert run.stderr == "lab: the command was not done after 5 s, see --timeout\n"


def test_a_kernel_warning_fails_a_command_that_succeeded() -> None:
    warn = "echo '<4>WARNING: a test of the lab' >/dev/kmsg"
    run = shell(UML, f"{warn}; exit 0")
    assert run.returncode == 126
    assert "lab: kernel warning: " in run.stderr
    assert shell(UML, f"{warn}; exit 3").returncode == 3


def test_a_process_left_behind_does_not_keep_the_lab() -> None:
    start = time.monotonic()
    run = shell(UML, "sleep 100 & echo done")
    assert (run.returncode, run.stdout) == (0, "done\n")
    assert time.monotonic() - start < 30


def test_a_suspended_device_does_not_keep_the_lab() -> None:
    run = shell(UML, "dmsetup create t --table '0 8 linear /dev/ram0 0' && dmsetup suspend t &&"
                     "{ dd if=/dev/mapper/t of=/dev/null & sleep 1; echo done; }")
    assert (run.returncode, run.stdout) == (0, "done\n")


def test_two_labs_at_once() -> None:
    command = [DAVID, "lab", "run", "--", "sh", "-c", 'echo "$0"; sleep 3; touch /tmp/$0; ls /tmp']
    runs = [subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True, cwd="/")
            for name in ("one", "two")]
    for run, name, other in zip(runs, ("one", "two"), ("two", "one"), strict=True):
        out = run.communicate(timeout=300)[0]
        assert run.returncode == 0
        assert name in out.split()
        assert other not in out.split()


def test_the_newest_uml_kernel_has_several_cpus() -> None:
    run = shell(UML_NEWEST, "nproc; grep -c ^processor /proc/cpuinfo", "--cpus", "3")
    assert (run.returncode, run.stdout) == (0, "3\n3\n"), run.stderr


def test_virtual_time_makes_waiting_free_and_exact() -> None:
    start = time.monotonic()
    run = lab("--virtual-time", "--", "python3", "-c",
              "import time; t = time.monotonic_ns(); time.sleep(1000); print(time.monotonic_ns() - t)")
    assert run.returncode == 0, run.stderr
    # The guest's clock moves a little with every look at it.
    assert 0 <= int(run.stdout) - 1000 * 10**9 < 10**6
    assert time.monotonic() - start < 60


def test_virtual_time_begins_with_timers_that_are_exact() -> None:
    """Before the kernel's first tick, at 10 ms, any wait ends with that tick."""
    run = lab("--virtual-time", "--", "python3", "-c",
              "import time; t = time.monotonic_ns(); time.sleep(1e-6); print(t, time.monotonic_ns() - t)")
    begun, took = map(int, run.stdout.split())
    # Python's start looks at the clock; who sleeps may be woken 50 us later.
    assert 0 <= begun - 10_003_141_592 < 10**6 and took < 10**5, run.stdout


def test_a_sealed_command_sees_nothing_of_the_caller(tmp_path: Path) -> None:
    (tmp_path / "given").write_text("x")
    script = "env; pwd; ls /run/open/0 /tmp; echo done >/run/open/0/answer; ls /run/david/tools/david"
    env = {"DAVID_SEED": "42", "LANG": "de_DE.UTF-8", "PATH": f"/nowhere:{os.environ['PATH']}"}
    run = lab("--sealed", "--rw", str(tmp_path), "--", "sh", "-c", script, cwd=tmp_path, env=env)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "answer").read_text() == "done\n"
    assert "nowhere" not in run.stdout and "DAVID_SEED" not in run.stdout and str(tmp_path) not in run.stdout
    assert run.stdout.endswith("/\n/run/open/0:\ngiven\n\n/tmp:\n/run/david/tools/david\n"), run.stdout


def test_virtual_time_repeats_to_the_nanosecond() -> None:
    script = "dd if=/dev/zero of=/dev/ram0 bs=4k count=100 oflag=direct 2>/dev/null; sleep 0.5; " \
             "for n in 1 2 3; do sleep 0.01 & done; wait; free; " \
             "cat /proc/sys/kernel/random/uuid /proc/self/maps; " \
             "python3 -c 'import time; print(hash(\"x\"), time.monotonic_ns(), time.time_ns())'"
    first, second = (shell(UML, script, "--virtual-time").stdout for _ in range(2))
    assert first == second != ""
    # Later than any file of the host.
    assert int(first.split()[-1]) > time.time_ns()


def test_what_the_command_names_is_visible_below_tmp(tmp_path: Path) -> None:
    script = tmp_path / "deep" / "script"
    script.parent.mkdir()
    script.write_text('#!/bin/sh\necho "$1"; ls "$(dirname "$0")"; pwd\n')
    script.chmod(0o755)
    (script.parent / "neighbour").touch()
    run = lab("--", str(script), "an argument with 'quotes' and $signs", cwd=tmp_path)
    assert run.stdout == f"an argument with 'quotes' and $signs\nneighbour\nscript\n{tmp_path}\n", run.stderr


def test_the_environment_is_clean_and_has_the_callers_david_variables() -> None:
    run = lab("--", "env", env={"DAVID_SEED": "42 with space", "SECRET": "x"})
    have = dict(line.split("=", 1) for line in run.stdout.splitlines())
    assert have["DAVID_SEED"] == "42 with space"
    assert "SECRET" not in have
    assert have["DAVID_LAB"] == "uml"
    assert have["DM_DISABLE_UDEV"] == "1"
    assert "/sbin" in have["PATH"]


@pytest.mark.parametrize(("options", "said"), [
    (("--memory", "lots"), "--memory lots"),
    (("--memory", "900000G"), "--memory 900000G: this machine has"),
    (("--timeout", "0"), "--timeout 0"),
    (("--timeout", "-5"), "--timeout -5"),
    (("--timeout", "nan"), "--timeout nan"),
    (("--ram-disk", "0G"), "--ram-disk 0G"),
    (("--kernel", "./nosuch"), "--kernel ./nosuch"),
    (("--rw", "/does/not/exist"), "--rw /does/not/exist"),
    (("--kind", "vm", "--virtual-time"), "--virtual-time"),
    (("--kind", "uml", "--cpus", "2"), "--cpus 2"),
    ((*UML_NEWEST, "--cpus", "5"), "--cpus 5"),
    ((*UML_NEWEST, "--virtual-time"), "--virtual-time"),
    (("--kernel", "latest"), "--kernel latest"),
])
def test_a_bad_option_is_named(options: tuple[str, ...], said: str) -> None:
    run = lab(*options, "--", "true")
    assert run.returncode == 125
    assert said in run.stderr


def test_standard_input_is_the_commands() -> None:
    numbers = "".join(f"{n}\n" for n in range(200000))
    for options in ((), ("--virtual-time",)):
        run = subprocess.run([DAVID, "lab", "run", *options, "--", "sh", "-c", "read -r first; cat; exit 3"],
                             input=numbers, capture_output=True, text=True, check=False)
        assert (run.returncode, run.stdout) == (3, numbers.removeprefix("0\n")), run.stderr


def test_a_command_need_not_read_its_input() -> None:
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as endless:
        run = subprocess.run([DAVID, "lab", "run", "--", "head", "-n", "2"], stdin=endless.stdout,
                             capture_output=True, text=True, check=False)
        endless.kill()
    assert (run.returncode, run.stdout) == (0, "y\ny\n"), run.stderr


def test_modprobe_of_what_is_built_in_has_nothing_to_do() -> None:
    run = shell(UML, "set -e; modprobe brd rd_nr=1 rd_size=131072; modprobe loop; blockdev --getsz /dev/ram0;"
                     "if modprobe brd rd_size=5; then exit 1; fi; if modprobe nosuch; then exit 1; fi")
    assert (run.returncode, run.stdout) == (0, "262144\n"), run.stderr
    assert "--ram-disk SIZE" in run.stderr and "nosuch not found" in run.stderr
    run = shell(UML, "modprobe brd rd_size=3145728 && blockdev --getsz /dev/ram3", "--ram-disk", "3G")
    assert (run.returncode, run.stdout) == (0, f"{3 << 21}\n"), run.stderr


class Typed:
    """`david lab shell` on a terminal of its own."""

    def __init__(self) -> None:
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.execv(DAVID, [str(DAVID), "lab", "shell", "--", "bash", "--norc"])
        self.resize(33, 101)
        self.seen = ""

    def resize(self, lines: int, columns: int) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self) -> str:
        """What is printed next; "" after the end, or if nothing comes."""
        if not select.select([self.fd], [], [], 600)[0]:
            return ""
        with contextlib.suppress(OSError):
            return os.read(self.fd, 4096).decode(errors="replace")
        return ""

    def until(self, text: str) -> None:
        """Read on until that is printed."""
        while text not in self.seen:
            more = self.read()
            assert more, f"no {text!r} in {self.seen!r}"
            self.seen += more
        self.seen = self.seen.partition(text)[2]

    def status(self) -> int:
        """When it has ended."""
        while self.read():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def keys(self, text: str) -> None:
        os.write(self.fd, text.encode())


def test_a_shell_has_the_terminal_with_its_keys_and_size() -> None:
    shell = Typed()
    shell.until("# ")
    # It says when the terminal is its own: a key that comes before would be the shell's. No sh: dash
    # starts programs by vfork, and a child that is stopped before exec keeps it from being stopped.
    shell.keys("""stty size; bash -c 'trap "echo $((30 + 13)) goes on" CONT; echo $((20 + 22)) ready; """
               "while sleep 1; do :; done'\n")
    shell.until("33 101")
    shell.until("42 ready")
    shell.resize(44, 111)
    shell.keys("\x1a")
    shell.until("Stopped")
    shell.keys("stty size; fg\n")
    shell.until("44 111")
    shell.until("43 goes on")
    # Who is interrupted does not go on with its line.
    shell.keys("\x03")
    shell.until("# ")
    shell.keys("echo $? ended\n")
    shell.until("130 ended")
    shell.keys("exit 5\n")
    assert shell.status() == 5


def test_a_shell_needs_a_terminal() -> None:
    run = subprocess.run([DAVID, "lab", "shell"], input="true\n", capture_output=True, text=True, check=False)
    assert run.returncode == 125 and "no terminal" in run.stderr


@LONG
def test_icount_counts_instructions_and_skips_waiting(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("""#!/bin/sh
        dmsetup targets | grep -c ^david
        modprobe null_blk queue_mode=0
        now() { sed -n 's/now at \\([0-9]*\\) .*/\\1/p' /proc/timer_list; }
        now
        sleep 1000
        now
        dd if=/dev/zero of=/dev/nullb0 bs=4k count=10000 oflag=direct
        now
        exit 9""")
    script.chmod(0o755)
    start = time.monotonic()
    run = subprocess.run([DAVID, "lab", "icount", "--kernel", "6.12", "--", script],
                         capture_output=True, text=True, check=False)
    assert time.monotonic() - start < 300
    assert run.returncode == 9, run.stderr
    targets, before, middle, after = map(int, run.stdout.split())
    assert targets == 1
    assert 1000 * 10**9 < middle - before < 1001 * 10**9
    # Some thousand instructions a request, system call included, whatever the host.
    assert 3000 < (after - middle) / 10000 < 30000
