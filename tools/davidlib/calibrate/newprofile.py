# SPDX-License-Identifier: GPL-2.0
"""david profile new: a profile from a data sheet. What the sheet lacks is of the drive's class.

It begins with the class's base. Values are then solved so that the model gives the sheet's figures back: one
figure tells one value, as with fio's results (knobs.py). Each is held against the model at the end.
"""

from __future__ import annotations

import argparse
import math
import re
from dataclasses import dataclass

from ..command import Commands
from ..drive import classes, profile, worth
from ..sizes import format_time, parse_size, size_text_arg
from ..util import DAVID, NOT_BELIEVABLE, UserError, say
from . import fitdisk, fitssd, fromfio
from .fiomodel import Model, is_ssd, solve, value
from .knobs import by_factor, nanoseconds
from .output import new_file
from .result import PROFILE_NAME, Draft, Line, profile_name
from .sheet import AGREES, FLASH, LINKS, Figure, Sheet, check

SHEET = "data sheet"
LIMIT = 10.0  # percent that a figure may be off
RATES = {"GB/s": 1e9, "MB/s": 1e6, "kB/s": 1e3}
TIMES = {"ms": 1e-3, "us": 1e-6, "s": 1.0}
OF_DISKS = ("rpm", "inner_rate", "seek", "write_seek", "track_seek", "full_seek", "cache")
OF_SSDS = ("plp", "flash", "write_state", "sync_iops", "read_latency", "write_latency")
WAYS = ("read", "write")
# Of flash in cells of one bit that is sold as fast (Z-NAND reads in 3 us and programs in 100 us), and of a
# controller of ten million commands a second.
FASTEST_READ, FASTEST_PROGRAM, FASTEST_COMMAND = 3000, 50_000, 100  # ns
LEAST_SPARE = 0.015  # of the capacity
TRACKS = 2  # that a write buffer has room for, at least


@dataclass
class Held:
    """A figure of the sheet, and the model's."""

    option: str
    wanted: float
    model: float
    unit: str

    @property
    def error(self) -> float:
        return 100 * (self.model / self.wanted - 1)

    def __str__(self) -> str:
        return f"{self.option:<28}{self.wanted:>14.6g}{self.model:>14.6g} {self.unit:<5}{self.error:>+8.1f} %"


def quantity(text: str, units: dict[str, float]) -> float:
    """An argparse type's work."""
    match = re.fullmatch(r"([\d.]+)\s*([A-Za-z/]+)", text.strip())
    if not match or match[2] not in units or match[1].count(".") > 1 or not float(match[1].rstrip(".") or 0):
        raise argparse.ArgumentTypeError(f"'{text}' is no figure in {', '.join(units)}")
    return float(match[1]) * units[match[2]]


def rate(text: str) -> float:
    return quantity(text, RATES)


def time(text: str) -> float:
    return quantity(text, TIMES)


def positive(text: str) -> float:
    """A number. 0 and nan would be taken for one that was not given."""
    found = float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else 0
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' is no number above 0, such as 7200")
    return found


def at_depth(text: str) -> tuple[int, float]:
    match = re.fullmatch(r"([\d.]+[kK]?)@(\d+)", text)
    count = float(match[1].rstrip("kK")) * (1000 if match[1][-1] in "kK" else 1) if match else 0
    depth = int(match[2]) if match else 0
    if not count or not 0 < depth <= 512:
        raise argparse.ArgumentTypeError(f"'{text}' is not N@DEPTH, such as 98000@32")
    return depth, count


def read_sheet(args: argparse.Namespace, base: Draft) -> Sheet:
    """Of the options; what is of no use to that class is refused."""
    ssd = is_ssd(base)
    for name in OF_DISKS if ssd else OF_SSDS:
        if getattr(args, name) is not None:
            raise UserError(f"--{name.replace('_', '-')} is of {'a disk' if ssd else 'an SSD'}, and --class "
                            f"{args.drive_class} is of {'SSDs' if ssd else 'disks'}")
    for way in WAYS:
        depths = [depth for depth, _ in getattr(args, f"{way}_iops")]
        if twice := [depth for depth in depths if depths.count(depth) > 1]:
            raise UserError(f"--{way}-iops: depth {twice[0]} is there twice; leave one out")
    protected = value(base, "power_loss_protection") == "yes" if args.plp is None else args.plp == "yes"
    state = args.write_state or ("steady" if protected else "fresh")
    seeks = {"average": args.seek, "write": args.write_seek, "track": args.track_seek, "full": args.full_seek}
    rates = {"read": args.read_rate, "write": args.write_rate, "inner": args.inner_rate}
    latency = {way: getattr(args, f"{way}_latency") for way in WAYS}
    turns = args.rpm or (0 if ssd else _turns(base))
    return Sheet(
        ssd, args.interface or "", turns, {name: found for name, found in rates.items() if found},
        {way: dict(sorted(getattr(args, f"{way}_iops"))) for way in WAYS},
        {name: found for name, found in latency.items() if found},
        {name: found for name, found in seeks.items() if found}, args.sync_iops or 0,
        ssd and state == "steady", ssd and bool(_sectors(value(base, "slc_cache"))))


