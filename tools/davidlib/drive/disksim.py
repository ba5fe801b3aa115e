# SPDX-License-Identifier: GPL-2.0
"""DiskSim 4's own description files (.parv, .diskspecs, .model, .seek) as one flat file of parameters.

The language is that of its manual (CMU-PDL-08-101) and of the files in its valid/: blocks of `name = value`,
lists in brackets, `source FILE` for a text of its own, `instantiate` and `topology`. What a profile cannot
hold is refused or named. The flat form is described in docs/REFERENCE.md; david-sim makes the profile of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..util import UserError, say

TOKEN = re.compile(r"[{}\[\],=]|(?:(?!\.\.)[^\s{}\[\],=#])+|\.\.")
DEEPEST = 16  # files that name each other, and blocks in blocks
MOST_SEEKS = 4000
MOST_NAMES = 1 << 12
LARGEST = 1 << 50  # of all numbers


@dataclass(frozen=True)
class Place:
    file: Path
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def wrong(place: Place, text: str) -> UserError:
    return UserError(f"{place}: {text}")


@dataclass
class Value:
    """A word or several, a list, or a block."""

    at: Place
    words: str = ""
    items: list[Value] | None = None
    block: Block | None = None


@dataclass
class Block:
    at: Place
    kind: str  # such as disksim_disk
    name: str
    fields: dict[str, Value] = field(default_factory=dict)  # names in lower case

    def get(self, name: str) -> Value | None:
        return self.fields.get(name.lower())


@dataclass
class Description:
    """All that stands at the top of a file and of those that it names."""

    blocks: list[Block] = field(default_factory=list)
    instances: dict[str, list[str]] = field(default_factory=dict)  # by the block's name
    parents: dict[str, list[str]] = field(default_factory=dict)  # of a component in the topology
    has_topology: bool = False


class Parser:
    def __init__(self, path: Path, into: Description, deep: int = 0) -> None:
        self.path, self.into, self.deep = path, into, deep
        if deep > DEEPEST:
            raise UserError(f"{path}: files that name each other, more than {DEEPEST} deep")
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise UserError(f"{path}: it is no text") from None
        self.tokens = [(word, number) for number, line in enumerate(text.splitlines(), 1)
                       for word in TOKEN.findall(line.partition("#")[0])]
        self.next = 0

    def at(self) -> Place:
        last = self.tokens[-1][1] if self.tokens else 1
        return Place(self.path, self.tokens[self.next][1] if self.next < len(self.tokens) else last)

    def peek(self) -> str:
        return self.tokens[self.next][0] if self.next < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        found, place = self.peek(), self.at()
        if not found:
            raise wrong(place, f"the file ends where {wanted or 'more'} has to follow")
        if wanted and found != wanted:
            raise wrong(place, f"'{found}' where '{wanted}' has to stand")
        self.next += 1
        return found

    def until(self, ends: str) -> str:
        words = []
        while self.peek() and self.peek() not in ends:
            words.append(self.take())
        return " ".join(words)

    def other(self, name: str) -> Parser:
        return Parser(self.path.parent / name, self.into, self.deep + 1)

    def top(self) -> None:
        while self.peek():
            first = self.peek()
            if first == "source":
                self.take()
                self.other(self.take()).top()
            elif first == "instantiate":
                self._instantiate()
            elif first == "topology":
                self.take()
                self.into.has_topology = True
                self._component([])
            else:
                self.into.blocks.append(self.block())

    def block(self, depth: int = 0) -> Block:
        place = self.at()
        words = self.until("{}[],=")
        kind, _, name = words.partition(" ")
        if not kind or self.peek() != "{":
            raise wrong(place, f"'{words or self.peek()}' begins no block of DiskSim's")
        self.take("{")
        found = Block(place, kind, name)
        while self.peek() != "}":
            at = self.at()
            key = self.until("{}[],=").lower()
            if key in found.fields:
                raise wrong(at, f"'{key}' is there twice")
            self.take("=")
            found.fields[key] = self.value(depth + 1)
            if self.peek() == ",":
                self.take()
            elif not self.peek():
                raise wrong(self.at(), f"behind '{key}' the file ends")
            elif self.peek() != "}":
                raise wrong(self.at(), f"behind '{key}' there has to be a comma or '}}', not '{self.peek()}'")
        self.take("}")
        return found

    def value(self, depth: int) -> Value:
        place = self.at()
        if depth > DEEPEST:
            raise wrong(place, f"lists and blocks in each other, more than {DEEPEST} deep")
        if self.peek() == "[":
            return Value(place, items=self._list(depth))
        if self.peek() == "source":
            self.take()
            return self.other(self.take()).sourced(depth)
        start = self.next
        words = self.until("{}[],=")
        if self.peek() == "{":
            self.next = start
            return Value(place, block=self.block(depth))
        if not words:
            raise wrong(place, f"'{self.peek()}' is no value")
        return Value(place, words)

    def sourced(self, depth: int) -> Value:
        """A file that is one value."""
        found = self.value(depth)
        if self.peek():
            raise wrong(self.at(), f"'{self.peek()}' behind the value that this file is")
        return found

    def _list(self, depth: int) -> list[Value]:
        self.take("[")
        found = []
        while self.peek() != "]":
            if self.peek() == ",":
                self.take()
            else:
                found.append(self.value(depth + 1))
        self.take("]")
        return found

    def _names(self) -> list[str]:
        """[ disk0 .. disk3, other ]"""
        self.take("[")
        found: list[str] = []
        while self.peek() != "]":
            word = self.take()
            if word == "..":
                last = self.take()
                stem, first = re.sub(r"\d+$", "", found[-1] if found else ""), re.search(r"\d+$", found[-1])
                end = re.search(r"\d+$", last)
                if not first or not end or int(end[0]) - int(first[0]) > MOST_NAMES:
                    raise wrong(self.at(), f"'{last}' ends no row of names")
                found += [f"{stem}{number}" for number in range(int(first[0]) + 1, int(end[0]) + 1)]
            elif word != ",":
                found.append(word)
        self.take("]")
        return found

    def _instantiate(self) -> None:
        self.take()
        names = self._names()
        self.take("as")
        self.into.instances.setdefault(self.take(), []).extend(names)

    def _component(self, above: list[str]) -> None:
        """KIND NAME [ components ]"""
        words = self.until("{}[],=").split()
        if len(words) != 2 or len(above) > DEEPEST:
            raise wrong(self.at(), f"'{' '.join(words)}' is no component of a topology")
        self.into.parents[words[1]] = above
        self.take("[")
        while self.peek() != "]":
            if self.peek() == ",":
                self.take()
            else:
                self._component([*above, words[1]])
        self.take("]")


def is_one(path: Path) -> bool:
    """Is it a description of DiskSim's own? A flat file has a table of zones."""
    try:
        with path.open("rb") as file:
            text = file.read(1 << 20)
    except OSError:
        return False
    return bool(re.search(rb"^\s*(?:disksim_|dm_)\w+\s[^=\n]*\{", text, re.M)) and b"\n[zones]" not in text


