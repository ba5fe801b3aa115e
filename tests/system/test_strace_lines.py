# SPDX-License-Identifier: GPL-2.0
"""Lines of strace that are seldom, and options that change all of them."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import programs_hunt
from davidlib.replay import programs
from davidlib.trace import from_strace, importing, tracefile
from davidlib.util import UserError
from helpers import traced

TREE = Path(__file__).resolve().parents[2]
NAMES = ["m:2,S", "a(b", "a)b", "a[b", "a{b", 'a"b', "a<b", "a>b", "a->", "a|b", "a\\b", "a = 3"]


def imported(text: str, tmp_path: Path) -> sqlite3.Connection:
    (tmp_path / "log").write_text(text)
    account = importing.import_lines("strace", tmp_path / "log", tmp_path / "t.db").account
    assert not account.left_out, account.left_out
    return sqlite3.connect(tmp_path / "t.db")


def strace(options: str, command: list[str], tmp_path: Path) -> Path:
    log, out = tmp_path / "log", tmp_path / f"{len(list(tmp_path.iterdir()))}.db"
    words = ["strace", *options.split(), "-o", str(log), *command]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, timeout=120)
    account = importing.import_lines("strace", log, out).account
    assert not account.left_out, account.left_out
    return out


@pytest.mark.skipif(not shutil.which("strace"), reason="no strace here")
def test_no_name_shifts_the_arguments_behind_it(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    for size, name in enumerate(NAMES, 1):
        (work / name).write_bytes(b"x" * size)
    script = 'for f in "$1"/*; do /bin/dd if=/etc/passwd of="$f" bs=4096 seek=2 conv=notrunc; done'
    script = f"exec 2>/dev/null; {script}"
    command = ["/bin/sh", "-c", script, "sh", str(work)]
    for options in ("-f -y", "-f -yy -Y"):
        with sqlite3.connect(strace(options, command, tmp_path)) as database:
            sql = "SELECT count(DISTINCT full_path) FROM call WHERE name = 'openat' AND full_path LIKE ?"
            assert database.execute(sql, (f"{work}/_%",)).fetchone() == (len(NAMES),)
            found = "SELECT a0, a2, result FROM call WHERE name = 'write' AND result > 0 AND offset = 8192"
            assert len(database.execute(found).fetchall()) == len(NAMES)


@pytest.mark.skipif(not shutil.which("strace"), reason="no strace here")
def test_options_that_add_lines_or_words_change_nothing(tmp_path: Path) -> None:
    command = ["/bin/sh", "-c", "/bin/cat /etc/passwd; (/bin/true); :"]
    plain = strace("-f", command, tmp_path)
    for options in ("-f -Y", "-f -k", "-f -C", "-f -q", "-f -i -n -T -tt -yy"):
        assert not traced.difference(plain, strace(options, command, tmp_path)), options


VFORKS = """\
1 chdir("/a") = 0
1 fork() = 2
2 chdir("/b") = 0
1 vfork( <unfinished ...>
2 vfork( <unfinished ...>
20 openat(AT_FDCWD, "x", O_RDONLY) = 3
10 openat(AT_FDCWD, "x", O_RDONLY) = 3
20 execve("/bin/true", ["true"], 0x1 /* 2 vars */ <unfinished ...>
2 <... vfork resumed>) = 20
20 <... execve resumed>) = 0
1 <... vfork resumed>) = 10
"""


def test_of_two_vforks_each_child_is_its_own_parents(tmp_path: Path) -> None:
    database = imported(VFORKS, tmp_path)
    sql = "SELECT p.pid, q.pid FROM process p JOIN process q ON q.id = p.parent ORDER BY 1"
    assert database.execute(sql).fetchall() == [(2, 1), (10, 1), (20, 2)]
    opened = "SELECT tid, full_path FROM call WHERE name = 'openat' ORDER BY tid"
    assert database.execute(opened).fetchall() == [(10, "/a/x"), (20, "/b/x")]


SELDOM = """\
1 [ Process PID=1 runs in 32 bit mode. ]
1 openat(AT_FDCWD, "/f", O_RDWR) = 3
1 _llseek(3, 4294967296, [4294967296], SEEK_SET) = 0
1 write(3, "x"..., 4096) = 4096
Process 2 attached
Process 1 suspended
1 clone(child_stack=0x1, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM) = 2
1 pause( <unfinished ...>
2 execve("/bin/true", ["true"], 0x1 /* 2 vars */ <unfinished ...>
1 <... pause resumed>) = ?
1 +++ superseded by execve in pid 2 +++
1 <... execve resumed>) = 0
1 +++ exited with 0 +++
"""


def test_seldom_lines_are_understood(tmp_path: Path) -> None:
    database = imported(SELDOM, tmp_path)
    sql = (
        "SELECT tid, name, result, offset, full_path FROM call WHERE name NOT IN ('openat', 'pause', 'clone')"
    )
    assert database.execute(sql).fetchall() == [
        (1, "lseek", 4294967296, 4294967296, None),
        (1, "write", 4096, 4294967296, None),
        (1, "execve", 0, None, "/bin/true"),
    ]
    assert database.execute("SELECT count(*) FROM thread WHERE end IS NULL").fetchone() == (0,)


def test_an_exec_of_another_thread_may_be_the_last_line(tmp_path: Path) -> None:
    """Then it says its new number, where another task's line would have left it unfinished."""
    text = SELDOM.replace("<unfinished ...>\n1 <... pause resumed>) = ?\n", "<pid changed to 1 ...>\n")
    assert "pid changed" in text and "pause resumed" not in text
    database = imported(text, tmp_path)
    execs = "SELECT tid, result, full_path FROM call WHERE name = 'execve'"
    assert database.execute(execs).fetchall() == [(1, 0, "/bin/true")]
    assert database.execute("SELECT count(*) FROM thread WHERE end IS NULL").fetchone() == (0,)


