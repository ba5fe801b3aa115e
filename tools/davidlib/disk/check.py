# SPDX-License-Identifier: GPL-2.0
"""david check: was a run on the disk valid?

Every line is one of the GUIDE's questions. The exit status is for scripts: 0 if nothing was wrong.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from typing import Any

from ..command import Commands, add
from ..util import DAVID, NOT_BELIEVABLE
from . import baseline, group, lateness, stats
from .dm import need_root
from .parameters import name_arg
from .statstext import FAULTS_MEAN


@dataclass(frozen=True)
class Finding:
    what: str
    good: bool
    text: str


def _state(figures: dict[str, Any]) -> Finding:
    state = figures["state"]
    text = {
        "ok": "ok",
        "low": "low: the backing device is nearly full; make it larger (david resize --backing)",
        "full": "full: writes failed for want of room; make it larger (david resize --backing)",
        "failed": "failed" + FAULTS_MEAN.get(figures["fault"], ""),
    }[state]
    return Finding("store", state in ("ok", "low"), text)


def _none(what: str, count: int, otherwise: str) -> Finding:
    return Finding(what, not count, f"{count}: {otherwise}" if count else "0")


def asked(figures: dict[str, Any]) -> Finding:
    """A run in which the disk was asked nothing is none."""
    count = sum(figures["requests"].values())
    return Finding("requests", count > 0, str(count) if count else
                   "0: nothing was asked of the disk; the run was on another one, or in memory")


EMPTY = 0.1  # of the reads, and of all requests


def empty(figures: dict[str, Any]) -> Finding:
    """An SSD that is asked for what was never written does not ask its flash. The pages are those of the
    requests in `modelled`. Few such reads beside many writes, as of who looks for a file system, do not
    count."""
    pages, of = figures["flash"]["empty_reads"], figures["read_pages"]
    asked, all_of_them = figures["modelled"]["read"], sum(figures["modelled"].values())
    share = pages / of if of else 0.0
    good = share * asked < EMPTY * max(all_of_them, 1)
    text = f"{pages} of {of} pages that were read" if pages else "0"
    return Finding("empty reads", good, text if good else text + " had never been written, so flash was not "
                   "asked: write them first, or --profile-option precondition=random")


FAILED = 0.1  # of all requests


def failed(figures: dict[str, Any]) -> Finding:
    """Of what the drive's faults failed nobody knows what it was to be. Few are what was asked for."""
    count, of = stats.failed_by_drive(figures), stats.requests_of(figures)
    good = count < FAILED * max(of, 1)
    text = f"{count} of {of} requests by the drive's faults" if count else "0"
    return Finding("failed", good, text if good else f"{text}, and programs may count them")


def findings(figures: dict[str, Any]) -> list[Finding]:
    """What went wrong, of figures as stats.as_dict() has them."""
    verdict = lateness.verdict(figures)
    return [
        Finding("times", verdict.good is not False, verdict.text),
        _state(figures),
        _none("no space", figures["nospc"], "requests failed with ENOSPC, which the program saw"),
        _none("errors", figures["errors"], "requests failed by the backing device"),
        _none("spilled", figures["unclassified"]["spilled"], "blocks always kept: a larger unclassified="),
        _none("unmodelled", figures["unmodelled"], "requests that the model knows nothing of"),
    ]


def of_the_drive(figures: dict[str, Any]) -> list[Finding]:
    """Why its times, however near to the model, are of something else than was asked for."""
    return [empty(figures), failed(figures)]


def of_run(figures: dict[str, Any]) -> list[Finding]:
    return [asked(figures), *findings(figures), *of_the_drive(figures)]


def valid(found: list[Finding]) -> bool:
    return all(finding.good for finding in found)


def of_group(found: group.Group) -> dict[str, Any]:
    """Of each disk of an array or a pool, in its whole life. A disk of them may have been asked nothing, but
    not all of them."""
    figures = [stats.as_dict(stats.fetch(name)) for name in found.disks]
    whole = asked(group.total(found.name, figures, found.pools))
    members = [{"name": one["name"], "valid": valid(found), "findings": [asdict(each) for each in found]}
               for one in figures for found in [[*findings(one), *of_the_drive(one)]]]
    good = whole.good and all(one["valid"] for one in members)
    return {"name": found.name, "kind": found.kind, "valid": good, "findings": [asdict(whole)],
            "members": members}


def _check_group(found: group.Group, as_json: bool) -> int:
    said = of_group(found)
    if as_json:
        print(json.dumps(said, indent=2))
    else:
        for one in (said, *said["members"]):
            for finding in one["findings"]:
                wrong = "" if finding["good"] else "WRONG: "
                print(f"  {one['name']:<14} {finding['what']:<11} {wrong}{finding['text']}")
        print(f"{found.name}: {'valid' if said['valid'] else 'NOT VALID'}, the {found.kind} of "
              f"{len(found.disks)} disks, in their whole lives")
    return 0 if said["valid"] else NOT_BELIEVABLE


def check(args: argparse.Namespace) -> int:
    need_root("check")
    found = group.find(args.name)
    if found.kind != "disk":
        return _check_group(found, args.json)
    figures = stats.as_dict(stats.fetch(args.name))
    left = None if args.all else baseline.mark(args.name, figures)
    looked = baseline.difference(figures, left[1]) if left else figures
    said = of_run(looked)
    if args.json:
        lines = [asdict(finding) for finding in said]
        print(json.dumps({"valid": valid(said), "findings": lines}, indent=2))
    else:
        for finding in said:
            print(f"  {finding.what:<11} {'' if finding.good else 'WRONG: '}{finding.text}")
        print(f"{args.name}: {'valid' if valid(said) else 'NOT VALID'}")
    return 0 if valid(said) else NOT_BELIEVABLE


def add_parsers(sub: Commands) -> None:
    parser = add(
        sub,
        "check",
        check,
        "tell whether a run on a fake disk was valid: lateness, room, errors; exit status 0, or 2 if not",
        f"  {DAVID} stats big --reset && fio job.fio && {DAVID} check big",
    )
    parser.add_argument("name", metavar="NAME", type=name_arg, help="a disk, an array, or a pool")
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")
    parser.add_argument("--all", action="store_true", help="of the disk's whole life, whatever was reset")