# The flat form's name of each of the drive's parameters.
WHOLE = {
    "Hold bus entire read xfer": "hold_bus_read", "Hold bus entire write xfer": "hold_bus_write",
    "Allow almost read hits": "almost_read_hits", "Allow sneaky full read hits": "sneaky_full_hits",
    "Allow sneaky partial read hits": "sneaky_partial_hits",
    "Allow sneaky intermediate read hits": "sneaky_intermediate_hits",
    "Allow read hits on write data": "read_hits_on_write_data",
    "Allow write prebuffering": "write_prebuffering", "Preseeking level": "preseeking_level",
    "Never disconnect": "never_disconnect", "Number of buffer segments": "buffer_segments",
    "Maximum number of write segments": "max_write_segments", "Segment size (in blks)": "segment_blocks",
    "Use separate write segment": "separate_write_segment", "Low (write) water mark": "write_water_mark",
    "High (read) water mark": "read_water_mark", "Set watermark by reqsize": "water_mark_by_request",
    "Enable caching in buffer": "enable_cache", "Buffer continuous read": "readahead_kind",
    "Minimum read-ahead (blks)": "readahead_min_blocks", "Maximum read-ahead (blks)": "readahead_max_blocks",
    "Read-ahead over requested": "readahead_over_requested",
    "Read-ahead on idle hit": "readahead_on_idle_hit", "Read any free blocks": "read_any_free_blocks",
    "Fast write level": "fast_write_level", "Immediate buffer read": "immediate_buffer_read",
    "Immediate buffer write": "immediate_buffer_write", "Combine seq writes": "combine_seq_writes",
    "Stop prefetch in sector": "stop_prefetch_in_sector",
    "Disconnect write if seek": "disconnect_write_if_seek",
    "Write hit stop prefetch": "write_hit_stop_prefetch",
    "Read directly to buffer": "read_directly_to_buffer",
    "Immed transfer partial hit": "immediate_transfer_partial_hit",
    "Extra write disconnect": "extra_write_disconnect",
}  # fmt: skip
# In ms, and multiplied by "Time scale for overheads".
OVERHEADS = {
    "Per-request overhead time": "ov_per_request",
    **{f"{kind} over. after {before}": f"ov_{kind.lower().replace(' ', '_')}_after_{before}"
       for kind in ("Read hit", "Read miss", "Write hit", "Write miss") for before in ("read", "write")},
    "Read completion overhead": "ov_read_completion", "Write completion overhead": "ov_write_completion",
    "Data preparation overhead": "ov_data_prep", "First reselect overhead": "ov_first_reselect",
    "Other reselect overhead": "ov_other_reselect",
    "Read disconnect afterread": "ov_read_disconnect_after_read",
    "Read disconnect afterwrite": "ov_read_disconnect_after_write",
    "Write disconnect overhead": "ov_write_disconnect", "Extradisc command overhead": "xd_command",
    "Extradisc disconnect overhead": "xd_disconnect", "Extradisc inter-disconnect delay": "xd_inter",
    "Extradisc 2nd disconnect overhead": "xd_second", "Extradisc seek delta": "xd_seek_delta",
    "Minimum seek delay": "min_seek_delay",
}  # fmt: skip
# These say nothing of the drive's times here.
SILENT = {"print stats", "avg sectors per cylinder", "calc sector by sector", "model", "scheduler",
          "time scale for overheads", "bulk sector transfer time", "max queue length", "maximum queue length",
          "bus transaction latency"}  # fmt: skip
