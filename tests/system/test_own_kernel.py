# SPDX-License-Identifier: GPL-2.0
"""A kernel of the user's: what is copied of its source tree, which patches go on it, and what is refused."""

import os
import subprocess
from pathlib import Path

import pytest

from davidlib.lab import own_kernel, sourcetree
from davidlib.util import UserError

FILES = {
    "Makefile": "VERSION = 6\nPATCHLEVEL = 13\nSUBLEVEL = 2\n",
    "Kconfig": "config A\n",
    "Kbuild": "",
    ".gitignore": "*.o\n",
    "kernel/sched/core.c": "int core;\n",
    "arch/x86/Makefile": "",
    "fs/dcache.c": "one\ntwo\nthree\nfour\nfive\nsix\nseven\n",
    "drivers/gpu/drm/x/y.c": "int gpu;\n",
}
PATCH = """\
--- a/fs/dcache.c
+++ b/fs/dcache.c
@@ -2,4 +2,5 @@
 two
 three
+three and a half
 four
 five
"""


def git(tree: Path, *words: str) -> None:
    name = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(["git", "-C", tree, *name, *words], check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What looks like a kernel's source, in a repository of git."""
    top = tmp_path / "linux"
    for name, text in FILES.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    (top / "link").symlink_to("Kbuild")
    git(tmp_path, "init", "-q", str(top))
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "base")
    (top / "kernel/sched/core.o").write_text("built")
    return top


@pytest.fixture
def patch(tmp_path: Path) -> Path:
    path = tmp_path / "lab.patch"
    path.write_text(PATCH)
    return path


def copied(where: Path) -> set[str]:
    return {str(path.relative_to(where)) for path in where.rglob("*") if path.is_file() or path.is_symlink()}


def stamps(top: Path) -> dict[str, tuple[int, int]]:
    found = {str(path): os.lstat(path) for path in [top, *top.rglob("*")]}
    return {name: (stat.st_mtime_ns, stat.st_size) for name, stat in found.items()}


def test_what_is_tracked_changed_and_new_is_copied_and_the_tree_is_not_written(
    tree: Path, tmp_path: Path
) -> None:
    (tree / "fs/new.c").write_text("new\n")
    (tree / "kernel/sched/core.c").write_text("int changed;\n")
    before = stamps(tree)
    copy = sourcetree.Copy(tree, tmp_path / "copy", ["drivers/gpu/drm/*/*.[ch]"])
    copy.bring_up_to_date()
    wanted = {*FILES, "link", "fs/new.c"} - {"drivers/gpu/drm/x/y.c"}
    assert copied(tmp_path / "copy") == wanted
    assert (tmp_path / "copy/kernel/sched/core.c").read_text() == "int changed;\n"
    assert os.readlink(tmp_path / "copy/link") == "Kbuild"
    assert stamps(tree) == before


def test_only_another_content_gets_a_new_time_and_another_digest(tree: Path, tmp_path: Path) -> None:
    where = tmp_path / "copy"
    first = sourcetree.Copy(tree, where).bring_up_to_date()
    os.utime(where / "fs/dcache.c", (1, 1))
    os.utime(where / "Kbuild", (1, 1))
    os.utime(tree / "fs/dcache.c")  # as a checkout does
    assert sourcetree.Copy(tree, where).bring_up_to_date() == first
    assert (where / "fs/dcache.c").stat().st_mtime == 1
    (tree / "fs/dcache.c").write_text("another\n")
    second = sourcetree.Copy(tree, where).bring_up_to_date()
    assert second != first
    assert (where / "fs/dcache.c").stat().st_mtime > 1
    assert (where / "Kbuild").stat().st_mtime == 1
    (tree / "fs/dcache.c").write_text(FILES["fs/dcache.c"])
    assert sourcetree.Copy(tree, where).bring_up_to_date() == first


def test_what_is_deleted_in_the_tree_goes_and_what_was_built_in_the_copy_stays(
    tree: Path, tmp_path: Path
) -> None:
    where = tmp_path / "copy"
    sourcetree.Copy(tree, where).bring_up_to_date()
    (where / "fs/dcache.o").write_text("built")
    (tree / "fs/dcache.c").unlink()
    (tree / "link").unlink()
    (tree / "link").write_text("a file now\n")
    sourcetree.Copy(tree, where).bring_up_to_date()
    assert copied(where) == {*FILES, "link", "fs/dcache.o"} - {"fs/dcache.c"}
    assert (where / "link").read_text() == "a file now\n" and not (where / "link").is_symlink()
    assert (where / "Kbuild").read_text() == ""