def as_class(draft: Draft, drive_class: classes.DriveClass) -> Draft:
    """All its lines are assumed so far: each says of which class, and how far that one's drives are apart."""
    spread = classes.spread(drive_class.drives)
    new = Draft(draft.title)
    for line in draft.lines:
        far = f"; {spread[line.name]}" if line.name in spread else ""
        new.lines.append(Line(line.name, line.value, f"assumed (class {drive_class.name})",
                              f"as of {drive_class.base}{far}"))
    # What makes the base read faster what was written at random is its own, and of no class.
    if nanoseconds(value(new, "scattered_read_time") or "0ns"):
        new.set("scattered_read_time", "0ns", f"assumed (class {drive_class.name})", "as other reads")
    return new


def shaped(draft: Draft, outer: float, inner: float, how: str) -> Draft:
    """With so many times the sectors on the outermost track, and on the innermost, evenly in between."""
    zones = [line for line in draft.lines if line.name == "zone"]
    far = max(len(zones) - 1, 1)
    tracks = [max(round(int(line.value.split(",")[2]) * (outer + (inner - outer) * n / far)), 1)
              for n, line in enumerate(zones)]
    return fitdisk.retracked(draft, tracks, how)


def _fit_rates(model: Model, draft: Draft, figures: dict[str, Figure]) -> Draft:
    outer = figures.get("--read-rate") or figures.get("--write-rate")
    inner = figures.get("--inner-rate")
    if not outer:
        return draft
    if not inner:
        return by_factor(model, draft, outer.job, fitdisk.dense, 0.2, 5.0)[0]
    first = last = 1.0

    def of_outer(factor: float) -> float:
        return model.rate(shaped(draft, factor, last, ""), outer.job)

    def of_inner(factor: float) -> float:
        return model.rate(shaped(draft, first, factor, ""), inner.job)

    for _ in range(fromfio.ROUNDS):  # the inner end shows a little in the outer one
        first = solve(of_outer, outer.job.rate, 0.2, 5).factor
        last = solve(of_inner, inner.job.rate, 0.2, 5).factor
    return shaped(draft, first, last, f"{outer.job.said}, inner {inner.job.said.rpartition(': ')[2]}")


def curve(draft: Draft, factor: float, track: float, full: float, how: str) -> Draft:
    """Seeks of so many times what they take more than the shortest; that, and the longest, where known."""
    points = [(int(line.value.split(",")[0]), nanoseconds(line.value.split(",")[1]))
              for line in draft.lines if line.name == "seek"]
    short = track * 1e9 or points[0][1]
    most = (points[-1][1] - points[0][1]) * factor
    bend = (full * 1e9 - short) / most - 1 if full and most else 0.0
    new, least = Draft(draft.title), 0.0
    seeks = iter(points)
    for line in draft.lines:
        if line.name == "seek":
            distance, took = next(seeks)
            more = (took - points[0][1]) * factor * (1 + bend * distance / points[-1][0])
            least = max(least, short + more)  # a longer way never takes less
            least = min(least, fitdisk.from_rest(distance, points[0][0], short))
            new.add("seek", f"{distance}, {round(least)}ns", "fitted", how)
        else:
            new.lines.append(line)
    return new


def _fit_seeks(model: Model, draft: Draft, sheet: Sheet) -> Draft:
    seeks, wanted = sheet.seeks, sheet.seeks.get("average", 0)
    track, full = seeks.get("track", 0.0), seeks.get("full", 0.0)
    if not any(line.name == "seek" for line in draft.lines):
        raise UserError("the class's seeks are no table, and cannot be fitted")
    factor = 1.0
    if wanted:
        def mean(one: float) -> float:
            return model.mean_seek(curve(draft, one, track, full, ""))

        factor = solve(mean, wanted * 1e6, 0.1, 5).factor
    if wanted or track or full:
        said = ", ".join(f"{name} {format_time(round(seeks[name] * 1e9))}"
                         for name in ("average", "track", "full") if name in seeks)
        draft = curve(draft, factor, track, full, f"seeks, {said}")
    if "write" in seeks and wanted:
        draft.set("write_settle", f"{round((seeks['write'] - wanted) * 1e9)}ns", SHEET,
                  "what an average seek for a write takes more")
    return draft


