# SPDX-License-Identifier: GPL-2.0
"""A profile from fio's results: another drive's, with what they tell fitted."""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from ..drive import files
from ..pages import writing
from ..pages.tables import Cell, Marks, Table
from ..sizes import SECTOR, parse_size
from ..util import NOT_BELIEVABLE, UserError
from . import fitdisk, fitssd, simdisk
from .fiojobs import FioJob, load
from .fiomodel import Model, is_ssd, value, written
from .knobs import Knob
from .output import new_file
from .result import GIVEN, Draft, Line, profile_name

# Percent that a fitted figure may be off, and the others on average: of a disk, of an SSD.
FITTED_LIMIT, OTHERS_LIMIT = 10.0, {False: 10.0, True: 15.0}
ROUNDS = 2  # of an SSD's values: each shows a little in the others' jobs
WAYS = {"reads": 0.0, "writes": 1.0}  # the share of writes of a job that does not tell of the other
IN_ORDER = ('; as if the drive had been written in order: if it was not, say so by '
            '"--option precondition=random", with precondition_fill if only a part of it was')


@dataclass
class Found:
    job: FioJob
    fitted: bool
    model: float

    @property
    def error(self) -> float:
        """Percent."""
        return 100 * (self.model / self.job.rate - 1)


def base(profile: str, size: str | None, options: Sequence[str] = ()) -> Draft:
    """Every line of a profile, scaled, as assumed, but for those that OPTIONS give."""
    words = [word for option in options for word in ("--option", option)]
    words += ["--sectors", str(parse_size(size) // SECTOR)] if size else []
    done = subprocess.run([simdisk.program(), "profile", "show", *words, "--", str(files.find(profile))],
                          capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"--profile {profile}: {done.stderr.strip()}")
    given = {option.partition("=")[0].strip() for option in options}
    draft = Draft("")
    for line in done.stdout.splitlines():
        name, _, text = line.partition(" = ")
        if name in ("slip", "remap") or (name == "sparing" and text != "none"):
            raise UserError(f"--profile {profile}: its defects cannot be scaled; take one of profiles/")
        source = Line(name, text, GIVEN) if name in given else Line(name, text, "assumed", f"as of {profile}")
        draft.lines.append(source)
    if value(draft, "kind") == "memory":
        raise UserError(f"--profile {profile}: of a drive of kind memory nothing is fitted; take a disk "
                        "or an SSD")
    return draft


def knobs_of(draft: Draft) -> tuple[Knob, ...]:
    return fitssd.KNOBS if is_ssd(draft) else fitdisk.KNOBS


def fit(draft: Draft, jobs: list[FioJob]) -> tuple[Draft, list[FioJob]]:
    """One job tells one value; which ones were used."""
    used: list[FioJob] = []
    with Model() as model:
        for _ in range(ROUNDS if is_ssd(draft) else 1):
            for knob in knobs_of(draft):
                if chosen := knob.choose(jobs):
                    draft = knob.fit(model, draft, chosen)
                    used += chosen
    return draft, used


def undetermined(draft: Draft, jobs: list[FioJob]) -> list[str]:
    """What no job tells, each with the job that would."""
    knobs = knobs_of(draft)
    told = {knob.words for knob in knobs if knob.choose(jobs)}
    return [f"{words}: needs {needs}" for words, needs in {knob.words: knob.needs for knob in knobs}.items()
            if words not in told]


def table(found: list[Found]) -> str:
    lines = [f"{'job':<58}{'drive/s':>10}{'model/s':>10}{'error %':>9}  used to fit"]
    for row in found:
        lines.append(f"{row.job.kind:<58}{row.job.rate:>10.1f}{row.model:>10.1f}{row.error:>9.1f}"
                     f"  {'yes' if row.fitted else 'no'}")
    return "\n".join(lines)


def page(found: list[Found]) -> Table:
    """The same, for a page."""
    rows: list[list[Cell]] = []
    for row in found:
        errors = (row.error, None) if row.fitted else (None, row.error)
        rows.append([row.job.kind, row.job.rate, row.model, *errors])
    columns = ["job", "drive, 1/s", "model, 1/s", "used to fit, %", "not used, %"]
    return Table("The model beside fio's results", columns, rows,
                 ["In percent: how much more the model has than the drive."],
                 marks=Marks((3, 4), "of the drive's rate, less 100, %"))


def tells(job: FioJob, way: str) -> bool:
    """Does it tell anything of reads, of writes?"""
    return job.writes != WAYS[next(other for other in WAYS if other != way)]


def others(found: list[Found], way: str = "") -> list[float]:
    """How far off the jobs are that nothing was fitted to, percent."""
    return [abs(row.error) for row in found if not row.fitted and (not way or tells(row.job, way))]


def doubts(draft: Draft, found: list[Found], only: str | None) -> list[str]:
    """Why the profile is not to be believed."""
    ways = [only] if only else list(WAYS)
    limit = OTHERS_LIMIT[is_ssd(draft)]
    said = [f"{row.job.kind}: the model comes to {row.model:.4g} a second where the drive had "
            f"{row.job.rate:.4g}, {row.error:+.0f} %, and {FITTED_LIMIT:g} % are allowed for what was fitted"
            for row in found if row.fitted and abs(row.error) > FITTED_LIMIT]
    for way in ways:
        far = others(found, way)
        if far and mean(far) > limit:
            why = IN_ORDER if is_ssd(draft) and way == "reads" and not written(draft) else ""
            said.append(f"{way} that nothing was fitted to are {mean(far):.0f} % off on average, and "
                        f"{limit:g} % are allowed{why}")
        if not any(tells(row.job, way) for row in found):
            rest = next(other for other in WAYS if other != way)
            said.append(f"no job tells anything of {way}, and they do not follow from {rest}; fio's results "
                        f'of {way} do, or "--only {rest}" for a profile for {rest} alone')
    if not others(found):
        said.append("every job was used to fit: nothing tells how far the profile is right beyond them; "
                    "other jobs' results do, by --beside")
    return said


def summary(found: list[Found]) -> str:
    far = others(found)
    if not far:
        return "there are no jobs that nothing was fitted to"
    parts = ((way, others(found, way)) for way in WAYS)
    ways = ", ".join(f"{way} {mean(some):.1f} % ({len(some)})" for way, some in parts if some)
    return f"{len(far)} jobs that nothing was fitted to: {mean(far):.1f} % off on average: {ways}"


def account(profile: str, draft: Draft, jobs: list[FioJob], found: list[Found], only: str | None) -> str:
    """What the profile's comment and the user are told."""
    lines = [table(found), summary(found)]
    if only:
        lines.append(f"for {only} alone: {next(way for way in WAYS if way != only)} are as of {profile}")
    lines += [f"not determined by these jobs, and as of {profile}: {said}"
              for said in undetermined(draft, jobs)]
    lines.append(f"all else is as of {profile}")
    return "\n".join([*lines, *(f"NOT TO BE BELIEVED: {said}" for said in doubts(draft, found, only))])


def results(paths: list[str], only: str | None) -> list[FioJob]:
    """With --only, the jobs that do nothing else."""
    jobs = [job for path in paths for job in load(path)]
    return [job for job in jobs if not only or job.writes == WAYS[only]]


def run(args: argparse.Namespace) -> int:
    if not args.profile:
        raise UserError("--from needs --profile P: a drive of the class; see 'david profile list'")
    if args.write:
        raise UserError("--write goes with a device, not with --from")
    draft = base(args.profile, args.size, args.option)
    jobs, beside = results(args.from_, args.only), results(args.beside, args.only)
    with new_file(args.out, args.force) as out:
        draft, used = fit(draft, jobs)
        if not used:
            needs = "; ".join(knob.needs for knob in knobs_of(draft))
            raise UserError(f"--from {', '.join(args.from_)}: no job tells anything of the drive; wanted: "
                            f"{needs}")
        draft.set("name", profile_name(args.name or f"{args.profile[:24]}-fitted"), "reported")
        with Model() as model:
            found = [Found(job, job in used, model.rate(draft, job)) for job in jobs]
            found += [Found(job, False, model.rate(draft, job)) for job in beside]
        said = account(args.profile, draft, jobs, found, args.only)
        draft.title = f"{args.profile}, fitted to {', '.join(args.from_)} by david calibrate.\n{said}"
        out.write_text(draft.text())
    print(said)
    if args.html:
        writing.write(Path(args.html), f"{args.profile}, fitted to fio's results", [page(found)])
    return NOT_BELIEVABLE if doubts(draft, found, args.only) else 0
