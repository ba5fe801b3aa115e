# SPDX-License-Identifier: GPL-2.0
"""david array: made, looked at, failed, rebuilt, grown, removed, opened again; refused without a trace."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from helpers.guest import complaint, david, dm, loop_disk, mounted, run
from helpers.layouts import slowly, synced
from helpers.manifest import manifest
from helpers.poolbox import must_be_good, pool_device
from helpers.stacks import checked_by_md, look_at, stream
from helpers.units import FULL, GIB, MIB
from helpers.victim import make, many_directories, populate, sync, wait_until

from cases import case

STORE = 256 * MIB


@contextmanager
def backings(count: int, size: int = STORE) -> Iterator[list[str]]:
    with ExitStack() as stack:
        yield [stack.enter_context(loop_disk(size)) for _ in range(count)]


@contextmanager
def array(level: str, devices: list[str], *options: str) -> Iterator[str]:
    with created(level, len(devices), "--backing", *devices, *options) as device:
        yield device


# Of each member: what is reshaped costs the time.
SMALL = () if FULL else ("--size", "384M")


@contextmanager
def created(level: str, members: int, *options: str) -> Iterator[str]:
    david("array", "create", "a", "--level", level, "--members", str(members), "--size", "1G", *options)
    try:
        yield shown()["device"]
    finally:
        if any(dm.exists(f"a-{number}") for number in range(members)):
            david("array", "remove", "a")


def shown() -> dict:
    return json.loads(david("array", "show", "a", "--json"))


def filled(device: str, fs: str = "ext4") -> list[str]:
    make(fs, device)
    with mounted(device, fs) as top:
        populate(top, "old", 60)
        stream(f"{top}/stream")
        many_directories(top, "t", 60)
        sync(top)
        return manifest(top, content=False)


def rebuilt() -> None:
    slowly(10**7)  # at full speed
    wait_until(synced, "all members in sync", 200)


@case(seldom=True)
def a_mirror_loses_a_drive_gets_a_new_one_and_is_found_again() -> None:
    with backings(3) as devices:
        with array("1", devices) as device:
            tree = filled(device)
            before = [member["stored"] for member in shown()["members"]]
            david("array", "fail", "a", "1")
            assert shown()["degraded"] == 1, shown()
            with mounted(device, "ext4") as top:
                many_directories(top, "later", 30)
                sync(top)
                tree = manifest(top, content=False)
            david("array", "readd", "a", "1", "--blank")
            rebuilt()
            found = shown()
            members = found["members"]
            assert not found["degraded"] and all("in_sync" in each["state"] for each in members), found
            assert members[1]["stored"] < 1.2 * before[0] + 4 * MIB, (before, found)
            checked_by_md(device)
        assert not any(dm.exists(f"a-{number}") for number in range(3))
        with array("1", devices) as device:
            look_at("ext4", device, tree)
            checked_by_md(device)


@case(seldom=True)
def members_in_a_pool_are_found_again() -> None:
    with pool_device(STORE) as pool:
        with created("1", 3, "--pool", pool) as device:
            tree = filled(device)
        must_be_good(pool)
        with created("1", 3, "--pool", pool) as device:
            look_at("ext4", device, tree)
            david("array", "grow", "a", "--members", "4", "--pool", pool)
            rebuilt()
            checked_by_md(device)
            look_at("ext4", device, tree)


@case
def far_copies_agree_where_data_was_dropped() -> None:
    with backings(2) as devices, array("10", devices, "--layout", "f2") as device:
        tree = filled(device)
        checked_by_md(device)
        look_at("ext4", device, tree)


@case(seldom=True)
def an_array_with_parity_grows_by_a_member() -> None:
    with backings(4, 512 * MIB) as devices, array("5", devices[:3], *SMALL) as device:
        tree = filled(device)
        size = shown()["size"]
        slowly(10**7)
        david("array", "grow", "a", "--members", "4", "--backing", devices[3])
        wait_until(lambda: shown()["action"] == "idle", "the new shape", 300)
        found = shown()
        assert found["size"] > 1.4 * size and len(found["members"]) == 4, found
        checked_by_md(device)
        look_at("ext4", device, tree)


def grow_a_stripe(meanwhile: Callable[[], object] = lambda: None) -> None:
    with backings(3) as devices, array("0", devices[:2], *SMALL) as device:
        tree = filled(device)
        size = shown()["size"]
        slowly()
        david("array", "grow", "a", "--members", "3", "--backing", devices[2])
        meanwhile()
        slowly(10**7)
        wait_until(lambda: shown()["size"] > 1.4 * size and shown()["level"] == "0", "the new shape", 60)
        look_at("ext4", device, tree)


@case(seldom=True)
def a_stripe_grows_by_a_member() -> None:
    grow_a_stripe()


@case(seldom=True)
def a_stripe_grows_though_mdadm_s_process_is_gone() -> None:
    """md may refuse the one request for RAID-0 that mdadm's process makes."""
    grow_a_stripe(lambda: run("pkill", "-KILL", "-x", "mdadm"))


@case(seldom=True)
def a_mirror_grows_with_its_members() -> None:
    with backings(2) as devices, array("1", devices) as device:
        tree = filled(device)
        david("array", "grow", "a", "--size", "2G")
        assert shown()["size"] > 1.9 * GIB, shown()
        # It wants that of what was mounted later than it was made.
        run("e2fsck", "-fp", device)
        run("resize2fs", device)
        checked_by_md(device)
        look_at("ext4", device, tree)


REFUSED = (
    (("--level", "5", "--members", "2"), "--members 2: RAID-5 has 3 at least"),
    (("--level", "1", "--members", "2"), "--backing: 2 members need a device each"),
    (("--level", "1", "--members", "2", "--chunk", "64K"), "--chunk: RAID-1 has none"),
    (("--level", "0", "--members", "2", "--layout", "n2"), "--layout: RAID-0 has none"),
    (("--level", "10", "--members", "2", "--layout", "f2", "--content", "text"), "take zeros or pattern:HEX"),
)


@case
def what_is_wrong_with_an_array_is_said_and_nothing_half_made_stays() -> None:
    with backings(2) as devices:
        for words, why in REFUSED:
            named = () if "need a device" in why else ("--backing", *devices)
            must_refuse(("array", "create", "a", "--size", "1G", *words, *named), why)
        words = ("--level", "1", "--members", "2", "--size", "1G", "--backing")
        must_refuse(("array", "create", "a", *words, devices[0], "/dev/nowhere"), "No such file")
        must_refuse(("array", "show", "a"), "no such array")
        with array("1", devices):
            must_refuse(("array", "fail", "a", "7"), "MEMBER 7")
            must_refuse(("array", "readd", "a", "1"), "is in the array")
            must_refuse(("array", "create", "a", *words, *devices), "its disks are there already")
            both = ("--pool", "p", "--backing", devices[0])
            must_refuse(("array", "grow", "a", "--members", "3", *both), "--backing: not with --pool")
            must_refuse(("array", "grow", "a", "--size", "2G", "--pool", "p"), "--size: makes no new members")
        must_refuse(("array", "create", "a", *words, *devices, "--level", "0"), "have an array of RAID-1")
        must_refuse(("array", "remove", "a"), "no such array")


def must_refuse(words: tuple[str, ...], why: str) -> None:
    said = complaint(*words)
    assert why in said, said
    assert words[1] != "create" or "there already" in why or not dm.exists("a-0"), f"{words}: a disk stays"
