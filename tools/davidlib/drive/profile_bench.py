# SPDX-License-Identifier: GPL-2.0
"""david profile bench and validate: everyday jobs, what they should come to, how far off they are."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .. import build
from ..command import Commands, OnceEach
from ..pages import writing
from ..pages.tables import Cell, Marks, Table
from ..util import UserError, say, write_whole
from . import evidence, realdrives, worth
from . import files as profiles
from .everyday import CLOSED, NO_LIMIT, Outcome, Row, Seen, rows_for
from .everyday import FIGURES as UNITS

GRADES = ("measured", "published", "derived", "fitted", "assumed")
# The first of these that stands in a parameter's comment says what it is. Sources alone: published.
WORDS = (
    (r"\bassumed\b", "assumed"),
    (r"\bchosen to meet\b|\bfitted\b", "fitted"),
    (r"\bmeasured\b", "measured"),
    (r"\bderived\b", "derived"),
    (r"\[[A-Z][A-Za-z0-9]*\]|\bdata sheet\b", "published"),
)

# Of a disk with zones
ZONE_WORDS = ("zone_size", "conventional_zones", "max_open_zones", "max_active_zones", "zone_capacity",
              "zone_open_time", "zone_close_time", "zone_finish_time", "zone_reset_time")


def _sim(*words: str, text: str = "") -> dict[str, Any]:
    done = subprocess.run(
        [build.ensure("david-sim"), "bench", "--json", "--no-doubts", *words],
        input=text, capture_output=True, text=True,
    )
    if done.returncode:
        raise UserError(done.stderr.strip() or "david-sim bench failed")
    return json.loads(done.stdout)


def _options(options: list[str]) -> list[str]:
    return [word for option in options for word in ("--option", option)]


def _flat(profile: Path) -> list[str]:
    """The options of a shingled drive without its shingles, and of one with zones without these and without
    the host that they need: no closed form knows them."""
    given = re.findall(r"^(\w+)\s*=", profile.read_text(encoding="utf-8"), re.MULTILINE)
    given += ["zone_capacity"] if "zone_size" in given else []  # it follows from that
    zero = [name for name in dict.fromkeys(given) if name in ("media_cache", *ZONE_WORDS)]
    host = ["host=linux-2.6.23"] if "zone_size" in given else []
    return _options([f"{name}=0 ns" if name.endswith("_time") else f"{name}=0" for name in zero] + host)


def _run(words: list[str], drive: dict[str, Any], rows: list[Row]) -> list[Outcome]:
    text = "".join(f"{number}: {row.words}\n" for number, row in enumerate(rows))
    jobs = _sim(*words, "--jobs", "-", text=text)["jobs"] if rows else []
    result = []
    for row, job in zip(rows, jobs, strict=True):
        result.append(Outcome(row, UNITS[row.unit](job), row.expected(Seen(drive, job)), job["job"]))
    return result


def outcomes(profile: Path, options: list[str]) -> tuple[str, list[Outcome]]:
    """The drive's name, and what every row came to."""
    words = ["--profile", str(profile), *_options(options)]
    head = _sim(*words, "--job", "read count=1 warm=0")
    name, drive = head["profile"], head["drive"]
    if head["kind"] != "disk":
        return name, []  # the rows are about arms and platters
    # With other parameters it is another drive: what was measured on this one is not its.
    own = [] if options else evidence.jobs(name)
    if flat := _flat(profile):
        return name, _run(words, drive, own) + _run([*words, *flat], drive, rows_for(drive))
    return name, _run(words, drive, rows_for(drive, own))


def beside(profile: Path, drive: str) -> tuple[list[Outcome], list[realdrives.Real]]:
    """What was measured on DRIVE, beside the model of a profile that has another name."""
    words = ["--profile", str(profile)]
    head = _sim(*words, "--job", "read count=1 warm=0")
    rows = evidence.jobs(drive) if head["kind"] == "disk" else []
    return _run(words, head["drive"], rows), realdrives.compare(drive, profile, _sim)


