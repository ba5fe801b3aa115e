# SPDX-License-Identifier: GPL-2.0
"""Block traces served without a kernel: `david sim TRACE`, and david-sim blocks below it."""

from __future__ import annotations

import csv
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from davidlib import build
from davidlib.trace.blocks import DISCARD, FLUSH, FUA, PREFLUSH, READ, SYNC, WRITE
from davidlib.util import TREE
from test_inputs import status_of

PROFILES = Path(__file__).parent / "profiles"
PLAIN, QUICK, FLASH = (str(PROFILES / f"{name}.profile") for name in ("plain", "quick", "flash"))
SAMPLES = Path(__file__).parent / "blocktraces"
SECTORS = 1 << 21  # 1 GiB
Line = tuple[int, int, int, int, int, int]


def made(seed: int, count: int, gap: int, depth: int = 1) -> list[Line]:
    """Requests of all kinds at random times."""
    dice, time, lines = random.Random(seed), 1_000_000, []
    for _ in range(count):
        time += dice.randrange(2 * gap)
        op = dice.choices((READ, WRITE, FLUSH, DISCARD), (10, 8, 1, 1))[0]
        sectors = dice.choice((8, 8, 16, 256)) if op != FLUSH else 0
        sector = dice.randrange((SECTORS - sectors) // 8) * 8 if op != FLUSH else 0
        flags = SYNC | FUA * (op == WRITE and not dice.randrange(9)) if op != DISCARD else 0
        lines.append((time, op, sector, sectors, flags, depth))
    return lines


def blocks(
    tmp_path: Path, lines: list[Line], profile: str, *words: str
) -> tuple[dict, list[tuple[int, ...]]]:
    """What david-sim blocks says; and of a single run index, arrival and completion of each request."""
    file, out = tmp_path / "requests", tmp_path / "out"
    file.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    said = [build.ensure("david-sim"), "blocks", "--profile", profile, "--requests", file, *words]
    if not {"--bound"} & set(words):
        said += ["--out", out]
    done = subprocess.run(said, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    if "--bound" in words:
        return json.loads(done.stdout), []
    with out.open() as rows:
        found = [tuple(int(word) for word in row.values()) for row in csv.DictReader(rows)]
    return json.loads(done.stdout), sorted(found)


def recorded(tmp_path: Path, lines: list[Line], profile: str, size: int) -> dict[int, int]:
    """Completions of david-sim replay: the same requests, told as the kernel's trace points do."""
    file, out = tmp_path / "trace", tmp_path / "recorded.csv"
    with file.open("w") as text:
        for number, (time, op, sector, sectors, flags, _) in enumerate(lines):
            text.write(
                f" david_queue: dev=1:1 id={number} arrival={time} op={op} sector={sector} "
                f"sectors={sectors} flags={flags}\n"
            )
    subprocess.run(
        [
            build.ensure("david-sim"),
            "replay",
            "--profile",
            profile,
            "--size",
            str(size),
            "--recorded",
            file,
            "--out",
            out,
        ],
        check=True,
        capture_output=True,
    )
    with out.open() as rows:
        return {int(row["id"]): int(row["completion_ns"]) for row in csv.DictReader(rows)}


GAPS = {
    PLAIN: 12_000_000,
    QUICK: 8_000_000,
    FLASH: 300_000,
    "toshiba-p300-3tb": 12_000_000,
    "seagate-st8000as0002": 80_000_000,
}


@pytest.mark.parametrize("profile", GAPS)
def test_an_open_loop_is_that_of_a_recording_of_the_same_requests(profile: str, tmp_path: Path) -> None:
    """To the nanosecond, and a request that is lost, or a time of another unit, is found."""
    lines = made(5, 1500, GAPS[profile])
    found, rows = blocks(tmp_path, lines, profile, "--open", "--size", str(SECTORS))
    right = recorded(tmp_path, lines, profile, SECTORS)
    assert {number: end for number, _, end in rows} == right and len(rows) > 1300
    assert found["runs"][0]["discards"] == len(lines) - len(rows) > 0
    without = [line for line in lines if line[1] != FLUSH]
    assert recorded(tmp_path, without, profile, SECTORS).values() != right.values()
    wrong = [(line[0] // 1000, *line[1:]) for line in lines]
    _, rows = blocks(tmp_path, wrong, profile, "--open", "--size", str(SECTORS))
    assert {number: end - wrong[number][0] for number, _, end in rows} != {
        number: end - lines[number][0] for number, end in right.items()
    }


@pytest.mark.parametrize(
    "words",
    [
        (PLAIN, "--size", str(SECTORS)),
        (FLASH, "--size", str(SECTORS)),
        (PLAIN, "--array", "5 members=4 stripe-cache=0"),
    ],
)
@pytest.mark.parametrize("depth", [1, 7])
def test_a_closed_loop_has_as_many_under_way_as_it_should(
    words: tuple[str, ...], depth: int, tmp_path: Path
) -> None:
    lines = [line for line in made(6, 400, 1000, depth) if line[1] != DISCARD]
    found, rows = blocks(tmp_path, lines, *words, "--closed")
    moments = sorted([(came, 1) for _, came, _ in rows] + [(end, -1) for _, _, end in rows])
    under_way, most, less, came = 0, 0, 0, 0
    for place, (time, step) in enumerate(moments):
        under_way += step
        came += step > 0
        most = max(most, under_way)
        last = place + 1 == len(moments) or moments[place + 1][0] != time
        less += last and under_way < depth and came < len(lines)
    # Only at the end are fewer under way.
    assert (most, less, len(rows)) == (depth, 0, len(lines))
    assert found["runs"][0]["busy"] == 1


def test_a_write_behind_a_flush_takes_both_times(tmp_path: Path) -> None:
    before = [(1_000_000 + n * 50_000_000, WRITE, n * 40960, 8, SYNC, 1) for n in range(20)]
    last = 2_000_000_000
    _, rows = blocks(tmp_path, [*before, (last, WRITE, 8, 8, SYNC | PREFLUSH, 1)], QUICK, "--open")
    together = rows[-1][2] - last
    _, rows = blocks(tmp_path, [*before, (last, FLUSH, 0, 0, SYNC, 1)], QUICK, "--open")
    flushed = rows[-1][2]
    _, rows = blocks(
        tmp_path, [*before, (last, FLUSH, 0, 0, SYNC, 1), (flushed, WRITE, 8, 8, SYNC, 1)], QUICK, "--open"
    )
    assert together == rows[-1][2] - last > rows[-1][2] - flushed > 0


@pytest.mark.parametrize(("profile", "bound"), [(PLAIN, 80_000_000), (FLASH, 3_000_000)])
def test_the_verdict_on_the_load_is_that_of_the_trace_at_that_speed(
    profile: str, bound: int, tmp_path: Path
) -> None:
    lines = made(7, 3000, 20_000_000)
    said = blocks(tmp_path, lines, profile, "--bound", str(bound), "--size", str(SECTORS))[0]["load"]
    first = lines[0][0]

    def at(speed: float) -> dict[str, Any]:
        faster = [(first + int((line[0] - first) / speed), *line[1:]) for line in lines]
        run = blocks(tmp_path, faster, profile, "--open", "--size", str(SECTORS))[0]["runs"][0]
        return run["all"] | {"per_s": run["per_s"]}

    assert said["speed"] > 0 and said["p99_us"] * 1000 <= bound
    assert at(said["speed"])["p99_us"] == pytest.approx(said["p99_us"], rel=1e-3)
    assert at(said["speed"])["per_s"] == pytest.approx(said["per_s"], rel=1e-3)
    assert at(said["speed"] * 1.02)["p99_us"] * 1000 > bound


def test_what_no_bound_holds_and_what_every_bound_holds_is_said(tmp_path: Path) -> None:
    lines = made(7, 200, 20_000_000)
    assert blocks(tmp_path, lines, PLAIN, "--bound", "1")[0]["load"]["speed"] == 0
    assert blocks(tmp_path, lines, FLASH, "--bound", str(10**12))[0]["load"]["speed"] == 1 << 20


@pytest.mark.parametrize(
    "line",
    [
        "1,0,0,8,2",
        "1,0,0,8,2,1,1",
        "1,4,0,8,2,1",
        "1,2,0,8,2,1",
        "1,0,0,0,2,1",
        "1,0,0,8,16,1",
        "1,0,0,8,2,0",
        "a,0,0,8,2,1",
        "-1,0,0,8,2,1",
        "1,0,0,8,2,1 ",
        "",
        "0,0,0,8,2,1",
    ],
)
def test_a_line_that_is_no_request_is_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "requests").write_text(f"1,0,0,8,2,1\n{line}\n")
    done = subprocess.run(
        [
            build.ensure("david-sim"),
            "blocks",
            "--profile",
            PLAIN,
            "--open",
            "--requests",
            tmp_path / "requests",
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "requests:2: " in done.stderr and not done.stdout


def sim(*words: str | Path) -> subprocess.CompletedProcess[str]:
    david = Path(__file__).resolve().parents[2] / "tools" / "david"
    return subprocess.run([sys.executable, david, "sim", *words], capture_output=True, text=True)


TOSHIBA, SAMSUNG = "toshiba-p300-3tb", "samsung-pm883"


def test_each_drive_serves_by_itself_and_in_each_array() -> None:
    words = ("--profile", TOSHIBA, "--profile", SAMSUNG, "--array", "6 members=12", "--array", "1 members=2")
    done = sim(SAMPLES / "msr", *words)
    # It is short, so caches have room for what it writes.
    cached = rf"{TOSHIBA}.*: a cache took the writes: .*|{SAMSUNG}.*: (its cache has|flash blocks) .*"
    cached += r"|.*msr: the trace has [1-9]\d? reads and writes, and a load is told of 100 or more, .*"
    cached += r"|.*: the load is one that it bears for as long as the trace, .*: not to be believed .*"
    said = done.stderr.splitlines()
    assert done.returncode == 2 and all(re.fullmatch(f"david: ({cached})", line) for line in said), done
    lines = done.stdout.splitlines()
    for name in (TOSHIBA, SAMSUNG):
        for array in ("", ", 6 members=12", ", 1 members=2"):
            for loop in ("open", "closed"):
                rows = [line for line in lines if line.split(f" {loop} ")[0].strip() == name + array]
                assert len(rows) == 1, (name, array, loop, done.stdout)
                who = name + (f" in '{array[2:]}'" if array else "")
                brief = any(line.startswith(f"david: {who}: the load is one") for line in said)
                assert rows[0].endswith("*") is (brief and loop == "open"), (rows, said)
    assert "* for as long as the trace" in done.stdout


SPC = "".join(f"0,{n * 8},4096,{'RW'[n % 2]},{n / 50}\n" for n in range(100))
TIMED = "".join(f"{n * 1000},h,0,{('Read', 'Write')[n % 2]},{n * 4096},4096,500\n" for n in range(100))
TWO = TIMED + "".join(f"{n * 1000},h,1,Read,{n * 4096},4096,500\n" for n in range(100))


@pytest.mark.parametrize(
    ("text", "words", "status", "says"),
    [
        (TIMED, (), 0, "^$"),
        (TIMED + "nonsense\n", (), 0, "1 of 101 requests, .*not understood: as line 101, 'nonsense'"),
        (TIMED + "nonsense\n" * 5, (), 2, "4.8 % of 105 requests are missing .*not to be believed"),
        (TIMED + f"9,h,0,Read,{1 << 60},4096,5\n", (), 0, "do not lie on its .* sectors, the first from"),
        (TIMED + f"9,h,0,Read,{1 << 60},4096,5\n" * 2, (), 2, "2 beyond the end"),
        (f"9,h,0,Read,{1 << 60},4096,5\n", (), 1, "no request lies on the disk"),
        (TIMED + "9,h,1,Read,0,4096,5\n", (), 1, r"--device: /h/0 \(100 requests\), /h/1 \(1 requests\)"),
        (TIMED + "9,h,1,Read,0,4096,5\n", ("--device", "/h/0"), 0, "^$"),
        (TWO + "x\n", ("--device", "/h/0"), 0, "1 of 201 requests, 0.5 %, not understood: as line 201, 'x'"),
        (TWO + "x\n" * 2, ("--device", "/h/0"), 2, r"2 % of 102 .* \(2 left out, of whichever device\)"),
        (SPC, (), 0, "no closed loop without --depth N"),
        (SPC, ("--depth", "4"), 0, "^$"),
        (SPC, ("--loop", "closed"), 1, "no closed loop without --depth N"),
        ("0,4096,512\n", ("--loop", "open"), 1, "it has no times"),
        ("0,4096,512\n", (), 1, "nothing is left that could be served"),
        ("0,4096,512\n", ("--depth", "1"), 0, "no open loop, and no verdict on the load"),
        ("fio version 3 iolog\n1 /dev/sda sync 0 0\n1 /dev/sda trim 0 4096\n", (), 1, "no read and no write"),
        ("", (), 1, "has none of the formats"),
        (TIMED, ("--format", "spc"), 1, "no request of spc in it"),
        (TIMED, ("--array", "7 members=2"), 1, "7"),
        (TIMED, ("--option", "nonsense=1"), 1, "nonsense"),
        (TIMED, ("-o", "out.csv"), 1, "-o is for one drive"),
        (TIMED, ("--depth", "0"), 1, "no depth"),
    ],
)
def test_what_is_left_out_is_said_and_counts_for_the_exit_status(
    text: str,
    words: tuple[str, ...],
    status: int,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "log").write_text(text)
    try:
        found = status_of(("sim", str(tmp_path / "log"), "--profile", TOSHIBA, *words), monkeypatch)
    except SystemExit as ended:
        found = ended.code or 0
    said = capfd.readouterr()
    assert (found, bool(re.search(says, said.err, re.MULTILINE))) == (status, True), said
    assert bool(said.out) is (status != 1)


def test_writes_that_only_a_cache_took_are_said(tmp_path: Path) -> None:
    """An Exos X20 writes 549 blocks a second at random (david-sim bench, steady), and at first 24,000."""
    dice = random.Random(1)
    for kind, said in (("Write", True), ("Read", False)):
        places = (dice.randrange(4 * 10**9) * 4096 for _ in range(3000))
        lines = (f"{n * 20000},h,0,{kind},{place},4096,500\n" for n, place in enumerate(places))
        (tmp_path / kind).write_text("".join(lines))
        done = sim(tmp_path / kind, "--profile", "seagate-exos-x20-20tb")
        pattern = r", (closed loop|the load): a cache took .* with that it is ([0-9.]+) req"
        found = re.findall(pattern, done.stderr)
        assert [way for way, _ in found] == (["closed loop", "the load"] if said else []), done
        assert all(300 < float(rate) < 1000 for _, rate in found), done
        # 42 times what it bears for long. As each loop serves it, the trace would take that time.
        assert done.returncode == (2 if said else 0) and ("not to be believed" in done.stderr) is said, done
        alone = sim(tmp_path / kind, "--profile", "seagate-exos-x20-20tb", "--loop", "closed")
        assert alone.returncode == 0 and ("a cache took" in alone.stderr) is said, alone
        assert "flash" not in done.stderr


def test_writes_for_which_no_flash_had_to_be_collected_are_said(tmp_path: Path) -> None:
    """As of david-sim bench: of a drive that was full in order a short trace finds blocks that are erased."""
    dice = random.Random(1)
    for kind in ("Write", "Read"):
        places = (dice.randrange(2 * 10**8) * 4096 for _ in range(3000))
        lines = (f"{n * 20000},h,0,{kind},{place},4096,500\n" for n, place in enumerate(places))
        (tmp_path / kind).write_text("".join(lines))
    words = ("--profile", SAMSUNG, "--loop", "closed")
    erased = f"{SAMSUNG}: flash blocks that were erased, or an SLC cache, took 100 % of the writes"
    done = sim(tmp_path / "Write", *words)
    assert erased in done.stderr and done.returncode == 0, done
    # Nor does it bear for long what erased blocks take.
    assert sim(tmp_path / "Write", "--profile", SAMSUNG).returncode == 2
    assert sim(tmp_path / "Read", "--profile", SAMSUNG).returncode == 0
    assert f"{SAMSUNG}: its cache has room for all that was written" in done.stderr, done
    assert "flash" not in sim(tmp_path / "Write", *words, "--option", "precondition=random").stderr
    assert not sim(tmp_path / "Read", *words).stderr


# Of a load with one request each 10 ms: what the format's clock leaves of it.
CLOCKS = {
    "tencent": (10**9, lambda t, at: f"{1538323200 + t // 10**9},{at * 8},8,0,0\n"),
    "alibaba": (1000, lambda t, at: f"0,R,{at * 4096},4096,{1577808000000000 + t // 1000}\n"),
    "msr": (100, lambda t, at: f"{128166372000000000 + t // 100},h,0,Read,{at * 4096},4096,500\n"),
    "msr, whole seconds": (10**9, lambda t, at: f"{t // 10**9 * 10**7},h,0,Read,{at * 4096},4096,500\n"),
    "spc": (1000, lambda t, at: f"0,{at * 8},4096,r,{t / 1e9:.6f}\n"),
}


# 400 requests are of some seconds, 60 of less than one.
@pytest.mark.parametrize(("name", "count"), [("tencent", 60), *((name, 400) for name in CLOCKS)])
def test_bursts_that_a_traces_clock_made_are_not_to_be_believed(
    name: str, count: int, tmp_path: Path
) -> None:
    """All of a Tencent trace's requests of a second come at once: p50 was 41 ms instead of 4, and no word."""
    ns, line = CLOCKS[name]
    dice = random.Random(1)
    text = "".join(line(n * 10_000_037, dice.randrange(4 * 10**8)) for n in range(count))
    (tmp_path / "log").write_text(text)
    words = ("--profile", "seagate-exos-x20-20tb", "--format", name.split(",")[0])
    done = sim(tmp_path / "log", *words, "--loop", "open", "--json")
    p50 = json.loads(done.stdout)["served"][0]["runs"][0]["all"]["p50_us"]
    coarse = ns == 10**9
    assert (p50 > 30_000) is coarse, done
    assert done.returncode == (2 if coarse else 0), done
    assert ("open loop: the trace has times in steps of 1000 ms, and 100 %" in done.stderr) is coarse, done
    # As many at a time as are asked for: no clock has a part in that.
    if coarse:
        closed = sim(tmp_path / "log", *words, "--loop", "closed", "--depth", "2")
        assert closed.returncode == 0 and "steps" not in closed.stderr, closed
    if name.startswith("msr"):  # as many as in the trace: of one second all
        closed = sim(tmp_path / "log", *words, "--loop", "closed")
        assert closed.returncode == (2 if coarse else 0), closed


def test_requests_that_all_have_one_time_are_no_load(tmp_path: Path) -> None:
    """Of a fine clock, too: 100,000 a second were told, with the exit status 0."""
    lines = (f"1000,h,0,Read,{n * 10**9 // 4096 * 4096},4096,500\n" for n in range(40))
    (tmp_path / "log").write_text("".join(lines))
    done = sim(tmp_path / "log", "--profile", "seagate-exos-x20-20tb")
    assert done.returncode == 2 and "open loop: all requests have one time" in done.stderr, done
    asked = ("--loop", "closed", "--depth", "2")
    assert sim(tmp_path / "log", "--profile", "seagate-exos-x20-20tb", *asked).returncode == 0


@pytest.mark.parametrize("back", [0, 9 * 10**6, 10**9])
def test_a_clock_that_goes_back_is_said(back: int, tmp_path: Path) -> None:
    times = (10**10 + n * 100_000 - (back if n == 20 else 0) for n in range(120))
    lines = (f"{time},h,0,Read,{n * 10**9 // 4096 * 4096},4096,500\n" for n, time in enumerate(times))
    (tmp_path / "log").write_text("".join(lines))
    done = sim(tmp_path / "log", "--profile", "seagate-exos-x20-20tb")
    said = "1 requests stand behind ones that came up to 99.9" in done.stderr
    assert done.returncode == 0 and said == (back == 10**9), done


def test_figures_of_any_size_stay_in_their_columns(tmp_path: Path) -> None:
    """Two rates and three times stood as one word, and a rate of 0.0006 a second was 0.0."""
    lines = (f"{10**10 + n * 10**12},h,0,Read,{n * 10**9},{2**31},{10**11}\n" for n in range(20))
    (tmp_path / "log").write_text("".join(lines))
    for words in ((), ("--array", "0 members=2")):
        done = sim(tmp_path / "log", "--profile", "seagate-exos-x20-20tb", *words)
        [head] = [line for line in done.stdout.splitlines() if "requests/s" in line]
        for line in done.stdout.splitlines()[3:]:
            if "as recorded" in line or " open " in line or " closed " in line:
                shown = line[head.index("requests/s") - 1 : head.index("p99.9 ms") + 8].split()
                assert len(shown) == 5 and all(float(word) for word in shown), line


def test_requests_that_came_at_once_by_a_fine_clock_are_a_load(tmp_path: Path) -> None:
    times = ((n, n // 8 * 500_003 + n // 8 % 7) for n in range(400))
    lines = (f"{time},h,0,Read,{n * 10**9 // 4096 * 4096},4096,500\n" for n, time in times)
    (tmp_path / "log").write_text("".join(lines))
    done = sim(tmp_path / "log", "--profile", "seagate-exos-x20-20tb", "--json")
    trace = json.loads(done.stdout)["trace"]
    assert done.returncode == 0 and trace["shared"] == 1, done


def test_a_new_ssds_empty_reads_are_said(tmp_path: Path) -> None:
    places = (f"{n * 10**7 // 4096 * 4096 if n % 2 == 0 else 4 * 10**11 + n * 4096}" for n in range(100))
    lines = (f"{n * 1000},h,0,{('Read', 'Write')[n % 2]},{place},4096,500" for n, place in enumerate(places))
    (tmp_path / "log").write_text("\n".join(lines))
    words = ("--profile", SAMSUNG, "--loop", "closed")
    assert "never been written" not in sim(tmp_path / "log", *words).stderr
    done = sim(tmp_path / "log", *words, "--option", "precondition=fresh")
    assert "100 % of the pages that were read had never been written" in done.stderr and done.returncode == 2


def test_long_names_and_arrays_stand_in_columns() -> None:
    """Five drives, each in two arrays, in one command: each figure below its head."""
    drives = ("wd-ultrastar-dc-hc310-6tb", "toshiba-p300-3tb", "samsung-pm883", "micron-7300-pro",
              "hitachi-travelstar-5k320")  # fmt: skip
    words = [word for drive in drives for word in ("--profile", drive)]
    sample = SAMPLES / "msr"
    words += ["--array", "6 members=6", "--array", "10 members=4", "--loop", "open"]
    david = [sys.executable, TREE / "tools/david", "sim", sample]
    done = subprocess.run([*david, *words], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    [head] = [line for line in lines if "requests/s" in line]
    rows = [line for line in lines if line.startswith(drives)]
    assert len(rows) == 15, done.stderr
    assert {line[head.index("loop") : head.index("loop") + 5] for line in rows} == {"open "}
    ends = head.index("requests/s") + len("requests/s")
    assert all(line[ends - 1].isdigit() and line[ends] == " " for line in rows)


def test_a_load_holds_for_the_last_requests_that_end_too(tmp_path: Path) -> None:
    """Eight come at once behind all others. Of 106 one may be later than the bound. The last two that end
    are, at the trace's own speed: while the last is under way only one is."""
    dice = random.Random(5)
    times = [number * 100_000_000 for number in range(98)] + [9_900_000_000] * 8
    lines = [(1_000_000 + time, READ, dice.randrange(SECTORS // 8) * 8, 8, SYNC, 1) for time in times]
    _, rows = blocks(tmp_path, lines, PLAIN, "--open")
    took = sorted((end - came, number) for number, came, end in rows)
    assert min(number for _, number in took[-3:]) >= 98, took[-3:]
    bound = (took[-2][0] + took[-3][0]) // 2
    found, _ = blocks(tmp_path, lines, PLAIN, "--bound", str(bound))
    assert found["load"]["p99_us"] <= bound / 1000 and found["load"]["speed"] < 1, (bound, found["load"])
    # With room for one more it holds.
    found, _ = blocks(tmp_path, lines, PLAIN, "--bound", str(took[-2][0]))
    assert found["load"]["p99_us"] <= took[-2][0] / 1000 and found["load"]["speed"] >= 1, found["load"]


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """As david record writes it, of reads of 4 KiB; without completions nothing is compared."""
    show = [build.ensure("david-sim"), "profile", "show", TOSHIBA, "--word"]
    word = subprocess.run(show, capture_output=True, text=True, check=True).stdout.strip()
    lines = [
        f"david_queue: dev=1:1 id={n} arrival={n * 10**8} op=0 sector={n * 10**7} sectors=8 flags=2\n"
        f"david_complete: dev=1:1 id={n} completion={n * 10**8 + 10**7}\n"
        for n in range(20)
    ]
    path = tmp_path / "run.rec"
    path.write_text(f"# david recording 1\n# size {10**9} sectors\n# profile {word}\n" + "".join(lines))
    return path


def test_a_table_is_whole_or_what_was_there_stays(recording: Path, tmp_path: Path) -> None:
    """Of a recording, a wrong option removed what OUT had been. Of a block trace, half a table stayed."""
    out = tmp_path / "out.csv"
    trace = tmp_path / "log"
    trace.write_text("".join(f"{n * 1000},h,0,Read,{n << 20},4096,500\n" for n in range(20)))
    for file, words in ((recording, ()), (trace, ("--loop", "open"))):
        for wrong in (("--profile", TOSHIBA, "--option", "none=1"), ("--profile", "/nowhere")):
            out.write_text("kept\n")
            assert sim(file, *words, *wrong, "-o", out).returncode == 1
            assert out.read_text() == "kept\n"
        done = sim(file, *words, "--profile", TOSHIBA, "-o", out)
        assert done.returncode == 0 and len(out.read_text().splitlines()) == 21, done
        assert sim(file, *words, "--profile", TOSHIBA, "-o", file).returncode == 1
        assert len(file.read_text()) > 100
        full = sim(file, *words, "--profile", TOSHIBA, "-o", "/dev/full")
        assert full.returncode == 1 and "/dev/full: No space left on device" in full.stderr, full
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log", "out.csv", "run.rec"]


def test_members_of_an_array_are_not_of_the_recorded_disks_size(recording: Path) -> None:
    """A drive by itself is scaled to it; --size is of both."""
    words = ("--profile", TOSHIBA, "--array", "0 members=2", "--json")
    alone, array = json.loads(sim(recording, *words).stdout)["served"]
    assert alone["sectors"] == 10**9 and array["sectors"] > 2 * 5_860_000_000
    alone, array = json.loads(sim(recording, *words, "--size", "1T").stdout)["served"]
    # Of each member 1 MiB and 128 are md's.
    assert (alone["sectors"], array["sectors"]) == (2**31, 2 * (2**31 - 129 * 2048))