def test_an_exec_of_another_thread_is_known_where_no_line_says_so(tmp_path: Path) -> None:
    """-qqq leaves out the marks of ends, and that of who is superseded."""
    quiet = "".join(line for line in SELDOM.splitlines(keepends=True) if " +++ " not in line)
    (tmp_path / "log").write_text(quiet + '1 openat(AT_FDCWD, "/behind", O_RDONLY) = 3\n')
    importing.import_lines("strace", tmp_path / "log", tmp_path / "t.db")
    database = sqlite3.connect(tmp_path / "t.db")
    execs = "SELECT result, full_path FROM call WHERE name = 'execve'"
    assert database.execute(execs).fetchall() == [(0, "/bin/true")]


# What -yy says of descriptors: strace 6.1's words, and those of newer ones.
DECODED = (
    "/tmp/a", "/tmp/a>(deleted)", "/tmp/a (deleted)", "/tmp/m:2,S", "/dev/null<char 1:3>",
    "/dev/sda<block 8:0>", "/t/a\\76b", "pid:77", "signalfd:[INT TERM]", "TCP:[127.0.0.1:1->127.0.0.1:22]",
    "TCPv6:[12345]", "TCPv6:[[::1]:33->[::1]:22]", 'UNIX-STREAM:[1->2,"/run/x, y"]', "NETLINK:[ROUTE:77]",
    "anon_inode:[eventfd]", "eventfd:[count=3, id=4]", "anon_inode:[eventpoll]", "pipe:[44]",
    "memfd:a, b>(deleted)",
)  # fmt: skip


@pytest.mark.parametrize("said", DECODED)
def test_words_of_descriptors_shift_no_argument(said: str, tmp_path: Path) -> None:
    fd = f"3<{said}" if said.endswith(">(deleted)") else f"3<{said}>"
    text = f'1 pread64({fd}, "x, y"..., 4096, 8192) = 77\n1 dup2({fd}, 9) = 9{fd[1:]}\n'
    database = imported(text, tmp_path)
    sql = "SELECT name, result, a0, a1, offset FROM call"
    assert database.execute(sql).fetchall() == [("pread64", 77, 3, 0, 8192), ("dup2", 9, 3, 9, None)]