def grade(text: str) -> Counter[str]:
    """How many of a profile's parameters rest on what, by their comments. A list (zone, seek) counts once."""
    found: dict[str, str] = {}
    above = ""
    for line in text.splitlines():
        item, _, comment = line.partition("#")
        name = item.partition("=")[0].strip()
        if not name:
            above = f"{above} {comment}" if comment else ""
            continue
        if name in ("name", "logical_block") or found.get(name) and not comment:
            continue
        said = comment if comment.strip() else above
        found[name] = next(
            (kind for pattern, kind in WORDS if re.search(pattern, said, re.IGNORECASE)), "assumed"
        )
    return Counter(found.values())


def grade_text(counts: Counter[str]) -> str:
    total = sum(counts.values()) or 1
    parts = (f"{counts[kind]} {kind}" for kind in GRADES if counts[kind])
    return f"{total} parameters: {', '.join(parts)} ({100 * counts['assumed'] // total} % assumed)"


def _cell(outcome: Outcome) -> str:
    row = outcome.row
    if outcome.off is None:
        return (
            f"  {'none':<6}{row.name:<40} {outcome.modelled:>9.2f} "
            f"{'no figure':>18} {row.unit:<11}{'':>9}  {row.source}"
        )
    verdict = "ok"
    if outcome.bad:
        verdict = "known" if row.known else "OFF"
    least = "at least " if row.above >= NO_LIMIT else ""
    known = f"; {row.known}" if row.known else ""
    return (
        f"  {verdict:<6}{row.name:<40} {outcome.modelled:>9.2f} "
        f"{least + format(outcome.expected, '.2f'):>18} "
        f"{row.unit:<11}{outcome.off:>+7.1f} %  {row.kind}: {row.source}{known}"
    )


def as_text(results: list[Outcome]) -> str:
    head = f"  {'':<6}{'job':<40} {'modelled':>9} {'should be':>18} {'':<11}{'off by':>9}  by"
    lines = []
    told = [outcome for outcome in results if outcome.off is not None]
    free = [outcome for outcome in told if not outcome.row.fitted]
    for title, chosen in (
        ("Not fitted, of a real drive: evidence", [one for one in free if one.row.group == "drive"]),
        (
            "Not fitted, of the class: bounds that its drives keep",
            [one for one in free if one.row.group != "drive" and one.row.kind != CLOSED],
        ),
        (
            "Closed forms of the profile's own parameters: they hold the model, and tell nothing of a drive",
            [one for one in free if one.row.group != "drive" and one.row.kind == CLOSED],
        ),
        ("Fitted: a parameter was chosen by this figure", [one for one in results if one.row.fitted]),
        (
            "No figure was found to hold these against, of the drive or of its class",
            [one for one in results if one.off is None],
        ),
    ):
        if not chosen:
            continue
        lines += ["", title, head]
        group = ""
        for outcome in chosen:
            if outcome.row.group != group:
                group = outcome.row.group
                lines.append(f" {group}")
            lines.append(_cell(outcome))
    return "\n".join(lines)


def page(results: list[Outcome]) -> Table:
    """What has a figure to be held against."""
    rows: list[list[Cell]] = []
    for one in results:
        if one.off is not None:
            row = one.row
            kind = 3 if row.fitted else 2 if row.kind == CLOSED else row.above >= NO_LIMIT
            offs = [one.off if kind == at else None for at in range(4)]
            rows.append([f"{row.group}: {row.name}", one.modelled, one.expected, row.unit, *offs, row.kind,
                         row.source])
    columns = ["job", "modelled", "should be", "unit", "evidence, %", "at least, %", "closed form, %",
               "fitted, %", "by", "source"]
    return Table("How far everyday jobs are off", columns, rows,
                 ["In percent: how much more was modelled than should be. At least: what it should be is a "
                  "bound from below."],
                 marks=Marks((4, 5, 6, 7), "of what it should be, less 100, %"))


def page_of_drive(measured: list[realdrives.Real]) -> Table:
    """Each figure that a real drive had."""
    rows: list[list[Cell]] = []
    for row in measured:
        for name, figure in row.figures.items():
            offs = (None, figure.off) if figure.fitted else (figure.off, None)
            rows.append([f"{row.name}: {name}", figure.modelled, figure.real,
                         "1/s" if name == realdrives.COLUMNS[0] else "us", *offs,
                         f"{row.source}; {row.why}" if row.why else row.source])
    columns = ["job: figure", "modelled", "the drive", "unit", "held, %", "fitted, %", "source"]
    return Table("Beside a real drive", columns, rows,
                 ["In percent: how much more was modelled than the drive had."],
                 marks=Marks((4, 5), "of the drive's figure, less 100, %"))


