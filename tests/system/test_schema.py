# SPDX-License-Identifier: GPL-2.0
"""What commands print with --json is what `david schema` says, and nothing else; what they print for
Prometheus is read by its own client; arrays and pools have their disks' figures added up. No lab.
"""

from __future__ import annotations

import argparse
import copy
import functools
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fastjsonschema
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parsed

from davidlib import build
from davidlib.disk import array, check, device, dm, fault, group, info, md, openmetrics, pool, pools
from davidlib.disk import schema, show, stats
from davidlib.disk import top as topping
from davidlib.drive import profile, profileword
from davidlib.util import UserError
from helpers.davidtool import program

TREE = Path(__file__).resolve().parents[2]
DAVID = TREE / "tools" / "david"
MS = 10**6


@functools.cache
def simulated() -> Any:
    words = [
        build.ensure("david-sim"),
        "bench",
        "--json",
        "--profile",
        "toshiba-p300-3tb",
        "--job",
        "read random",
    ]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


@functools.cache
def rebuilt() -> Any:
    words = [build.ensure("david-sim"), "rebuild", "--json", "--profile", "toshiba-p300-3tb", "--span", "128",
             "--array", "1 members=2 failed=1"]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


@functools.cache
def printed(*words: str) -> Any:
    done = subprocess.run([sys.executable, DAVID, *words], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


@functools.cache
def image() -> str:
    """An ext4 that nothing has been written to."""
    path = build.BUILD / "schema-ext4.img"
    path.unlink(missing_ok=True)
    with path.open("wb") as file:
        file.truncate(16 << 20)
    subprocess.run(["mke2fs", "-q", "-F", "-t", "ext4", path], check=True)
    return str(path)


def figures(name: str = "big", scale: int = 1) -> dict[str, Any]:
    """Each number another one."""
    found = stats.as_dict(stats.Struct(name=name.encode()))
    count = 0

    def fill(value: Any) -> Any:
        nonlocal count
        if isinstance(value, dict):
            return {key: fill(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [1 * scale, 2 * scale, 3 * scale]
        if isinstance(value, int):
            count += 1
            return count * scale
        return value

    return fill(found) | {"block_size": 4096, "mounted_above": [], "created": 1}


@pytest.fixture
def disks(monkeypatch: pytest.MonkeyPatch) -> dict[str, dm.Device]:
    """Of the kernel: a disk, an array of two, and two of a pool."""
    word = profileword.load("samsung-860-pro", []).text()
    there = {
        "big": ["classify=auto", f"profile={word}"], "r-0": [], "r-1": [],
        "a": ["pool=a"], "b": ["pool=b"],
    }  # fmt: skip
    found = {
        name: dm.Device(name, 1 << 31, "/dev/ram1" if name in "ab" else f"/dev/loop{name}", words)
        for name, words in there.items()
    }
    status = "state=ok store_used=3 store_blocks=10 block_size=4096 pool_saved=0"
    monkeypatch.setattr(dm, "devices", lambda: list(found.values()))
    monkeypatch.setattr(dm, "dmsetup", lambda *words: status if words[0] == "status" else "rule")
    monkeypatch.setattr(dm.os, "geteuid", lambda: 0)
    monkeypatch.setattr(dm, "size_of", lambda _: 1 << 40)
    members = [md.Member(number, f"r-{number}", "in_sync") for number in range(2)]
    monkeypatch.setattr(md, "find", lambda name: md.Array(name, "/dev/md127", members))
    monkeypatch.setattr(
        md.Array, "said", lambda self, file: {"level": "raid1", "array_state": "clean"}.get(file, "")
    )
    said = "blocks 100\nshare no\ndisk a reserve 1 log_pages 2\n"
    said += "disk c target_sectors 8 used 1 reserve 1 log_pages 2\n"
    monkeypatch.setattr(pool, "store_tool", lambda *words: subprocess.CompletedProcess(words, 0, said, ""))
    monkeypatch.setattr(pools, "find", lambda name: "/dev/ram1")
    monkeypatch.setattr(pool, "open_disks", lambda path: {"a": found["a"]})
    monkeypatch.setattr(pools, "pool_name", lambda path: "farm" if path == "/dev/ram1" else "")
    listed = {"age": "5ns", "faults": "media-error:sectors=8-15:one_in=2:seed=0,moved:sectors=16-23"}
    monkeypatch.setattr(fault, "_listed", lambda name: listed)
    monkeypatch.setattr(stats, "fetch", lambda name: stats.Struct(name=name.encode()))
    monkeypatch.setattr(
        show.statstext, "mounted_above", lambda name: [{"device": "d", "file_system": "ext4"}]
    )
    return found


def of_commands() -> dict[str, Any]:
    """What each command prints, of the fixture's disks."""
    known = figures()
    return {
        "list": device.disks(),
        "info": info.describe("big"),
        "stats": show.figures_of("big"),
        "top": topping.sample(known, figures(scale=2), MS),
        "check": {
            "valid": True,
            "findings": [check.asdict(one) for one in check.findings(known | {"state": "ok"})],
        },
        "array show": array.describe(md.find("r")),
        "pool show": pool.describe("farm"),
        "plan": printed("plan", "--size", "1T", "--fs", "ext4", "--json"),
        "fault list": fault.describe("big"),
        "fault presets": printed("fault", "presets", "--json"),
        "classify": printed("classify", "--json", image()),
        "profile worth": printed("profile", "worth", "samsung-860-pro", "--json"),
        "profile list": printed("profile", "list", "--json"),
        "profile show": printed("profile", "show", "toshiba-p300-3tb", "--json"),
        "choose": printed("choose", "--iops", "9", "--p99", "1s", "--capacity", "1G", "--level", "1",
                          "--profile", "toshiba-p300-3tb", "--json"),
        "david-sim bench": simulated(),
        "david-sim rebuild": rebuilt(),
        "sim": None,  # below
    }


def deep(command: str, document: Any) -> dict[str, Any]:
    """The innermost object that comes first, of those with names that are told."""
    told = schema.of(command)
    while "properties" not in told and "anyOf" not in told:
        told = told["items"] if isinstance(document, list) else told["additionalProperties"]
        document = next(iter(document if isinstance(document, list) else document.values()))
    return document


def test_what_commands_print_is_what_their_schema_says(disks: dict[str, dm.Device]) -> None:
    found = of_commands()
    assert sorted(found) == schema.commands()
    for command, document in found.items():
        if document is not None:
            fastjsonschema.validate(schema.of(command), document)


# Whose --json has no schema, and why.
WITHOUT = {
    "profile bench": "its rows are those of david-sim bench, and of tables of drives that grow",
    "image show": "what an image's maker wrote into it, a word for each that the disk had",
}


def test_each_command_with_json_has_a_schema_or_says_why_not() -> None:
    """Planted: one that is taken away is missed."""
    assert without_schema(schema.commands()) == set(WITHOUT)
    assert without_schema([one for one in schema.commands() if one != "classify"]) == {*WITHOUT, "classify"}


def without_schema(known: list[str]) -> set[str]:
    found = set()
    ways: list[tuple[str, argparse.ArgumentParser]] = [("", program().parser_of())]
    while ways:
        name, parser = ways.pop()
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                ways += [(f"{name} {word}".strip(), below) for word, below in action.choices.items()]
            elif "--json" in action.option_strings and action.nargs == 0:
                found.add(name)
    assert len(found) > 12
    return found - set(known)


def test_another_name_or_a_text_for_a_number_is_not_of_the_schema(disks: dict[str, dm.Device]) -> None:
    """Planted: in each command's output a name that is not told of, and a name that is missing."""
    for command, document in of_commands().items():
        if document is None:
            continue
        more = copy.deepcopy(document)
        deep(command, more)["planted"] = 1
        with pytest.raises(fastjsonschema.JsonSchemaException):
            fastjsonschema.validate(schema.of(command), more)
        if command not in ("david-sim bench", "choose"):  # not each has all of these
            less = copy.deepcopy(document)
            there = deep(command, less)
            there.pop(next(iter(there)))
            with pytest.raises(fastjsonschema.JsonSchemaException):
                fastjsonschema.validate(schema.of(command), less)
    wrong = show.figures_of("big") | {"block_size": "4096"}
    with pytest.raises(fastjsonschema.JsonSchemaException):
        fastjsonschema.validate(schema.of("stats"), wrong)


def test_a_block_traces_figures_are_what_the_schema_says(tmp_path: Path) -> None:
    trace = tmp_path / "t.csv"
    trace.write_text(
        "".join(
            f"{128166372003061629 + n * 10**5},hm,1,{'Read' if n % 2 else 'Write'},{n << 16},4096,9\n"
            for n in range(60)
        )
    )
    done = subprocess.run(
        [sys.executable, DAVID, "sim", trace, "--profile", "toshiba-p300-3tb", "--json"],
        capture_output=True,
        text=True,
    )
    fastjsonschema.validate(schema.of("sim"), json.loads(done.stdout))


def test_a_command_without_a_schema_is_an_error_that_names_those_that_have_one() -> None:
    with pytest.raises(UserError, match="did you mean list"):
        schema.of("lits")
    assert printed("schema", "profile", "list")["title"] == "david profile list --json"


def test_the_list_of_profiles_is_what_david_sim_says_of_each() -> None:
    for row in printed("profile", "list", "--json"):
        shown = profile.parameters(Path(row["file"]))
        assert row["capacity"] == int(shown["capacity"].removesuffix("sectors")) * 512
        assert row["capacity"] == profileword.load(row["name"], []).capacity()
        assert (row["rpm"] is None) == (row["kind"] != "disk") == (row["heads"] is None)


def samples(text: str) -> dict[tuple[str, str, str], float]:
    """By name, disk and kind (or bucket)."""
    found = {}
    for family in parsed(text):
        for sample in family.samples:
            key = sample.name, sample.labels["disk"], sample.labels.get("kind") or sample.labels.get("le", "")
            assert key not in found
            found[key] = sample.value
    return found


def test_openmetrics_are_read_by_prometheus_client_and_have_every_figure() -> None:
    disks = [figures("big"), figures('o"dd\\', 3)]
    found = samples(openmetrics.text_of(disks))
    for disk in disks:
        name = disk["name"]
        for figure, value in disk.items():
            if isinstance(value, str) or figure == "mounted_above":
                continue
            if isinstance(value, dict):
                for kind, number in value.items():
                    assert (
                        sum(
                            found.get((f"david_{figure}{end}", name, kind), 0)
                            for end in ("", "_total", "_now")
                        )
                        == number
                    ), (figure, kind)
            elif isinstance(value, list):
                buckets = [
                    found[f"david_{figure}_seconds_bucket", name, le] for le in ("1e-06", "2e-06", "4e-06")
                ]
                assert buckets == [value[0], sum(value[:2]), sum(value)]
                assert found[f"david_{figure}_seconds_bucket", name, "+Inf"] == sum(value)
            else:
                assert (
                    sum(found.get((f"david_{figure}{end}", name, ""), 0) for end in ("", "_total")) == value
                ), figure


def test_openmetrics_types_are_right_counters_grow_and_what_is_so_now_is_a_gauge() -> None:
    kinds = {family.name: family.type for family in parsed(openmetrics.text_of([figures()]))}
    assert kinds["david_requests"] == kinds["david_busy_ns"] == kinds["david_unclassified"] == "counter"
    assert kinds["david_store_used"] == kinds["david_mem"] == kinds["david_unclassified_now"] == "gauge"
    assert kinds["david_late_seconds"] == "histogram" and kinds["david_disk"] == "info"


def test_openmetrics_without_a_disk_are_an_empty_page_that_can_be_read() -> None:
    assert [family.name for family in parsed(openmetrics.text_of([]))] == ["david_disk"]


def test_openmetrics_that_are_wrong_are_found() -> None:
    """Planted: a counter that lacks its suffix, and a disk that is told of twice."""
    text = openmetrics.text_of([figures()])
    with pytest.raises(ValueError):
        list(
            parsed(text.replace('david_requests_total{disk="big",kind="read"}', 'david_request{disk="big"}'))
        )
    with pytest.raises((ValueError, AssertionError)):
        samples(openmetrics.text_of([figures(), figures()]))


def test_a_name_is_a_disk_or_else_an_array_or_else_a_pool(disks: dict[str, dm.Device]) -> None:
    assert group.find("big") == group.Group("big", "disk", ("big",), ("",))
    assert group.find("r") == group.Group("r", "array", ("r-0", "r-1"), ("", ""))
    assert group.find("farm") == group.Group("farm", "pool", ("a", "b"), ("/dev/ram1", "/dev/ram1"))
    with pytest.raises(dm.DeviceError, match="no such device"):
        group.find("nothing")


def test_figures_of_several_disks_are_added_up() -> None:
    one, two = figures("r-0"), figures("r-1", 10)
    whole = group.total("r", [one, two])
    assert whole["name"] == "r" and whole["block_size"] == 4096
    assert whole["requests"]["read"] == 11 * one["requests"]["read"]
    assert whole["busy_ns"] == 11 * one["busy_ns"] and whole["late"] == [11, 22, 33]
    assert whole["late_max"] == two["late_max"] and whole["reach"]["end"] == 0
    assert whole["reach"]["pages"] == 11 * one["reach"]["pages"]
    assert whole["store_blocks"] == 11 * one["store_blocks"]
    assert whole.keys() == one.keys()


def test_one_disk_that_failed_is_not_hidden_by_the_others() -> None:
    one, two = figures("r-0") | {"state": "ok"}, figures("r-1") | {"state": "failed", "fault": "log"}
    for both in ([one, two], [two, one]):
        whole = group.total("r", both)
        assert (whole["state"], whole["fault"]) == ("failed", "log")


def test_free_blocks_of_a_pool_count_once() -> None:
    """A disk of a pool has as its store what it uses, and all that is free."""
    one = figures("a") | {"store_used": 30, "store_blocks": 130, "pool_saved": 7, "pool_memory": 9}
    two = figures("b") | {"store_used": 50, "store_blocks": 150, "pool_saved": 7, "pool_memory": 9}
    whole = group.total("farm", [one, two], ["/dev/ram1"] * 2)
    assert (whole["store_used"], whole["store_blocks"]) == (80, 180)
    assert (whole["pool_saved"], whole["pool_memory"]) == (7, 9)
    assert group.total("r", [one, two])["store_blocks"] == 280


def test_an_array_is_valid_only_if_each_disk_is_and_one_was_asked(
    disks: dict[str, dm.Device], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {
        name: figures(name) | {"nospc": 0, "errors": 0, "unmodelled": 0, "delivered": {}, "late": [0]}
        for name in ("r-0", "r-1")
    }
    for one in known.values():
        one["unclassified"]["spilled"] = one["flash"]["empty_reads"] = 0
        one["faults"] = dict.fromkeys(one["faults"], 0)
        one["delivered"] = {"read": 0, "write": 0, "flush": 0}
    known["r-0"]["requests"] = dict.fromkeys(known["r-0"]["requests"], 0)  # a spare
    monkeypatch.setattr(check.stats, "fetch", lambda name: SimpleNamespace(of=name))
    monkeypatch.setattr(check.stats, "as_dict", lambda struct: known[struct.of])
    said = check.of_group(group.find("r"))
    assert said["valid"], said
    fastjsonschema.validate(schema.of("check"), said)
    known["r-1"]["errors"] = 1
    assert not check.of_group(group.find("r"))["valid"]
    known["r-1"]["errors"] = 0
    known["r-1"]["flash"]["empty_reads"] = known["r-1"]["read_pages"]
    assert not check.of_group(group.find("r"))["valid"]
    known["r-1"]["flash"]["empty_reads"] = 0
    known["r-1"]["requests"] = known["r-0"]["requests"]
    assert not check.of_group(group.find("r"))["valid"]


def test_the_line_of_an_array_has_the_sum_of_rates_and_the_worst_verdict(
    disks: dict[str, dm.Device], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = {"r-0": figures("r-0"), "r-1": figures("r-1")}
    looks = iter([0, 0, 1000 * MS, 1000 * MS])
    monkeypatch.setattr(topping, "_look", lambda name: ("d", next(looks), copy.deepcopy(now[name])))
    monkeypatch.setattr(
        topping.time,
        "sleep",
        lambda _: [
            one["requests"].update(read=one["requests"]["read"] + 40)
            or one.update(busy_ns=one["busy_ns"] + 500 * MS)
            for one in now.values()
        ],
    )
    whole, first, second = next(topping._group_rows([group.find("r")], 1, 1))
    assert (whole["name"], first["name"], second["name"]) == ("r", "r-0", "r-1")
    assert whole["read_per_s"] == first["read_per_s"] + second["read_per_s"] == 80
    assert whole["busy"] == first["busy"] == second["busy"] == 0.5
    bad = [{**first, "trustworthy": True}, {**second, "trustworthy": False, "verdict": "late"}]
    pairs = [(("d", 0, figures(name)), ("d", 1000 * MS, figures(name))) for name in ("r-0", "r-1")]
    row = topping._of_all(group.find("r"), pairs, bad)
    assert row["trustworthy"] is False and row["verdict"] == "r-1: late"