WHY_NOT = {
    "dm_layout_g2": ": a file beside it has the place of each run of blocks, and a profile has zones "
                    "of whole cylinders",
    "dm_layout_g4": ": its blocks run along one surface for many cylinders, and a profile has zones of whole "
                    "cylinders",
}  # fmt: skip
ZONE = {
    "first": "First cylinder number", "last": "Last cylinder number", "track": "Blocks per track",
    "offset": "Offset of first block", "empty": "Empty space at zone front",
    "track_skew": "Skew for track switch", "cylinder_skew": "Skew for cylinder switch",
    "spares": "Number of spares",
}  # fmt: skip


def _number(value: Value | None, name: str, at: Place) -> float:
    if value is None:
        raise wrong(at, f"there is no '{name}'")
    try:
        found = float(value.words)
        if abs(found) <= LARGEST:
            return found
        raise ValueError(value.words)
    except ValueError:
        raise wrong(value.at, f"{name}: '{value.words or 'a list or block'}' is no number") from None


def _told(block: Block, name: str) -> float:
    """A number that has to be there."""
    return _number(block.get(name), name, block.at)


def _block(value: Value | None, kind: str, at: Place, why: str = "") -> Block:
    """The block of that kind; WHY a block of another kind cannot be taken."""
    if value is None or value.block is None:
        raise wrong(value.at if value else at, f"a block {kind} has to be there")
    if value.block.kind != kind:
        raise wrong(value.block.at, f"{value.block.kind} cannot be modelled{why}; {kind} is taken")
    return value.block