def test_patches_are_on_the_copy_as_long_as_all_of_them_apply(
    tree: Path, tmp_path: Path, patch: Path
) -> None:
    where = tmp_path / "copy"
    plain = sourcetree.Copy(tree, tmp_path / "plain").bring_up_to_date()
    copy = sourcetree.Copy(tree, where, (), [patch])
    patched = copy.bring_up_to_date()
    assert copy.refused == "" and patched != plain
    assert "three and a half\n" in (where / "fs/dcache.c").read_text()
    os.utime(where / "fs/dcache.c", (1, 1))
    copy = sourcetree.Copy(tree, where, (), [patch])
    assert copy.bring_up_to_date() == patched
    assert (where / "fs/dcache.c").stat().st_mtime == 1
    # Another line in the context: one that fuzz would take.
    text = FILES["fs/dcache.c"].replace("two", "2")
    (tree / "fs/dcache.c").write_text(text)
    copy = sourcetree.Copy(tree, where, (), [patch])
    copy.bring_up_to_date()
    assert copy.refused == "lab.patch does not apply at fs/dcache.c"
    assert (where / "fs/dcache.c").read_text() == text
    (tree / "fs/dcache.c").write_text(FILES["fs/dcache.c"])
    copy = sourcetree.Copy(tree, where, (), [patch])
    assert copy.bring_up_to_date() == patched
    assert "three and a half\n" in (where / "fs/dcache.c").read_text()
    assert FILES["fs/dcache.c"] == (tree / "fs/dcache.c").read_text()


def test_a_patch_of_a_file_that_is_not_there_is_refused(tree: Path, tmp_path: Path, patch: Path) -> None:
    (tree / "fs/dcache.c").unlink()
    copy = sourcetree.Copy(tree, tmp_path / "copy", (), [patch])
    copy.bring_up_to_date()
    assert copy.refused == "lab.patch does not apply at fs/dcache.c"
    assert not (tmp_path / "copy/fs/dcache.c").exists()


@pytest.mark.parametrize("ignored", [False, True])
def test_without_git_all_but_what_a_build_leaves_is_the_trees(
    tree: Path, tmp_path: Path, ignored: bool
) -> None:
    for name in ("include/config/auto.conf", "include/generated/autoconf.h", "vmlinux", ".config", "fs/x.ko",
                 "arch/x86/include/generated/asm/x.h", "fs/.x.o.cmd", "fs/x.mod.c", "modules.order",
                 "include/linux/kept.h", "include/config.h", "usr/linux"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("")
    subprocess.run(["rm", "-r", tree / ".git"], check=True)
    if ignored:
        git(tmp_path, "init", "-q", str(tmp_path))
        (tmp_path / ".gitignore").write_text("/linux\n")
    assert set(sourcetree.names(tree)) == {*FILES, "link", "include/linux/kept.h", "include/config.h",
                                           "usr/linux"}


def refused(kernel: str, *config: str, kind: str = "uml", debug: bool = False) -> str:
    with pytest.raises(UserError) as error:
        own_kernel.check(kind, kernel, config, debug)
    return str(error.value)


def test_what_cannot_be_a_labs_kernel_is_refused_at_once(tree: Path, tmp_path: Path) -> None:
    own_kernel.check("uml", str(tree))
    own_kernel.check("uml", "6.12")
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text("# a comment\n# CONFIG_A is not set\n")
    bad.write_text("A=y\n")
    own_kernel.check("uml", str(tree), [str(good)])
    assert "no such directory" in refused(str(tmp_path / "none"))
    assert "has no Kconfig" in refused(str(tmp_path))
    assert "has no Kconfig" in refused(str(good))
    assert "want a version" in refused("linux")
    assert "--kind uml only" in refused(str(tree), kind="vm")
    assert "--debug" in refused(str(tree), debug=True)
    assert "none: there is no such file" in refused(str(tree), str(tmp_path / "none"))
    assert "no line such as" in refused(str(tree), str(bad))
    assert "--config" in refused("6.12", str(good))
    (tree / "Makefile").write_text("all:\n")
    assert "VERSION" in refused(str(tree))