# As strace 7.2 writes them; what the same lines are without -N, or --color.
BARE = """\
1 openat(AT_FDCWD, "/d/link", O_RDONLY) = 3
1 newfstatat(3, "", {st_mode=S_IFREG|0644, st_size=1926, ...}, AT_EMPTY_PATH) = 0
1 pread64(3, "f=1, "..., 784, 64) = 784
1 readlink("/d/link", "target=1", 4095) = 8
1 copy_file_range(3, [128], 4, NULL, 512, 0) = 512
1 lseek(3, 4096, SEEK_SET) = 4096
1 renameat2(AT_FDCWD, "/a=b", AT_FDCWD, "/c", RENAME_NOREPLACE) = 0
1 close(3) = 0
"""
NAMED = """\
1 openat(dirfd=AT_FDCWD, pathname="/d/link", flags=O_RDONLY) = 3
1 newfstatat(dirfd=3, pathname="", statbuf={st_mode=S_IFREG|0644, st_size=1926, ...}, flags=AT_EMPTY_PATH) = 0
1 pread64(fd=3, buf="f=1, "..., count=784, offset=64) = 784
1 readlink(pathname="/d/link", buf="target=1", bufsiz=4095) = 8
1 copy_file_range(fd_in=3, off_in=[128], fd_out=4, off_out=NULL, len=512, flags=0) = 512
1 lseek(fd=3, offset=4096, whence=SEEK_SET) = 4096
1 renameat2(olddfd=AT_FDCWD, oldname="/a=b", newdfd=AT_FDCWD, newname="/c", flags=RENAME_NOREPLACE) = 0
1 close(fd=3) = 0
"""


def colored(line: str) -> str:
    """Words of all kinds in colours, as --color has them."""
    number, space, rest = line.partition(" ")
    return number + space + re.sub(r'("[^"]*"|\b\w+\b)', "\033[35m\\1\033[0m", rest)


def all_calls(database: sqlite3.Connection) -> list[tuple]:
    found = [row[0] for row in database.execute("SELECT name FROM pragma_table_info('call')")]
    ways = [tuple(row) for row in database.execute(f"SELECT {', '.join(found)} FROM call ORDER BY id")]
    return ways + database.execute("SELECT * FROM extra ORDER BY event, kind").fetchall()


@pytest.mark.parametrize("text", [
    NAMED, "".join(map(colored, BARE.splitlines(keepends=True))),
    "".join(map(colored, NAMED.splitlines(keepends=True)))], ids=["-N", "--color", "both"])
def test_names_of_arguments_and_colours_change_nothing(text: str, tmp_path: Path) -> None:
    bare = all_calls(imported(BARE, tmp_path))
    (tmp_path / "t.db").unlink()
    assert all_calls(imported(text, tmp_path)) == bare
    assert any(b"target=1" in row for row in bare) and any(512 in row for row in bare)


def test_an_i386s_place_is_known_with_names_too(tmp_path: Path) -> None:
    opened = '1 open(pathname="/f", flags=O_RDWR) = 3\n'
    seek = "1 _llseek(fd=3, offset=4294967296, result=[4294967296], whence=SEEK_SET) = 0\n"
    database = imported(opened + seek, tmp_path)
    found = database.execute("SELECT name, result FROM call ORDER BY id").fetchall()
    assert found == [("open", 3), ("lseek", 1 << 32)]


