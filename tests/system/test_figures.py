# SPDX-License-Identifier: GPL-2.0
"""Every figure stands in docs/figures.toml, and is what a second way comes to. A page has three labs.

Of `david stats` and `david top` cases/figures.py does it.
"""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import pytest

from helpers import figuretable, secondblocks, secondpage, secondrebuild, secondsim
from helpers.secondsim import Asked, Part

PROFILES = Path(__file__).parent / "profiles"
PLAIN, FLASH = str(PROFILES / "plain.profile"), str(PROFILES / "flash.profile")
CHUNK = 128  # sectors
# So small that the second map of it is made in no time.
SMALL = ("capacity=131072sectors", "raw_capacity=139264sectors")
FULL = ("precondition_fill=1", "buffer_reads=yes", *SMALL)
ALL = 1 << 26
SIM = {
    "disk": Asked(PLAIN, (
        Part(writes=40, rate=80_000, flush=9, span=1 << 33),
        Part(size=65536, writes=100, order="sequential", rate=400_000, start=1 << 34, span=1 << 30),
    ), count=400, warm=50, every=100),
    "drive with bad blocks": Asked(PLAIN, (
        Part(rate=80_000, span=1 << 33),
        Part(writes=100, rate=100_000, start=1 << 34, flush=9),
    ), count=400, warm=50, every=100, options=("read_retry_time=300us",), bad=range(0, 4_000_000)),
    "drive with caches": Asked("toshiba-p300-3tb", (
        Part(writes=20, rate=100_000, flush=30, span=1 << 27),
        Part(writes=100, rate=300_000, start=1 << 40, span=1 << 15),
    ), count=500, warm=20),
    "SSD that collects": Asked(FLASH, (Part(writes=60, rate=10_000_000, flush=20, span=ALL),),
                               count=6000, warm=500, every=1000, options=FULL),
    "SSD whose buffer is full": Asked(
        FLASH, (Part(writes=100, rate=60_000_000, flush=500, depth=64, span=ALL),), count=4000, warm=500,
        options=(*FULL, "write_buffer=128KiB")),
    "blank SSD": Asked(FLASH, (Part(writes=30, rate=10_000_000, flush=20, span=1 << 24),),
                       count=3000, warm=100, options=("precondition=fresh", "buffer_reads=yes")),
    "RAID-0 of SSDs": Asked(FLASH, (Part(writes=40, depth=1, span=1 << 26),), count=400,
                            array="0 members=3 chunk=64K metadata=none", options=(*FULL[:1], *SMALL)),
    "RAID-5 of SSDs": Asked(FLASH, (Part(writes=40, depth=1, span=1 << 26),), count=400,
                            array="5 members=5 chunk=64K stripe-cache=0 metadata=none",
                            options=(*FULL[:1], *SMALL)),
}
# Of these no job has any: other tests have.
SIM_IDLE = {
    "drive.drops_requested": "tests/unit/cache-test.c",
    **dict.fromkeys(("jobs.*.members.*.flushes", "jobs.*.members.*.idle_ns", "jobs.*.member_time.idle_ns"),
                    "tests/unit/array-parts-check.c"),
    **dict.fromkeys((f"jobs.*.{name}" for name in (
        "slc_programs", "folded_pages", "map_reads", "map_programs")), "tests/unit/solid-test.c"),
    **dict.fromkeys((f"jobs.*.members.*.drive_ns.{name}" for name in ("seek", "rotation", "flush", "map")),
                    "tests/unit/array-parts-check.c"),
    **dict.fromkeys(("jobs.*.members.*.drive_ns.fault", "jobs.*.drive_ns.fault"), "tests/unit/fault-test.c"),
    **dict.fromkeys(("jobs.*.failed_flushes", "jobs.*.writes.failed", "jobs.*.writes.failed_mean_us",
                     "jobs.*.zone_commands", "jobs.*.zone_command_mean_us"), "tests/unit/bench"),
    "jobs.*.drive_ns.map": "tests/unit/profiles-check.c",
}