def skewed(draft: Draft) -> Draft:
    """With skews that last as long as the switches do: with less each switch would lose a revolution."""
    first = next((line.value for line in draft.lines if line.name == "seek"), "")
    times = value(draft, "head_switch"), first.partition(",")[2]
    switches = [nanoseconds(time or "0ns") for time in times]
    turn = 60e9 / _turns(draft)
    new = Draft(draft.title)
    for line in draft.lines:
        words = [int(word) for word in line.value.split(",")] if line.name == "zone" else []
        for at, switch in zip((4, 5), switches, strict=True):
            if at < len(words):
                words[at] = max(words[at], math.ceil(switch / turn * words[2]) + 1) % words[2]
        same = not words or ",".join(map(str, words)) == line.value
        new.lines.append(line if same else Line(line.name, ",".join(map(str, words)), line.source, line.how))
    return new


def read_further(draft: Draft, base: Draft) -> Draft:
    """What is read ahead lasts as long as it did: on longer tracks it is more. The cache stays as large."""
    tracks = [int(next(line.value for line in one.lines if line.name == "zone").split(",")[2])
              for one in (draft, base)]
    if tracks[0] == tracks[1]:
        return draft
    new, factor = draft.copy(), tracks[0] / tracks[1]
    before = _sectors(value(draft, "segment_sectors"))
    for name in ("segment_sectors", "readahead_max", "readahead_stream"):
        if was := _sectors(value(draft, name)):
            new.set(name, f"{max(round(was * factor / 8), 1) * 8}sectors", "fitted", "by the tracks' length")
    segments = int(value(draft, "segments")) * before // max(_sectors(value(new, "segment_sectors")), 1)
    if before and max(segments, 1) != int(value(draft, "segments")):
        said = next(line for line in draft.lines if line.name == "segments")
        new.set("segments", max(segments, 1), said.source, said.how)
    return new


def room_for_tracks(draft: Draft) -> Draft:
    """With a write buffer for a track, and what comes meanwhile: with less a stream loses revolutions.

    Room in it comes back by the track. A fifth of a small cache is less than that on today's tracks.
    """
    least = TRACKS * int(next(line.value for line in draft.lines if line.name == "zone").split(",")[2])
    had, segment = (_sectors(value(draft, name)) for name in ("write_buffer", "segment_sectors"))
    if not had or had >= least or value(draft, "write_cache") != "back":
        return draft
    new = draft.copy()
    buffer = math.ceil(least / 8) * 8
    new.set("write_buffer", f"{buffer} sectors", "fitted", f"{TRACKS} of the outermost tracks, for a stream")
    taken = math.ceil((buffer - had) / max(segment, 1))
    new.set("segments", max(int(value(draft, "segments")) - taken, 1), "fitted", "the rest of the cache")
    return new


def fit_disk(model: Model, draft: Draft, sheet: Sheet, figures: dict[str, Figure]) -> Draft:
    base = draft
    draft = read_further(_fit_rates(model, skewed(_fit_seeks(model, draft, sheet)), figures), base)
    draft = room_for_tracks(draft)
    jobs = [figure.job for figure in figures.values() if figure.job.random]
    for knob in fitdisk.KNOBS:
        chosen = knob.choose(jobs)
        told = knob.words == "seek" and sheet.seeks.get("average")
        if chosen and not told:
            draft = knob.fit(model, draft, chosen)
    return draft


