# SPDX-License-Identifier: GPL-2.0
"""david image and david age: an aged disk goes into a file and comes back as it was, or not at all."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

from davidlib.image import aging

from cases import case
from helpers.davidtool import david, refused
from helpers.guest import SCRATCH, dm, fake_disk, mounted, ram_disk, run
from helpers.units import FULL, GIB, MIB

RECIPE = """
size = "256G"
fs = "{fs}"
files = 200
directories = 4
utilization = 0.9
churn = 2
"""
CHECK = {"ext4": ("e2fsck", "-fn"), "xfs": ("xfs_repair", "-n")}


def is_blank(device: str) -> bool:
    with open(device, "rb") as file:
        return not any(file.read(MIB))


def aged(fs: str, device: str, image: Path) -> dict:
    recipe = SCRATCH / "recipe.toml"
    recipe.write_text(RECIPE.format(fs=fs))
    david("age", str(recipe), "--backing", device, "--format", "-o", str(image), "--force", "--seed", "3")
    return json.loads(david("image", "show", str(image), "--json"))


@case(seldom=True)
def an_aged_disk_goes_into_a_file_of_megabytes_and_comes_back() -> None:
    image = SCRATCH / "aged.image"
    for fs in ("ext4", "xfs") if FULL else ("ext4",):
        with ram_disk(256 * MIB) as device:
            said = aged(fs, device, image)
            assert image.stat().st_size < 32 * MIB, image.stat()
            assert said["file_system"]["type"] == fs and said["size"] == 256 * GIB, said
            old = said["aged"]
            assert old["extents_per_file"] > 1.2 * old["extents_per_file_fresh"], old
            david("image", "pull", str(image), "--backing", device, "--format", "--name", "pulled")
            try:
                run(*CHECK[fs], "/dev/mapper/pulled")
                with mounted("/dev/mapper/pulled", fs) as top:
                    assert aging.tree(top) == old["tree_sha256"]
                    paths = sorted(str(path) for path in Path(top).rglob("f*"))
                    assert len(paths) == old["files"], len(paths)
                    mean = sum(aging.extents(path) for path in paths) / len(paths)
                    assert abs(mean / old["extents_per_file"] - 1) < 0.01, (mean, old)
                again = SCRATCH / "aged-again.image"
                david("image", "push", "pulled", str(again), "--note", "twice")
                assert "twice" in david("image", "show", str(again))
                again.unlink()
            finally:
                david("remove", "pulled")
    image.unlink()


@case(seldom=True)
def a_damaged_image_is_refused_and_leaves_the_device_as_it_was() -> None:
    image, bad = SCRATCH / "good.image", SCRATCH / "bad.image"
    with ram_disk(64 * MIB) as device:
        with fake_disk("source", GIB, device) as disk:
            run("mkfs.ext4", "-q", disk)
            with mounted(disk, "ext4"):
                assert "in use" in refused("image", "push", "source", str(image))
            assert dm.exists("source") and not image.exists()
            david("image", "push", "source", str(image))
            assert "it exists" in refused("image", "push", "source", str(image))
            assert "in use" in refused("image", "pull", str(image), "--backing", device)
            run("e2fsck", "-fn", disk)
        whole = image.read_bytes()
        with open(device, "r+b") as file:
            file.write(bytes(64 * MIB))
        with tarfile.open(image) as archive:
            store = archive.getmember("store.xz")
        middle = store.offset_data + store.size // 2
        for text, what in (
            (whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :], "damaged (wrong checksum)"),
            (whole[:middle], "cut short"),
            (whole.replace(b'"size": 1073741824', b'"size": 1073741312'), "its description is damaged"),
            (bytes(10240), "no image"),
            (b"", "no image"),
        ):
            bad.write_bytes(text)
            assert what in refused("image", "pull", str(bad), "--backing", device), what
            assert is_blank(device), what
        assert "No such file" in refused("image", "pull", "/none", "--backing", device)
        assert "there is no recipe" in refused("age", "/none", "--backing", device, "-o", str(bad))
        assert not list(SCRATCH.glob(".*image*"))
        bad.unlink()
        image.unlink()