# Every option of `strace --help`: what is tried with it, or why nothing is. None of them changes the calls.
SAME = {
    "-Y": "-Y", "-k": "-k", "-C": "-C", "-q": "-q", "-qq": "-qq", "-qqq": "-qqq", "-i": "-i", "-n": "-n",
    "-v": "-v", "-x": "-x", "-xx": "-xx", "-y": "-y", "-yy": "-yy", "-t": "-t", "-tt": "-tt", "-ttt": "-ttt",
    "-T": "-T", "-r": "-r", "-a": "-a 1", "-s": "-s 0", "-X": "-X raw", "-w": "-C -w", "-S": "-C -S name",
    "-U": "-C -U name,calls,time-percent", "-O": "-C -O 5", "-D": "-D", "-DD": "-DD", "-DDD": "-DDD",
    "-I": "-I 2", "-E": "-E X=y", "-A": "-A", "-o": "", "-f": "", "--seccomp-bpf": "--seccomp-bpf",
    "--decode-pids": "--decode-pids=pidns", "--strings-in-hex": "--strings-in-hex=non-ascii-chars",
    "--tips": "--tips=full", "--relative-timestamps": "--relative-timestamps=ns",
    "--absolute-timestamps": "--absolute-timestamps=format:time,precision:ns",
    "--syscall-times": "--syscall-times=ns",
    "abbrev": "-e abbrev=none", "verbose": "-e verbose=none", "read": "-e read=all", "write": "-e write=all",
    "quiet": "-e quiet=all", "kvm": "-e kvm=vcpu", "decode-fds": "-e decode-fds=path,socket",
    "signal": "-e signal=none", "-u": f"-u {os.environ.get('USER', 'root')}", "-d": "-d",
    "whole seconds": "--relative-timestamps=s", "both times": "-r -ttt",
    "all": "-T -tt -yy -Y -k -i -n -v -r",
}  # fmt: skip
PART = {  # calls that strace itself has left out; the log does not say so
    "trace": "-e trace=%file", "status": "-e status=successful", "-P": "-P /etc/passwd", "-z": "-z",
    "-Z": "-Z", "-b": "-b execve", "inject": "-e inject=getpid:error=EPERM",
    "fault": "-e fault=getpid:when=1",
}  # fmt: skip
REFUSED = {"-c": "there is no call of strace in it", "raw": "refused: .* only pointers, as by -e raw"}
LATER = {  # where the installed strace has them: 7.2 does
    "-N": "-N", "--color": "--color=always", "--always-show-pid": "--always-show-pid",
    "--kill-on-exit": "--kill-on-exit", "--argv0": "--argv0=/bin/sh", "namespace": "-e namespace=new",
    "--stack-trace-frame-limit": "-k --stack-trace-frame-limit=3", "--stack-trace": "--stack-trace=symbol",
}  # fmt: skip
LATER_PART = {"trace-fds": "-e trace-fds=3", "--syscall-limit": "--syscall-limit=40"}
ELSE = {"--inject", "-p", "-V", "-h", "-ff", "-e", "--output-separately"}  # -ff has a test of its own


def options_of_strace() -> set[str]:
    """By their short forms; of `-e` what it takes."""
    said = subprocess.run(["strace", "--help"], capture_output=True, text=True, check=True).stdout
    found = set(re.findall(r"^  (-[a-zA-Z]+|--[a-z-]+)(?=[ ,=\[\n])", said, re.MULTILINE))
    listed = re.search(r"options: +([a-z, \n-]+?)\n\n", said)
    assert listed
    return found | set(re.findall(r"[a-z-]+", listed[1]))


@pytest.mark.skipif(not shutil.which("strace"), reason="no strace here")
def test_every_option_of_strace_is_understood_or_refused_by_name(tmp_path: Path) -> None:
    has = options_of_strace()
    assert has <= SAME.keys() | PART.keys() | REFUSED.keys() | LATER.keys() | LATER_PART.keys() | ELSE
    command = ["/bin/sh", "-c", "/bin/cat /etc/passwd >/dev/null; (/bin/true); :"]
    plain = strace("-f", command, tmp_path)
    for options in [*SAME.values(), *(words for name, words in LATER.items() if name in has)]:
        (tmp_path / "log").unlink(missing_ok=True)
        assert not traced.difference(plain, strace(f"-f {options}", command, tmp_path)), options
    for options in [*PART.values(), *(words for name, words in LATER_PART.items() if name in has)]:
        with sqlite3.connect(strace(f"-f {options}", command, tmp_path)) as database:
            assert database.execute("SELECT count(*) FROM event").fetchone() > (0,), options
    for name, said in REFUSED.items():
        with pytest.raises(UserError, match=said):
            strace("-f -e raw=all" if name == "raw" else f"-f {name}", command, tmp_path)