@functools.cache
def simulated(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What david-sim printed of a job, and what the second way came to."""
    asked = SIM[name]
    doc = secondsim.bench(asked)
    with tempfile.TemporaryDirectory() as place:
        if asked.array:
            return doc, secondsim.of_array(asked, doc, Path(place), CHUNK)
        second, ended = secondsim.of_one_drive(asked, doc, Path(place))
    return doc, second | (secondsim.of_flash(doc, ended, asked) if asked.profile == FLASH else
                          secondsim.of_disk(doc, ended, asked))


@pytest.mark.parametrize("name", SIM)
def test_david_sims_figures_are_derived_a_second_way(name: str) -> None:
    doc, second = simulated(name)
    assert not figuretable.complaints(figuretable.rows("sim"), doc, second)


@pytest.mark.parametrize("name", SIM)
def test_a_figure_of_david_sim_that_is_wrong_is_found(name: str) -> None:
    """Each of them: renamed, a thousand times as large, counted twice."""
    doc, second = simulated(name)
    assert not figuretable.missed(figuretable.rows("sim"), doc, second)


def test_david_sim_prints_every_row_of_the_table_with_something_in_it() -> None:
    table, documents = figuretable.rows("sim"), [simulated(name)[0] for name in SIM]
    assert not figuretable.unprinted(table, documents)
    assert set(figuretable.idle(table, documents)) <= set(SIM_IDLE)


def test_a_row_that_nothing_prints_is_found() -> None:
    table = [*figuretable.rows("sim"), figuretable.Row("jobs.*.secondes", False, False)]
    assert figuretable.unprinted(table, [simulated("disk")[0]]) != []


# A raw SSD has none of these: tests/system/test_why.py has.
PAGE_IDLE = {"wrong", "store_bytes", "queue_wait_ns_per_op", "metadata_share", "moved_share",
             "journal_requests_per_op", "journal_bytes_per_op",  # tests/system/test_places.py has
             "degraded", "rebuilt_bytes",  # no array; tests/system/test_bench_arrays.py has
             *(f"{part}_ns_per_op" for part in (
                 "seek", "rotation", "transfer", "flush", "queued", "map", "fault"))}


@functools.cache
def page() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    with tempfile.TemporaryDirectory() as top:
        return secondpage.rows(Path(top))


def test_figures_of_a_page_are_derived_a_second_way() -> None:
    table = figuretable.rows("page")
    assert [figuretable.complaints(table, *one) for one in page()] == [[], [], []]
    documents = [doc for doc, _ in page()]
    assert not figuretable.unprinted(table, documents)
    assert set(figuretable.idle(table, documents)) <= PAGE_IDLE


def test_a_figure_of_a_page_that_is_wrong_is_found() -> None:
    assert [figuretable.missed(figuretable.rows("page"), *one) for one in page()] == [[], [], []]


BLOCKS = {
    "disk and array": secondblocks.Asked(PLAIN, "5 members=4 stripe-cache=0 metadata=none"),
    "RAID-0": secondblocks.Asked(FLASH, "0 members=3 chunk=64K metadata=none",
                                 ("raw_capacity=4194304sectors",), gap=150_000, bound=1000, flushes=0),
    "new SSD": secondblocks.Asked(FLASH, options=("precondition=fresh", "power_loss_protection=yes"),
                                  gap=150_000, bound=1000),
    "drive with caches": secondblocks.Asked(str(PROFILES / "quick.profile"), count=1200),
}
# Of these no trace has any: tests/system/test_served.py has.
BLOCKS_IDLE = {"served.*.beyond", "served.*.beyond_line", "served.*.runs.*.drive_ns.map",
               "served.*.runs.*.drive_ns.fault", "trace.shared"}


@functools.cache
def served(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    with tempfile.TemporaryDirectory() as place:
        return secondblocks.simulated(BLOCKS[name], Path(place))


@pytest.mark.parametrize("name", BLOCKS)
def test_figures_of_a_block_trace_are_derived_a_second_way(name: str) -> None:
    assert not figuretable.complaints(figuretable.rows("blocks"), *served(name))


# What its members do waits for parity: of that there are bounds only.
@pytest.mark.parametrize("name", sorted(BLOCKS.keys() - {"disk and array"}))
def test_a_figure_of_a_block_trace_that_is_wrong_is_found(name: str) -> None:
    assert not figuretable.missed(figuretable.rows("blocks"), *served(name))


def test_a_block_trace_prints_every_row_of_the_table_with_something_in_it() -> None:
    table, documents = figuretable.rows("blocks"), [served(name)[0] for name in BLOCKS]
    assert not figuretable.unprinted(table, documents)
    assert set(figuretable.idle(table, documents)) <= BLOCKS_IDLE


REBUILDS = {
    "RAID-6, an error, a slow member": secondrebuild.Asked("6", 5, (1,), bad=(2,), slow=3),
    "RAID-6, an error in P": secondrebuild.Asked("6", 5, (1,), bad=(4,)),
    "RAID-5, a block that is lost": secondrebuild.Asked("5", 3, (0,), bad=(2,), status=2),
    "RAID-1": secondrebuild.Asked("1", 3, (1,), copies=((0, 1),)),
    "RAID-10, two new drives": secondrebuild.Asked("10", 4, (1, 2), copies=((0, 1), (3, 2))),
}
# Of these a rebuild has none: somebody asks something of the array all the time, and its drives are disks.
REBUILD_IDLE = {"member_time.idle_ns", "members.*.idle_ns",
                *(f"members.*.drive_ns.{name}" for name in ("queued", "die", "channel", "map"))}


@functools.cache
def rebuilt(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    with tempfile.TemporaryDirectory() as place:
        return secondrebuild.rebuilt(REBUILDS[name]), secondrebuild.figures(REBUILDS[name], Path(place))


@pytest.mark.parametrize("name", REBUILDS)
def test_figures_of_a_rebuild_are_derived_a_second_way(name: str) -> None:
    assert not figuretable.complaints(figuretable.rows("rebuild"), *rebuilt(name))


@pytest.mark.parametrize("name", REBUILDS)
def test_a_figure_of_a_rebuild_that_is_wrong_is_found(name: str) -> None:
    assert not figuretable.missed(figuretable.rows("rebuild"), *rebuilt(name))


def test_a_rebuild_prints_every_row_of_the_table_with_something_in_it() -> None:
    table, documents = figuretable.rows("rebuild"), [rebuilt(name)[0] for name in REBUILDS]
    assert not figuretable.unprinted(table, documents)
    assert set(figuretable.idle(table, documents)) <= REBUILD_IDLE