def pages(results: list[Outcome], measured: list[realdrives.Real]) -> list[Table]:
    """Of both, what there is anything of."""
    return [table for table in (page(results), page_of_drive(measured)) if table.rows]


def as_dict(outcome: Outcome) -> dict[str, Any]:
    row = outcome.row
    return {
        "group": row.group,
        "name": row.name,
        "job": outcome.job,
        "unit": row.unit,
        "modelled": outcome.modelled,
        "expected": outcome.expected,
        "off_percent": outcome.off,
        "allowed_percent": [-row.below, row.above if row.above < NO_LIMIT else None],
        "by": row.kind,
        "source": row.source,
        "fitted": row.fitted,
        "known": row.known,
        "ok": not outcome.bad,
    }


def summary(name: str, results: list[Outcome], measured: list[realdrives.Real]) -> str:
    off = sum(outcome.bad and not outcome.row.known for outcome in results)
    known = sum(outcome.bad and bool(outcome.row.known) for outcome in results)
    fitted = sum(outcome.row.fitted for outcome in results)
    unknown = sum(outcome.off is None for outcome in results)
    closed = sum(outcome.row.kind == CLOSED for outcome in results)
    beside = ""
    if measured:
        beside = f"; {len(measured)} beside a real drive, {sum(row.bad for row in measured)} off"
        far = [row.name for row in measured if row.unexplained]
        beside += f", {len(far)} of them far off without a reason: {', '.join(far)}" if far else ""
    if not results:
        return f"{name}{beside or ': nothing was measured'}".replace(";", ":")
    return (
        f"{name}: {len(results)} jobs, {closed} of them closed forms, {fitted} fitted; {off} off, "
        f"{known} more known to be off, {unknown} without a figure{beside}"
    )


def failed(results: list[Outcome], measured: list[realdrives.Real]) -> bool:
    return any(outcome.bad and not outcome.row.known for outcome in results) or any(
        row.bad or row.unexplained for row in measured
    )


def bench(args: argparse.Namespace) -> int:
    path = profiles.find(args.profile)
    if not args.json:
        say(f"running david-sim on {args.profile}, some seconds")
    name, results = outcomes(path, args.option)
    measured = [] if args.option else realdrives.compare(name, path, _sim)
    text = path.read_text(encoding="utf-8", errors="replace")
    counts, value = grade(text), worth.of_text(text)
    if args.json:
        rows = [as_dict(outcome) for outcome in results]
        drives = [asdict(row) for row in measured]
        found = {"profile": name, "grade": counts, "worth": value.as_dict(), "rows": rows, "real": drives}
        print(json.dumps(found, indent=1))
    else:
        print(f"{name}\n{as_text(results)}\n")
        if measured:
            print(realdrives.as_text(name, measured) + "\n")
        print(f"{summary(name, results, measured)}\n{grade_text(counts)}\n\n{worth.as_text(value)}")
    if args.html:
        said = Table("What the profile is worth", [], [], [summary(name, results, measured),
                                                           grade_text(counts)])
        writing.write(Path(args.html), name, [said, *pages(results, measured)])
    return 1 if failed(results, measured) else 0


# With fewer jobs an SSD's map would take longest: it then knows fewer of the pages.
COARSE_BELOW = 300


def physics(profile: Path, drive: str, jobs: int, seed: int) -> tuple[bool, str]:
    """True if random jobs break nothing that no disk breaks, but what is known; and what david-sim says."""
    known = evidence.known_rules(drive)
    words = ["--jobs", str(jobs), "--seed", str(seed)]
    words += [word for name in known for word in ("--known", name)]
    if jobs < COARSE_BELOW:
        words.append("--coarse")
    done = subprocess.run(
        [build.ensure("david-sim"), "physics", "--profile", profile, *words], capture_output=True, text=True
    )
    if done.returncode > 1 or done.stderr:
        raise UserError(done.stderr.strip() or "david-sim physics failed")
    reasons = "".join(f"\n  known to be broken: {name}: {why}" for name, why in known.items())
    return not done.returncode, done.stdout.rstrip() + reasons