@pytest.mark.skipif(not shutil.which("strace"), reason="no strace here")
def test_logs_of_several_tasks_in_one_are_refused(tmp_path: Path) -> None:
    """-ff: a file each. Behind one another they look like one task's."""
    words = ["strace", "-ff", "-o", str(tmp_path / "log"), "/bin/sh", "-c", "/bin/true; (/bin/true); :"]
    subprocess.run(words, check=True, timeout=60)
    parts = sorted(tmp_path.glob("log.*"), key=lambda path: int(path.suffix[1:]))
    assert len(parts) > 2
    whole, out = tmp_path / "whole", tmp_path / "t.db"
    whole.write_text("".join(part.read_text() for part in parts))
    with pytest.raises(UserError, match="files of -ff behind one another; strace-log-merge makes one log"):
        importing.import_lines("strace", whole, out)
    # One by itself is one task's; two runs with -A are two.
    whole.write_text(parts[0].read_text() * 2)
    assert not importing.import_lines("strace", whole, out).account.left_out
    with sqlite3.connect(out) as database:
        roots = "SELECT count(*) FROM process WHERE parent IS NULL"
        assert database.execute(roots).fetchone() == (2,)


NEWER = '1 (fs:ext4) openat(AT_FDCWD, "/f", O_RDONLY) = 3\n1 read(3, "x"..., 9) = 9 {new: 7}\n'


def test_a_form_that_no_known_strace_writes_is_refused_by_name(tmp_path: Path) -> None:
    log, out = tmp_path / "log", tmp_path / "t.db"
    known = '1 openat(AT_FDCWD, "/f", O_RDONLY) = 3\n'
    for line in NEWER.splitlines(keepends=True):
        log.write_text(known + line)
        with pytest.raises(UserError, match="refused: 1 of 2 lines of a form that strace up to 7.2 does not"):
            importing.import_lines("strace", log, out)
        assert not out.exists()
    log.write_text(known * 200 + NEWER)
    account = importing.import_lines("strace", log, out).account
    assert account.left_out[from_strace.UNKNOWN_FORM].count == 2


def test_relative_times_are_added_up(tmp_path: Path) -> None:
    lines = ["close(3) = 0", "close(4) = 0", "--- SIGCHLD {} ---", "close(5) = 0"]
    forms = {
        "-r": ["     0.000000 ", "     0.500000 ", "     0.250000 ", "     1.000000 "],
        "-f -r": ["7      0.000000 ", "7      0.500000 ", "7      0.250000 ", "7      1.000000 "],
        "cut, -r": ["     0.000123 ", "     0.500000 ", "     0.250000 ", "     1.000000 "],
        "-r -ttt": [f"{1795698186 + t:.6f} (+     0.1) " for t in (0, 0.5, 0.75, 1.75)],
        "-ttt": [f"{1795698186 + t:.6f} " for t in (0, 0.5, 0.75, 1.75)],
        "since the boot": [f"{51720 + t:.6f} " for t in (0, 0.5, 0.75, 1.75)],
    }
    for form, stamps in forms.items():
        text = "".join(stamp + line + "\n" for stamp, line in zip(stamps, lines, strict=True))
        (tmp_path / "t.db").unlink(missing_ok=True)
        times = imported(text, tmp_path).execute("SELECT start FROM call ORDER BY id").fetchall()
        assert times == [(0,), (500_000_000,), (1_750_000_000,)], form


