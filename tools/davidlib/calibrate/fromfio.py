# SPDX-License-Identifier: GPL-2.0
"""A profile from fio's results: another drive's, with what they tell fitted."""

from __future__ import annotations

import argparse
import subprocess
from dataclasses import dataclass

from ..drive import files
from ..sizes import SECTOR, parse_size
from ..util import NOT_BELIEVABLE, UserError
from . import fitdisk, fitssd, simdisk
from .fiojobs import FioJob, load
from .fiomodel import Model, is_ssd, value
from .knobs import Knob
from .output import new_file
from .result import Draft, Line, profile_name

# Percent that a fitted figure may be off, and the others on average.
FITTED_LIMIT, OTHERS_LIMIT = 10.0, 20.0
ROUNDS = 2  # of an SSD's values: each shows a little in the others' jobs


@dataclass
class Found:
    job: FioJob
    fitted: bool
    model: float

    @property
    def error(self) -> float:
        """Percent."""
        return 100 * (self.model / self.job.rate - 1)


def base(profile: str, size: str | None) -> Draft:
    """Every line of a profile, scaled, as assumed."""
    sectors = ["--sectors", str(parse_size(size) // SECTOR)] if size else []
    done = subprocess.run([simdisk.program(), "profile", "show", *sectors, "--", str(files.find(profile))],
                          capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"--profile {profile}: {done.stderr.strip()}")
    draft = Draft("")
    for line in done.stdout.splitlines():
        name, _, text = line.partition(" = ")
        if name in ("slip", "remap") or (name == "sparing" and text != "none"):
            raise UserError(f"--profile {profile}: its defects cannot be scaled; take one of profiles/")
        draft.lines.append(Line(name, text, "assumed", f"as of {profile}"))
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


def mean_error(found: list[Found]) -> float | None:
    """Of the jobs that nothing was fitted to, percent; None: there are none."""
    others = [abs(row.error) for row in found if not row.fitted]
    return sum(others) / len(others) if others else None


def doubts(found: list[Found]) -> list[str]:
    """Why the profile is not to be believed."""
    said = [f"{row.job.kind}: the model comes to {row.model:.4g} a second where the drive had "
            f"{row.job.rate:.4g}, {row.error:+.0f} %, and {FITTED_LIMIT:g} % are allowed for what was fitted"
            for row in found if row.fitted and abs(row.error) > FITTED_LIMIT]
    mean = mean_error(found)
    if mean is not None and mean > OTHERS_LIMIT:
        said.append(f"jobs that nothing was fitted to are {mean:.0f} % off on average, and "
                    f"{OTHERS_LIMIT:g} % are allowed")
    return said


def summary(found: list[Found]) -> str:
    mean = mean_error(found)
    if mean is None:
        return "every job was used to fit: nothing tells how far the profile is right beyond them"
    count = sum(not row.fitted for row in found)
    return f"{count} jobs that nothing was fitted to: {mean:.1f} % off on average"


def account(profile: str, draft: Draft, jobs: list[FioJob], found: list[Found]) -> str:
    """What the profile's comment and the user are told."""
    lines = [table(found), summary(found)]
    lines += [f"not determined by these jobs, and as of {profile}: {said}"
              for said in undetermined(draft, jobs)]
    lines.append(f"all else is as of {profile}")
    return "\n".join([*lines, *(f"NOT TO BE BELIEVED: {said}" for said in doubts(found))])


def run(args: argparse.Namespace) -> int:
    if not args.profile:
        raise UserError("--from needs --profile P: a drive of the class; see 'david profile list'")
    if args.write:
        raise UserError("--write goes with a device, not with --from")
    jobs = [job for path in args.from_ for job in load(path)]
    draft = base(args.profile, args.size)
    with new_file(args.out, args.force) as out:
        draft, used = fit(draft, jobs)
        if not used:
            needs = "; ".join(knob.needs for knob in knobs_of(draft))
            raise UserError(f"--from {', '.join(args.from_)}: no job tells anything of the drive; wanted: "
                            f"{needs}")
        draft.set("name", profile_name(args.name or f"{args.profile[:24]}-fitted"), "reported")
        with Model() as model:
            found = [Found(job, job in used, model.rate(draft, job)) for job in jobs]
        said = account(args.profile, draft, jobs, found)
        draft.title = f"{args.profile}, fitted to {', '.join(args.from_)} by david calibrate.\n{said}"
        out.write_text(draft.text())
    print(said)
    return NOT_BELIEVABLE if doubts(found) else 0