def spare(draft: Draft, factor: float, how: str) -> Draft:
    """So many times the spare flash: raw_capacity beyond the capacity."""
    new = draft.copy()
    sold, raw = (_sectors(value(draft, name)) for name in ("capacity", "raw_capacity"))
    more = max(raw - sold, sold // 20)
    new.set("raw_capacity", f"{sold + max(round(more * factor), sold // 100)} sectors", "fitted", how)
    return new


def _turns(draft: Draft) -> float:
    """A minute; of a sheet without a unit, of a profile with one."""
    return float(value(draft, "rpm").removesuffix("rpm"))


def _sectors(text: str) -> int:
    return int(re.sub(r"\D.*", "", text)) if text else 0


def fit_ssd(model: Model, draft: Draft, figures: dict[str, Figure], link: str) -> Draft:
    jobs = [figure.job for figure in figures.values() if not figure.options]
    worn = [figure for figure in figures.values() if figure.options]
    alone = [job for job in jobs if job.depth == 1 and not job.writes]
    if alone:  # what a read takes comes first: the dies that are needed follow from it
        draft = fitssd.fit_reads(model, draft, alone)
    for _ in range(fromfio.ROUNDS):
        for knob in fitssd.KNOBS:
            if chosen := knob.choose(jobs):
                draft = knob.fit(model, draft, chosen)
    wire = LINKS.get(link, 0)
    if wire and fitssd.bytes_a_second(value(draft, "link_rate")) > wire:
        draft.set("link_rate", f"{round(wire)}B/s", SHEET, f"{link}, its wire's rate")
    if rates := fitssd.KNOBS[0].choose(jobs):  # dies were found since
        draft = fitssd.KNOBS[0].fit(model, draft, rates)
    if worn:
        deep = max(worn, key=lambda figure: figure.job.depth)
        before = fitssd.with_time_to_spare(draft, "write_command_time", deep.job)

        def worn_rate(factor: float) -> float:
            return model.rate(spare(before, factor, ""), deep.job, *deep.options)

        found = solve(worn_rate, deep.job.rate, 0.1, 20)
        draft = spare(before, found.factor, f"{deep.job.said}, in steady state")
    return draft


def given(draft: Draft, args: argparse.Namespace, sheet: Sheet) -> Draft:
    """What a sheet says in the profile's own words."""
    new = draft.copy()
    if args.rpm:
        new.set("rpm", f"{args.rpm:g}", SHEET)
    if args.plp:
        new.set("power_loss_protection", args.plp, SHEET)
    if args.flash:
        new.set("page_types", FLASH[args.flash], SHEET, f"{FLASH[args.flash]} bits a cell")
    if args.interface and not sheet.ssd:
        for name in ("bus_read", "bus_write"):
            sector = f"{round(512e9 / LINKS[args.interface])}ns"
            new.set(name, sector, SHEET, f"{args.interface}, its wire's rate")
    if args.cache:
        sectors = parse_size(args.cache) // 512
        # A shingled drive that manages its bands gathers one while it writes another.
        bands = 2 * _sectors(value(new, "band")) if _sectors(value(new, "media_cache")) else 0
        buffer = max(sectors // 5 // 8 * 8, bands)
        segment = _sectors(value(new, "segment_sectors"))
        new.set("write_buffer", f"{buffer} sectors", SHEET,
                "two bands" if buffer == bands else "a fifth of the cache")
        if not segment or (sectors - buffer) // segment < 1:
            raise UserError(f"--cache {args.cache}: less than a segment of the class, {segment * 512} bytes")
        new.set("segments", (sectors - buffer) // segment, SHEET, "the rest of the cache")
    return new


def name_of(text: str, drive_class: classes.DriveClass) -> str:
    """With the class: all that a disk's table keeps. A name cut short might be another drive's."""
    name, room = profile_name(text), PROFILE_NAME - len(f".{drive_class.name}")
    if len(name) > room:
        raise UserError(f"NAME '{text}' is too long: a profile's name has at most {PROFILE_NAME} characters, "
                        f"and with '.{drive_class.name}' behind it {room} are left; give a shorter one")
    return f"{name}.{drive_class.name}"


def named(draft: Draft, before: Draft) -> Draft:
    """What was fitted so far was fitted to the sheet; but a time of 0 stays what it was."""
    new = Draft(draft.title)
    for line in draft.lines:
        if line.source != "fitted":
            new.lines.append(line)
        elif re.fullmatch(r"0\s*ns", line.value):
            new.lines.append(next((old for old in before.lines if old.name == line.name), line))
        else:
            new.lines.append(Line(line.name, line.value, SHEET, line.how))
    return new


def hold(model: Model, draft: Draft, sheet: Sheet, figures: dict[str, Figure]) -> list[Held]:
    """Each figure of the sheet beside the model's."""
    found = []
    for figure in figures.values():
        now = model.rate(draft, figure.job, *figure.options)
        scale, unit = (1.0, "/s") if figure.job.random else (figure.job.sectors * 512 / 1e6, "MB/s")
        if figure.option.endswith("-latency"):
            found.append(Held(figure.option, 1e6 / figure.job.rate, 1e6 / now, "us"))
        else:
            found.append(Held(figure.option, figure.job.rate * scale, now * scale, unit))
    seeks = sheet.seeks
    if "average" in seeks:
        found.append(Held("--seek", seeks["average"] * 1e3, model.mean_seek(draft) / 1e3, "ms"))
    points = [nanoseconds(line.value.split(",")[1]) / 1e6 for line in draft.lines if line.name == "seek"]
    for name, at in (("track", 0), ("full", -1)):
        if name in seeks:
            found.append(Held(f"--{name}-seek", seeks[name] * 1e3, points[at], "ms"))
    if "write" in seeks and "average" in seeks:
        settle = nanoseconds(value(draft, "write_settle")) / 1e6
        found.append(Held("--write-seek", seeks["write"] * 1e3, model.mean_seek(draft) / 1e3 + settle, "ms"))
    return found


def _table(found: list[Held]) -> list[str]:
    return [f"{'of the data sheet':<28}{'sheet':>14}{'model':>14} {'':<5}{'error':>8}", *map(str, found)]


def _doubts(found: list[Held]) -> list[str]:
    return [f"{one.option}: the model comes to {one.model:.4g} {one.unit} where the sheet has "
            f"{one.wanted:.4g}, {one.error:+.0f} %, and {LIMIT:g} % are allowed"
            for one in found if abs(one.error) > LIMIT]


def beyond(draft: Draft, link: str) -> list[str]:
    """Values that no drive has. The figures of the sheet may come back from them all the same."""
    if not is_ssd(draft):
        return []
    said = []
    wire = LINKS.get(link, 0)
    rate = value(draft, "link_rate")
    if wire and fitssd.bytes_a_second(rate) > wire * (1 + AGREES):
        said.append(f"link_rate {rate}: {link} carries {wire / 1e6:g} MB/s")
    for name, least, what in (("read_time", FASTEST_READ, "flash reads a page"),
                              ("program_time", FASTEST_PROGRAM, "flash programs a page"),
                              ("command_time", FASTEST_COMMAND, "controller takes a command")):
        if (found := nanoseconds(value(draft, name))) < least:
            said.append(f"{name} {found} ns: no {what} in less than {least} ns")
    sold, raw = (_sectors(value(draft, name)) for name in ("capacity", "raw_capacity"))
    if raw < sold * (1 + LEAST_SPARE):
        said.append(f"raw_capacity: {100 * (raw / sold - 1):.1f} % of spare flash, and no drive has less "
                    f"than {100 * LEAST_SPARE:g} %")
    return said


@dataclass
class Made:
    """A profile of a sheet, and what there is to say of it."""

    draft: Draft
    held: list[Held]
    said: list[str]
    wrong: list[str]


def make(args: argparse.Namespace, drive_class: classes.DriveClass) -> Made:
    """UserError: a sheet that no drive can have, or of which nothing can be made."""
    base = fromfio.base(drive_class.base, args.capacity)
    sheet = read_sheet(args, base)
    check(sheet)
    figures = {figure.option: figure for figure in sheet.figures()}
    if not figures and not sheet.seeks:
        raise UserError("a profile of nothing: give a figure of the sheet, such as --read-rate or --seek; "
                        f"'{DAVID} profile new --help' lists them")
    draft = given(as_class(base, drive_class), args, sheet)
    if args.capacity:
        draft.set("capacity", value(draft, "capacity"), SHEET, args.capacity)
    say("solving for the data sheet's figures, a minute at most")
    with Model() as model:
        fitted = fit_ssd(model, draft, figures, sheet.link) if sheet.ssd else \
            fit_disk(model, draft, sheet, figures)
        draft = named(fitted, draft)
        draft.set("name", name_of(args.name, drive_class), "reported", "with its class")
        said, wrong = [], []
        if args.from_:
            jobs = fromfio.results(args.from_, None)
            draft, used = fromfio.fit(draft, jobs)
            beside = [fromfio.Found(job, job in used, model.rate(draft, job)) for job in jobs]
            said += [fromfio.table(beside), fromfio.summary(beside)]
            wrong += [f"{row.job.kind}: {row.error:+.0f} % off, though it was fitted" for row in beside
                      if row.fitted and abs(row.error) > fromfio.FITTED_LIMIT]
        held = hold(model, draft, sheet, figures)
    wrong += [*_doubts(held), *beyond(draft, sheet.link)]
    return Made(draft, held, said, wrong)


def run(args: argparse.Namespace) -> int:
    drive_class = classes.find(args.drive_class)
    name_of(args.name, drive_class)  # before a minute's work
    with new_file(args.out, args.force) as out:
        made = make(args, drive_class)
        lines = made.draft.lines
        assumed = sum(line.source.startswith("assumed") for line in lines)
        said = [*_table(made.held), *made.said, f"{assumed} of {len(lines)} lines are assumed, by the class",
                *(f"NOT TO BE BELIEVED: {line}" for line in made.wrong)]
        title = f"{args.name}, from its data sheet by david profile new.\n{classes.MARK}{drive_class.name}"
        made.draft.title = "\n".join([title, *said])
        out.write_text(made.draft.text())
    print("\n".join(said))
    print(worth.as_text(worth.of_text(made.draft.text())))
    return NOT_BELIEVABLE if made.wrong else 0


def add_parser(commands: Commands) -> None:
    one = commands.add_parser(
        "new", help="make a profile from a drive's data sheet, and its class",
        description="Make a profile from a data sheet. What the sheet does not say is of the drive's class "
        f"('{DAVID} profile class'). Each line of the profile says whether it is of the data sheet, of its "
        "class or fitted to fio's results. Each figure of the sheet is held against the model: the exit "
        f"status is 2 if one is more than {LIMIT:g} % off. A sheet that no drive can have is refused.",
        epilog=f"example:\n  {DAVID} profile new mine --class sata-tlc -o mine.profile --capacity 960GB \\\n"
        "    --interface sata-6 --read-rate 550MB/s --write-rate 520MB/s --read-iops 98000@32 "
        "--write-iops 25000@32",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    one.add_argument("name", metavar="NAME", help="the drive's name; the profile's is NAME.CLASS")
    one.add_argument("--class", dest="drive_class", metavar="CLASS", required=True, help="the drive's class")
    one.add_argument("-o", dest="out", metavar="OUT", required=True, help="the profile to be written")
    one.add_argument("--force", action="store_true", help="replace OUT if it exists")
    one.add_argument("--capacity", type=size_text_arg, metavar="SIZE",
                     help="such as 960GB (the class's base's)")
    one.add_argument("--interface", choices=list(LINKS), help="no figure may need more than it carries")
    one.add_argument("--read-rate", type=rate, metavar="RATE", help="in order, of a disk outermost: 550MB/s")
    one.add_argument("--write-rate", type=rate, metavar="RATE", help="the same of writes")
    one.add_argument("--read-iops", type=at_depth, metavar="N@DEPTH", action="append", default=[],
                     help="random reads of 4 KiB a second: 98000@32; repeatable")
    one.add_argument("--write-iops", type=at_depth, metavar="N@DEPTH", action="append", default=[],
                     help="the same of writes")
    disk = one.add_argument_group("of a disk")
    disk.add_argument("--rpm", type=positive, metavar="N", help="revolutions a minute")
    disk.add_argument("--inner-rate", type=rate, metavar="RATE", help="reads in order, innermost")
    for name, words in (("seek", "average seek, of reads"), ("write-seek", "of writes"),
                        ("track-seek", "to the next track"), ("full-seek", "over all tracks")):
        disk.add_argument(f"--{name}", type=time, metavar="TIME", help=f"{words}: 8.5ms")
    disk.add_argument("--cache", type=size_text_arg, metavar="SIZE", help="the buffer: 64MiB")
    flash = one.add_argument_group("of an SSD")
    for way in WAYS:
        flash.add_argument(f"--{way}-latency", type=time, metavar="TIME",
                           help=f"of a {way} of 4 KiB alone: 90us")
    flash.add_argument("--write-state", choices=("fresh", "steady"),
                       help="of --write-iops (steady with power-loss protection, else fresh)")
    flash.add_argument("--sync-iops", type=positive, metavar="N",
                       help="writes of 4 KiB a second with a flush each")
    flash.add_argument("--plp", choices=("yes", "no"), help="power-loss protection")
    flash.add_argument("--flash", choices=list(FLASH), help="bits a cell")
    one.add_argument("--from", dest="from_", metavar="FILE.json", nargs="+",
                     help="fio's results (--output-format=json) of the drive, fitted on top as by calibrate")
    one.set_defaults(func=run)


def add_parsers(sub: Commands) -> None:
    """`david profile`: what needs no fitting, and this."""
    add_parser(profile.add_parsers(sub))
