# SPDX-License-Identifier: GPL-2.0
"""Which kernel is which; and of one that dm-david does not know the module is not built, and it says why."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from davidlib import util
from davidlib.lab import archive, kernels, module

# As if a kernel had moved the list of an inode's names elsewhere once more.
MOVED = """\
#define d_u d_elsewhere
#include <linux/dcache.h>
#undef d_u
"""


def test_an_unknown_kernel_is_told_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "moved.h").write_text(MOVED)
    place = tmp_path / "module"
    module.refresh(place, module.sources())
    target = module.kernel_build("vm", "6.12")
    command = target.command(place, f"KCFLAGS=-include {tmp_path}/moved.h")
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode
    said = [line for line in run.stderr.splitlines() if not line.startswith("make")]
    assert len(said) == 1, run.stderr
    assert said[0].startswith("dm-david: this kernel is none of those that dm-david knows")
    assert said[0].endswith("missing: names (the list of an inode's dentries)")
    assert "error:" not in run.stdout


def test_a_version_is_its_newest_release_without_flavours() -> None:
    served = ["6.1.0-9-amd64", "6.1.0-50-amd64", "6.1.0-51-cloud-amd64", "6.12.94+deb13-amd64",
              "6.12.107+deb13-amd64", "6.12.110+deb13-rt-amd64", "7.3.4+deb13-amd64", "7.3.4+deb13-common"]
    assert kernels.newest(kernels.of_version(served, "6.1")) == "6.1.0-50-amd64"
    assert kernels.newest(kernels.of_version(served, "6.12")) == "6.12.107+deb13-amd64"
    assert kernels.newest(kernels.of_version(served, "7.3")) == "7.3.4+deb13-amd64"
    assert kernels.of_version(served, "7.2") == []


def test_a_package_is_found_in_what_apt_says_of_it() -> None:
    archives = "http://deb.debian.org/debian bookworm/main amd64 Packages\n"
    # of Debian 12's apt, and of Debian 13's
    for said in (f" image | 6.1.176-1 | {archives}", f"image |  6.1.176-1 | {archives}"):
        assert archive.version_in(said) == ("6.1.176-1", "bookworm")
    assert archive.version_in("") is None


def test_where_apt_has_no_lists_they_are_read_into_ours(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an image that was tidied up, where who runs a lab may not write to apt's own."""
    calls = []

    def said(*command: str, **_: object) -> subprocess.CompletedProcess[str]:
        calls.append(command)
        ours = f"Dir::State::Lists={tmp_path}/machine" in command
        out = "E: List directory /var/lib/apt/lists/partial is missing."
        if ours and "download" in command and any("update" in call for call in calls):
            out = "'http://deb.debian.org/debian/pool/main/b/base-files/base-files_12_amd64.deb' 12"
        return subprocess.CompletedProcess(command, 0, out, None)

    monkeypatch.setattr(archive, "APT", tmp_path)
    monkeypatch.setattr(archive, "run", said)
    assert archive.mirror() == "http://deb.debian.org/debian"
    assert (tmp_path / "machine/partial").is_dir() and len(calls) == 3
    # Not what the machine itself has.
    assert all(f"Dir::State::Lists={tmp_path}/machine" in call for call in calls if "update" in call)
    monkeypatch.setattr(archive, "run", lambda *words: subprocess.CompletedProcess(words, 1, "E: no", None))
    with pytest.raises(util.UserError, match="apt-get said:\nE: no"):
        archive.mirror()


def test_a_module_is_kept_for_other_trees_with_the_same_sources_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEPT", tmp_path / "kept")
    places = [tmp_path / tree / "uml-6.12" for tree in ("one", "two")]
    for place in places:
        for name in module.MODULES:
            (place / name).parent.mkdir(parents=True)
    (places[0] / module.MODULE).write_text("the module")
    (places[1] / module.MODULES[1]).write_text("of other sources")
    module.keep(places[0], "sources")
    assert not module.fetch(places[1], "other sources")
    assert not module.fetch(places[1].with_name("uml-6.12-plant"), "sources")
    assert module.fetch(places[1], "sources")
    assert (places[1] / module.MODULE).read_text() == "the module"
    assert not (places[1] / module.MODULES[1]).exists(), "two modules of different sources"
    # Kept already, and old: the next one takes its place.
    module.keep(places[0], "sources")
    old = module.kept(places[0], "sources")
    os.utime(old, (0, 0))
    module.keep(places[0], "other sources")
    assert not old.exists() and len(list((tmp_path / "kept").iterdir())) == 1


def test_of_a_tree_that_is_not_ones_own_all_is_built_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, mine = tmp_path / "build", util.build_directory(tmp_path, {})
    assert mine == ours
    # As of another owner's, or of a file system that is read-only.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    elsewhere = util.build_directory(tmp_path, {})
    assert elsewhere.parent == util.CACHE / "build"
    assert elsewhere != util.build_directory(tmp_path / "another", {})
    # In a lab all is read-only: it has what the host has built, wherever that is.
    assert util.build_directory(tmp_path, {"DAVID_LAB": "uml"}) == ours
    assert util.build_directory(tmp_path, {"DAVID_LAB": "uml", util.BUILD_WORD: str(elsewhere)}) == elsewhere