@dataclass
class Flat:
    """Lines of the flat form, each with its origin."""

    lines: list[str] = field(default_factory=list)
    origins: list[Place | None] = field(default_factory=list)

    def add(self, line: str, at: Place | None = None) -> None:
        self.lines.append(line)
        self.origins.append(at)

    def text(self) -> str:
        return "\n".join([*self.lines, ""])


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else f"{number:.6f}"


def _whole_sectors(value: Value | None, name: str, zone: Block, scale: float) -> int:
    found = _number(value, name, zone.at) * scale
    if abs(found - round(found)) > 1e-6:
        say(f"{value.at if value else zone.at}: {name} {found:g} sectors is taken as {round(found)}")
    return round(found)


def _blocks_of(sparing: int, tracks: int, cylinders: int, zone: dict[str, int], slips: int, per: int) -> int:
    """Of a zone, as DiskSim counts them by its sparing scheme."""
    spares, track = zone["spares"], zone["track"]
    taken = {
        0: 0, 1: spares * track, 2: spares * cylinders, 3: spares * tracks, 4: spares * cylinders + slips,
        5: spares * cylinders, 6: spares * cylinders + slips, 7: slips, 8: spares * (cylinders // per),
        9: spares, 10: spares + slips,
    }  # fmt: skip
    return tracks * track - zone["empty"] - taken.get(sparing, 0)


def _layout(layout: Block, model: Block, flat: Flat) -> None:
    heads = int(_told(model, "Number of data surfaces"))
    sparing_at = layout.get("Sparing scheme used")
    sparing = int(_number(sparing_at, "Sparing scheme used", layout.at))
    per = int(_told(layout, "Rangesize for sparing"))
    mapping = layout.get("LBN-to-PBN mapping scheme")
    flat.add(f"lbn_mapping = {int(_number(mapping, 'LBN-to-PBN mapping scheme', layout.at))}",
             mapping.at if mapping else None)
    flat.add(f"sparing_scheme = {sparing}", sparing_at.at if sparing_at else None)
    flat.add(f"sparing_range_cyls = {max(per, 1)}", layout.at)
    units = layout.get("Skew units")
    if units and units.words not in ("sectors", "revolutions"):
        raise wrong(units.at, f"Skew units '{units.words}' are neither sectors nor revolutions")
    zones = layout.get("Zones")
    if zones is None or not zones.items:
        raise wrong(zones.at if zones else layout.at, "there are no zones")
    rows = [_zone(_block(item, "dm_layout_g1_zone", item.at), heads, sparing, max(per, 1), units)
            for item in zones.items]
    flat.add("[zones]")
    first = 0
    for number, (at, zone, slips, _) in enumerate(rows):
        words = [number, zone["first"], zone["last"], zone["track"], zone["offset"], zone["empty"],
                 zone["track_skew"], zone["cylinder_skew"], zone["spares"], len(slips), first, zone["blocks"]]
        flat.add(" ".join(map(str, words)), at)
        first += zone["blocks"]
    flat.add("[slips]")
    for number, (at, _, slips, _) in enumerate(rows):
        for slip in slips:
            flat.add(f"{number} {slip}", at)
    flat.add("[remaps]")
    for number, (at, _, _, defects) in enumerate(rows):
        for place, to in zip(defects[::2], defects[1::2], strict=True):
            flat.add(f"{number} {place} {to}", at)


def _integers(zone: Block, name: str) -> list[int]:
    value = zone.get(name)
    return [int(_number(item, name, zone.at)) for item in (value.items or [])] if value else []


def _zone(zone: Block, heads: int, sparing: int, per: int, units: Value | None) -> tuple[
        Place, dict[str, int], list[int], list[int]]:
    own = zone.get("Skew units") or units
    track = int(_number(zone.get(ZONE["track"]), ZONE["track"], zone.at))
    turned = {"offset", "track_skew", "cylinder_skew"} if own and own.words == "revolutions" else set()
    found = {key: _whole_sectors(zone.get(name), name, zone, track if key in turned else 1)
             for key, name in ZONE.items()}
    slips, defects = _integers(zone, "slips"), _integers(zone, "defects")
    if len(defects) % 2:
        raise wrong(zone.at, "defects are pairs of places, and here is an odd number of them")
    cylinders = found["last"] - found["first"] + 1
    if cylinders < 1 or track < 1:
        first, last = found["first"], found["last"]
        raise wrong(zone.at, f"a zone of cylinders {first} to {last}, {track} blocks a track")
    found["blocks"] = _blocks_of(sparing, cylinders * heads, cylinders, found, len(slips), per)
    return zone.at, found, slips, defects


def _seek_file(path: Path) -> Iterator[tuple[int, float, Place]]:
    """A line "Seek distances measured: N", and N lines "cylinders, ms"."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {getattr(error, 'strerror', '') or 'it is no text'}") from None
    told = re.fullmatch(r"\s*Seek distances measured\s*:\s*(\d+)\s*", lines[0] if lines else "")
    if not told:
        raise wrong(Place(path, 1), "a seek curve begins with 'Seek distances measured: N'")
    count = 0
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        # Behind the time a standard deviation may stand.
        row = re.fullmatch(r"\s*(\d+)\s*,\s*([\d.eE+-]+)\s*(?:,\s*[\d.eE+-]+\s*)?", line)
        if not row:
            raise wrong(Place(path, number), f"'{line.strip()[:40]}' is not of the form cylinders, ms")
        count += 1
        place = Place(path, number)
        distance = _number(Value(place, row[1]), "cylinders", place)
        yield int(distance), _number(Value(place, row[2]), "ms", place), place
    if count != int(told[1]):
        raise wrong(Place(path, 1), f"{told[1]} distances are announced, and {count} are there")


def _hpl(mechanics: Block, cylinders: int, first: list[float]) -> Iterator[tuple[int, float, Place]]:
    value = mechanics.get("HPL seek equation values")
    if value is None or value.items is None or len(value.items) != 6:
        raise wrong(value.at if value else mechanics.at, "six 'HPL seek equation values' have to be there")
    limit, short, root, far, each, single = (_number(item, "HPL seek equation values", value.at)
                                             for item in value.items)
    if single != -1 and not first:
        first = [_told(mechanics, "Single cylinder seek time")]
    turn = min(int(limit), cylinders - 1)
    step = max(1, turn // MOST_SEEKS + 1)
    for distance in sorted({*range(1, len(first) + 1), *range(1, turn + 1, step), turn, cylinders - 1}):
        if distance < 1 or distance >= cylinders:
            continue
        if distance <= len(first):
            time = first[distance - 1]
        else:
            time = short + root * distance**0.5 if distance < limit else far + each * distance
        yield distance, time, value.at


def _three_points(mechanics: Block, cylinders: int, kind: Value) -> Iterator[tuple[int, float, Place]]:
    """
    As the manual has it: through the times of one cylinder, of a third of all and of all go two lines, or
    the curve of Lee and Katz (1993), a * sqrt(d - 1) + b * (d - 1) + c. What DiskSim 4's program computes of
    the same words is neither: it has lost the conversion of the three numbers.
    """
    one, mean, full = (_told(mechanics, name) for name in
                       ("Single cylinder seek time", "Average seek time", "Full strobe seek time"))
    if not 0 < one <= mean <= full:
        raise wrong(kind.at, f"Seek type '{kind.words}' needs three times that rise: one cylinder {one:g} "
                             f"ms, average {mean:g}, full strobe {full:g}")
    say(f"{kind.at}: Seek type '{kind.words}' is taken as DiskSim's manual has it; the program of DiskSim 4 "
        "computes other times")
    last, third = cylinders - 1, cylinders // 3
    if kind.words == "linear":
        yield from ((far, time, kind.at) for far, time in ((1, one), (third, mean), (last, full)) if 0 < far)
        return
    root = (-10 * one + 15 * mean - 5 * full) / (3 * cylinders**0.5)
    each = (7 * one - 15 * mean + 8 * full) / (3 * cylinders)
    if root < 0 or each < 0:
        raise wrong(kind.at, "Seek type 'curve': no such curve goes through these three times; "
                             "'linear' takes them")
    # Close together where the root bends, each a fiftieth further on.
    far, distances = 1, {last}
    while far < last:
        distances.add(far)
        far = max(far + 1, far * 51 // 50)
    for far in sorted(distances):
        yield far, root * (far - 1)**0.5 + each * (far - 1) + one, kind.at


def _seeks(mechanics: Block, cylinders: int, directory: Path) -> Iterator[tuple[int, float, Place]]:
    kind = mechanics.get("Seek type")
    at = kind.at if kind else mechanics.at
    name = kind.words if kind else "none"
    if name == "extracted":
        curve = mechanics.get("Full seek curve")
        if curve is None:
            raise wrong(at, "there is no 'Full seek curve'")
        return _seek_file(directory / curve.words)
    if name == "hplplus10":
        ten = mechanics.get("First ten seek times")
        if ten is None or ten.items is None or len(ten.items) != 10:
            raise wrong(ten.at if ten else at, "ten 'First ten seek times' have to be there")
        return _hpl(mechanics, cylinders, [_number(item, "First ten seek times", at) for item in ten.items])
    if name == "hpl":
        return _hpl(mechanics, cylinders, [])
    if name == "constant":
        time = _number(mechanics.get("Constant seek time"), "Constant seek time", at)
        return iter([(1, time, at), (max(cylinders - 1, 2), time, at)])
    if kind and name in ("linear", "curve"):
        return _three_points(mechanics, cylinders, kind)
    raise wrong(at, f"Seek type '{name}' is none of DiskSim's: extracted, hpl, hplplus10, linear, curve, "
                    "constant")


def _mechanics(model: Block, cylinders: int, flat: Flat) -> Iterator[tuple[int, float, Place]]:
    mechanics = _block(model.get("Mechanical Model"), "dm_mech_g1", model.at)
    access = mechanics.get("Access time type")
    if access and access.words != "trackSwitchPlusRotation":
        raise wrong(access.at, f"Access time type '{access.words}' cannot be modelled: only arms and "
                               "platters are")
    for name, key in (("Rotation speed (in rpms)", "rpm"), ("Head switch time", "head_switch_ms"),
                      ("Add. write settling delay", "write_settle_ms")):
        value = mechanics.get(name)
        flat.add(f"{key} = {_plain(_number(value, name, mechanics.at))}", value.at if value else None)
    error = mechanics.get("Percent error in rpms")
    if error and _number(error, "Percent error in rpms", error.at):
        say(f"{error.at}: the model's motor has its speed exactly: 'Percent error in rpms' is not used")
    return _seeks(mechanics, cylinders, mechanics.at.file.parent)


def _buses(description: Description, disk: Block) -> list[Block]:
    """The buses and controllers above the disk, which its blocks cross."""
    names = description.instances.get(disk.name, [])
    above = [description.parents[name] for name in names if name in description.parents]
    kinds = {instance: name for name, some in description.instances.items() for instance in some}
    wanted = {kinds.get(instance, instance) for instance in (above[0] if above else [])}
    return [block for block in description.blocks if block.name in wanted]


def _bus_times(description: Description, disk: Block | None, flat: Flat) -> None:
    """The slowest of what a block crosses."""
    above = _buses(description, disk) if disk else []
    bulk = [block for block in (disk, *above) if block and block.get("Bulk sector transfer time")]
    for way in ("Read", "Write"):
        name = f"{way} block transfer time"
        times = [_number(block.get(name), name, block.at) for block in above if block.get(name)]
        for block in bulk:
            scale = block.get("Scale for delays")
            time = _told(block, "Bulk sector transfer time")
            times.append(time * (_number(scale, "Scale for delays", block.at) if scale else 1))
        flat.add(f"bus_{way.lower()}_ms_per_block = {max(times, default=0):.6f}")
    if not above:
        say("the file does not say what the disk is connected to: of a bus nothing is known")


def _drive(disk: Block, flat: Flat) -> None:
    scaled = disk.get("Time scale for overheads")
    scale = _number(scaled, "Time scale for overheads", disk.at) if scaled else 1.0
    known = {name.lower(): key for name, key in WHOLE.items()}
    times = {name.lower(): key for name, key in OVERHEADS.items()}
    for name, value in disk.fields.items():
        if name in known:
            flat.add(f"{known[name]} = {_plain(_number(value, name, disk.at))}", value.at)
        elif name in times:
            flat.add(f"{times[name]} = {_number(value, name, disk.at) * scale:.6f}", value.at)
        elif name not in SILENT:
            say(f"{value.at}: '{name}' is not known and not used")
    queue = disk.get("Max queue length")
    if queue and _number(queue, "Max queue length", queue.at) > 1:
        say(f"{queue.at}: 'Max queue length' and 'Scheduler' are not used: the profile's drive has one "
            "command at a time; ncq_depth changes that")


def _chosen(description: Description, path: Path) -> Block | None:
    """The one disk that is described; None: a mechanical model alone is."""
    disks = [block for block in description.blocks if block.kind == "disksim_disk"]
    used = [block for block in disks if block.name in description.instances]
    disks = used or disks
    if len(disks) > 1:
        names = ", ".join(block.name for block in disks)
        raise UserError(f"{path}: several disks: {names}; import the .diskspecs of one of them")
    if disks:
        return disks[0]
    if any(block.kind == "dm_disk" for block in description.blocks):
        return None
    kinds = sorted({block.kind for block in description.blocks})
    raise UserError(f"{path}: no disksim_disk and no dm_disk in it, but {', '.join(kinds) or 'nothing'}: "
                    "only disks can be imported")


def flatten(path: Path) -> Flat:
    """UserError, with file and line: it cannot be represented, or is no such description."""
    description = Description()
    Parser(path, description).top()
    disk = _chosen(description, path)
    if disk:
        model = _block(disk.get("Model"), "dm_disk", disk.at)
    else:
        model = next(block for block in description.blocks if block.kind == "dm_disk")
        say(f"{path}: a mechanical model alone: the profile has neither a cache nor overheads")
    flat = Flat()
    name = (disk or model).name.removesuffix(".model")
    flat.add(f"name = {re.sub(r'[^A-Za-z0-9._-]', '-', name)[:31]}", (disk or model).at)
    flat.add(f"heads = {_plain(_told(model, 'Number of data surfaces'))}")
    cylinders = _told(model, "Number of cylinders")
    flat.add(f"cylinders = {_plain(cylinders)}", model.at)
    declared = _told(model, "Block count")
    flat.add(f"declared_blocks = {_plain(declared)}", model.at)
    seeks = _mechanics(model, int(cylinders), flat)
    _bus_times(description, disk, flat)
    if disk:
        _drive(disk, flat)
    value = model.get("Layout Model")
    why = WHY_NOT.get(value.block.kind, "") if value and value.block else ""
    layout = _block(value, "dm_layout_g1", model.at, why)
    _layout(layout, model, flat)
    flat.add("[seek]")
    for distance, time, at in seeks:
        flat.add(f"{distance} {time:.9f}", at)
    return flat


def placed(said: str, flat: Flat, name: str) -> str:
    """What david-sim said of lines of the flat form, by the lines that they came from."""

    def origin(match: re.Match[str]) -> str:
        line = int(match[1])
        place = flat.origins[line - 1] if line <= len(flat.origins) else None
        return f"{place or name}: "

    return re.sub(r"^\S*?:(\d+): ", origin, said, flags=re.M)