@pytest.mark.skipif(not shutil.which("strace"), reason="no strace here")
def test_relative_names_begin_where_the_program_was(tmp_path: Path) -> None:
    """The own tracer looks; strace says it with -y, and else --cwd has to."""
    work, log = tmp_path / "work", tmp_path / "log"
    (work / "deep").mkdir(parents=True)
    (work / "f").write_text("one\n")
    (work / "deep/f").write_text("three\n")
    script = "import os\nos.chdir('deep')\nopen('f')\nif not os.fork():\n os.chdir('..')\n open('f')\n"
    script += " os._exit(0)\nos.wait()\nopen('f')"
    opened = "SELECT full_path FROM call WHERE name = 'openat' AND path = 'f' AND result >= 0 ORDER BY start"
    expected = [(f"{work}/deep/f",), (f"{work}/f",), (f"{work}/deep/f",)]
    said = ("-f -y", "-f -y -X raw", "-f -yy -X verbose")
    for options, cwd in (("-f", str(work)), *((one, None) for one in said), ("-f", None)):
        words = ["strace", *options.split(), "-o", str(log), sys.executable, "-ISc", script]
        subprocess.run(words, check=True, cwd=work, timeout=60)
        out = tmp_path / "t.db"
        out.unlink(missing_ok=True)
        account = importing.import_lines("strace", log, out, cwd).account
        with sqlite3.connect(out) as database:
            found = database.execute(opened).fetchall()
        text = log.read_text()
        if cwd or "y" in options and any(one in text for one in ("AT_FDCWD<", "AT_FDCWD */<", "(-100<")):
            assert found == expected and not account.guessed
            place = tmp_path / "place"
            compiled = tmp_path / "t.wl"
            programs.make(out, compiled, ["--root", str(work)])
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            programs.prepare(compiled, place, holes=False)
            assert sorted(path.relative_to(place).as_posix() for path in place.rglob("f")) == ["deep/f", "f"]
        else:
            assert found == [("/deep/f",), ("/f",), ("/deep/f",)]
            assert account.guessed[from_strace.GUESSED].count == 5


@pytest.mark.skipif(not shutil.which("strace"), reason="no strace here")
def test_lengths_of_messages_and_who_has_ended_are_as_the_own_tracer_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same random program: what strace prints of structures that the kernel has filled."""
    program, tables = programs_hunt.build(tmp_path / "random-program"), []
    for name in ("strace", "own"):
        work = tmp_path / name
        work.mkdir()
        monkeypatch.chdir(work)
        words = [program, "3", "6", "messages", "waited"]
        if name == "strace":
            out = strace("-f -e abbrev=none -s 8", [str(word) for word in words], work)
        else:
            traces = TREE / "build/david-trace"
            out = work / "t.db"
            command = [traces, "record", "--out", work / "t.dtr", "--share-disk", "--", *words]
            subprocess.run(command, check=True, cwd=work, timeout=120)
            subprocess.run([traces, "finish", work / "t.dtr", out], check=True, timeout=120)
        with sqlite3.connect(out) as database:
            sql = "SELECT nr, kind, value FROM extra JOIN event e ON e.id = event WHERE kind IN (?, ?)"
            tables.append(database.execute(sql, (tracefile.MESSAGES, tracefile.CHILD)).fetchall())
    # How many come with one call is chance.
    sent = [sorted(value for nr, _, value in table if nr == 307) for table in tables]
    got = [b"".join(value for nr, _, value in table if nr == 299) for table in tables]
    total = [sum(struct.unpack(f"<{len(value) // 4}I", value)) for value in got]
    assert sent[0] and sent[0] == sent[1] and total[0] == total[1] == sum(
        sum(struct.unpack(f"<{len(value) // 4}I", value)) for value in sent[0]
    )
    # Where the program asks for no answer only the own tracer knows.
    ended = [sum(kind == tracefile.CHILD for _, kind, _ in table) for table in tables]
    assert 0 < ended[0] <= ended[1]