def _rules_summary(said: str) -> str:
    """The last line of physics, and what is known to be broken."""
    return "\n".join(
        line for line in said.splitlines() if " jobs, " in line and ": seed " in line or "known to be" in line
    )


def _validate_one(args: argparse.Namespace, name: str) -> tuple[bool, str]:
    bad, text = False, []
    drive = profiles.find(name).stem
    if not args.physics_only:
        drive, results = outcomes(profiles.find(name), [])
        measured = realdrives.compare(drive, profiles.find(name), _sim)
        bad = failed(results, measured)
        rows = [outcome for outcome in results if args.all or outcome.bad]
        text += [as_text(rows)] if rows else []
        text += [realdrives.as_text(drive, measured)] if measured else []
        found = profiles.find(name).read_text(encoding="utf-8")
        text += [summary(drive, results, measured), grade_text(grade(found))]
        if drive in profiles.names():
            old = worth.outdated(drive, worth.points(drive, results, measured))
            bad |= bool(old)
            text += [f"OLD: {old}" if old else worth.brief(worth.of_profile(drive))]
    if args.jobs:
        good, said = physics(profiles.find(name), drive, args.jobs, args.seed)
        bad |= not good
        text.append(said if not good or args.all else _rules_summary(said))
    return bad, "\n".join(text)


def _points(name: str) -> list[worth.Point]:
    path = profiles.path_of(name)
    return worth.points(name, outcomes(path, [])[1], realdrives.compare(name, path, _sim))


def write_worth() -> int:
    """The table of what profiles are worth, anew."""
    build.ensure("david-sim")
    with ThreadPoolExecutor(2) as pool:
        found = [point for points in pool.map(_points, profiles.names()) for point in points]
    write_whole(worth.TABLE, worth.as_csv(found))
    say(f"{worth.TABLE}: {len(found)} figures of {len({one.profile for one in found})} drives")
    return 0


def validate(args: argparse.Namespace) -> int:
    names = args.profile or profiles.names()
    bad = 0
    build.ensure("david-sim")  # before the first line
    with ThreadPoolExecutor(2) as pool:
        for wrong, text in pool.map(lambda name: _validate_one(args, name), names):
            bad += wrong
            print(text + "\n", flush=True)
    print(f"{len(names)} profiles, {bad} of them with a job that is off")
    return 1 if bad else 0


def add_parser(commands: Commands) -> None:
    one = commands.add_parser(
        "validate",
        help="the same for all profiles, and random jobs against what no disk breaks",
        description="Run the jobs of 'david profile bench' on every profile, and random jobs against what no "
        "disk breaks, whatever its parameters (david-sim physics --help). What is off is printed; the exit "
        "status is 1 then.",
    )
    one.add_argument("profile", metavar="P", nargs="*", help="these only")
    one.add_argument(
        "--jobs", type=int, default=1500, metavar="N", help="random jobs (default %(default)s)"
    )
    one.add_argument(
        "--seed", type=int, default=1, metavar="S", help="of the random jobs (default %(default)s)"
    )
    one.add_argument("--physics-only", action="store_true", help="the random jobs only")
    one.add_argument("--all", action="store_true", help="print every row, not only what is off")
    one.set_defaults(func=validate)
    one = commands.add_parser(
        "bench",
        help="everyday jobs on the drive: modelled, what they should come to, how far off",
        description="Run everyday jobs on the modelled drive. Hold each against a closed form of the drive's "
        "parameters, its data sheet, or a measurement of it or of its class. The last lines say how much of "
        "the profile is measured, published, derived, fitted or assumed, by its comments. The exit status is "
        "1 if a job is further off than allowed.",
    )
    one.add_argument("profile", metavar="P", help="a name in profiles/, or a file")
    one.add_argument(
        "--option",
        metavar="NAME=VALUE",
        action=OnceEach,
        default=[],
        help="replace a value; repeatable",
    )
    one.add_argument("--json", action="store_true", help="as JSON, for programs")
    one.add_argument("--html", metavar="FILE", help="write a page with a drawing, too")
    one.set_defaults(func=bench)
