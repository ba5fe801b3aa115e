# SPDX-License-Identifier: GPL-2.0
"""What `make install` installs: it runs without the source tree, is documented and completed. Needs no lab.

`make packages-test` tries the Debian packages.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import completion
import manpages
from davidlib import packages, util
from davidlib.disk import dm, modulehelp, stats
from davidlib.filesystems import FILE_SYSTEMS
from davidlib.lab import needs

TREE = Path(__file__).resolve().parents[2]
INSTALL = TREE / "tools/packaging/install"


def install(what: str, root: Path, **more: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"DESTDIR": str(root), "PREFIX": "/usr"} | more
    return subprocess.run([INSTALL, what], env=env, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with what is installed, and nothing else."""
    made = tmp_path_factory.mktemp("root")
    subprocess.run(["make", "-s", "-C", TREE, "programs"], check=True, stdout=subprocess.DEVNULL)
    done = install("install", made)
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture(scope="module")
def without_labs(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same without the package of the labs."""
    made = tmp_path_factory.mktemp("tools") / "root"
    shutil.copytree(root, made, symlinks=True)
    assert install("uninstall", made, PARTS="lab").returncode == 0
    return made


def run(*command: str | Path, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=timeout, check=False)


def test_the_installed_david_finds_all_its_parts_without_the_source_tree(
        without_labs: Path, tmp_path: Path) -> None:
    root = without_labs
    david = root / "usr/bin/david"
    assert run(david, "--version").stdout == f"david {(TREE / 'tools/version').read_text()}"
    for words in (["env", "PYTHONSAFEPATH=1"], ["python3", "-I"]):
        assert run(*words, david, "--version").stdout == run(david, "--version").stdout, words
    foreign = tmp_path / "foreign"
    (foreign / "davidlib").mkdir(parents=True)
    (foreign / "davidlib/__init__.py").write_text("raise SystemExit('another davidlib')\n")
    assert not run("env", f"PYTHONPATH={foreign}", david, "--version").returncode
    shipped = {path.stem for path in (TREE / "profiles").glob("*.profile")}
    assert {line.split()[0] for line in run(david, "profile", "list").stdout.splitlines()[1:]} == shipped
    name = sorted(shipped)[0]
    assert run(david, "profile", "check", name).returncode == 0
    assert run(root / "usr/bin/david-sim", "profile", "check", name).returncode == 0
    assert run(david, "store", "check", "/dev/zero").stderr == "/dev/zero: blank\n"
    by_bpf = run(david, "trace", "record", "--method", "bpf", "--", "true")
    assert by_bpf.returncode and "in dm-david's source tree only" in by_bpf.stderr
    trace, page = tmp_path / "t.db", tmp_path / "page.html"
    assert run(david, "trace", "record", "-o", trace, "--share-disk", "--", "cat", david).returncode == 0
    told = run(david, "trace", "report", trace, "--html", page)
    assert told.returncode == 0 and "the package dm-david-lab draws them" in page.read_text(), told.stderr
    assert told.stderr.count("\n") == 1
    image = root / "image"
    with image.open("wb") as file:
        file.truncate(16 << 20)
    subprocess.run(["/sbin/mke2fs", "-q", "-t", "ext4", image], check=True)
    assert run(david, "classify", "--summary", str(image)).returncode == 0
    image.unlink()
    for command, status in (("lab", 125), ("bench", 1), ("report", 1)):
        done = run(david, command, "--help")
        assert done.stderr == f"david {command}: the labs are not installed: apt-get install dm-david-lab\n"
        assert done.returncode == status
    installed = [path.read_text(errors="replace") for path in (root / "usr/share/dm-david").rglob("*.py")]
    assert len(installed) > 15
    # A tree in /src is not named by /usr/src.
    named = re.compile(rf"(?<![\w.-]){re.escape(str(TREE))}\b")
    assert not [text for text in installed if named.search(text)]


def test_disks_and_drives_need_nothing_of_the_labs(without_labs: Path) -> None:
    """Whatever is imported is installed."""
    installed = {path.name for path in (without_labs / "usr/share/dm-david/tools/davidlib").iterdir()}
    assert {"disk", "drive", "util.py"} <= installed and not {"lab", "bench"} & installed
    assert not (without_labs / "usr/share/dm-david/dm-david").exists()


def listed(david: Path, question: Path) -> list[str]:
    """The runs of a question, by the ids that have digests of all that decides their figures."""
    done = run(david, "bench", "--list", "--output", question.with_suffix(".result"), question)
    assert done.returncode == 0, done.stderr
    return re.findall(r"^\S*\b[0-9a-f]{12}\b.*", done.stdout, re.MULTILINE)


def test_runs_of_the_installed_david_have_the_ids_of_the_trees(root: Path, tmp_path: Path) -> None:
    """So its model, module, labs and programs have the same sources. Planted: one is another, one is gone."""
    david, question = root / "usr/bin/david", tmp_path / "q.toml"
    question.write_text(run(david, "bench", "--example").stdout)
    there = listed(TREE / "tools/david", question)
    assert len(there) == 6 and listed(david, question) == there
    copy = tmp_path / "copy"
    shutil.copytree(root, copy, symlinks=True)
    share = copy / "usr/share/dm-david"
    text = (share / "model/drive/seek.c").read_text()
    (share / "model/drive/seek.c").write_text(text.replace("0", "1"))
    assert not set(listed(copy / "usr/bin/david", question)) & set(there)
    (share / "model/drive/seek.c").write_text(text)
    (share / "tools/davidlib/lab/guest/main").unlink()
    assert not set(listed(copy / "usr/bin/david", question)) & set(there)
    program = "from davidlib.bench import parts; print([*map(parts.program, parts.build.DIRECTORIES)])"
    asked = [run("env", f"PYTHONPATH={top}/tools", "python3", "-c", program)
             for top in (TREE, root / "usr/share/dm-david", share)]
    assert asked[0].stdout and asked[0].stdout == asked[1].stdout == asked[2].stdout, asked[1].stderr


def test_what_is_installed_is_built_in_the_cache_and_said_to_labs(root: Path, tmp_path: Path) -> None:
    """Whoever may write to /usr/share leaves nothing there."""
    tools = root / "usr/share/dm-david/tools"
    ask = "from davidlib import util; from davidlib.lab import lab; " \
        "said = lab.environment(lab.Lab(['true'], sealed=True)); " \
        "print(util.BUILD, said['DAVID_BUILD'], said['DAVID_PREFIX'], util.PROFILES)"
    done = run("env", f"XDG_CACHE_HOME={tmp_path}", f"PYTHONPATH={tools}", "python3", "-c", ask)
    build, told, prefix, profiles = done.stdout.split()
    assert build == told and Path(build).parent == tmp_path / "dm-david/build"
    assert (prefix, profiles) == (str(root / "usr"), str(root / "usr/share/dm-david/profiles"))


def told_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, *names: str) -> str:
    (tmp_path / "os-release").write_text(text)
    # Python's own reader, of another file.
    monkeypatch.setattr(platform, "_os_release_candidates", (tmp_path / "none", tmp_path / "os-release"))
    monkeypatch.setattr(platform, "_os_release_cache", None)
    packages.family.cache_clear()
    return packages.to_get(*names)


def test_each_distribution_is_told_its_own_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = ("busybox-static", "libelf-dev", "libc6-dev", "unheard-of")
    for text, told in (
        ('PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n', "run `tools/setup packages`"),
        ("ID=ubuntu\nID_LIKE=debian\n",
         "apt-get install busybox-static libelf-dev libc6-dev unheard-of (not tried on ubuntu)"),
        ("# of a shop\nID='rocky'\nID_LIKE=\"rhel centos fedora\"\n",
         "dnf install busybox elfutils-libelf-devel glibc-devel unheard-of (not tried on rocky)"),
        ("ID=fedora",
         "dnf install busybox elfutils-libelf-devel glibc-devel unheard-of (not tried on fedora)"),
        ("ID=arch\n", "pacman -S busybox libelf glibc unheard-of (not tried on arch)"),
        ("ID=nixos\n", "Debian calls the packages busybox-static libelf-dev libc6-dev unheard-of"),
        ("", "Debian calls the packages busybox-static libelf-dev libc6-dev unheard-of"),
    ):  # fmt: skip
        assert told_on(monkeypatch, tmp_path, text, *names) == told, text
    monkeypatch.setattr(packages, "INSTALLED", True)
    assert told_on(monkeypatch, tmp_path, "ID=debian\n", "gcc") == "apt-get install gcc"
    packages.family.cache_clear()


def test_names_of_packages_are_in_one_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    used = {*needs.MACHINE, *needs.MODULE, *needs.KERNEL, needs.PYTHON, "fio"}
    used |= {system.package for system in FILE_SYSTEMS.values()}
    for path in (TREE / "tools/davidlib").rglob("*.py"):
        for call in re.findall(r"to_get\(('[^)]*')\)", path.read_text()):
            used |= set(re.findall(r"'([^']+)'", call))
    assert used <= set(packages.NAMES), used - set(packages.NAMES)
    rows = re.findall(r"^\| (\S+) \| (\S+) \| (\S+) \|$",
                      section((TREE / "docs/REFERENCE.md").read_text(), "Packages"), re.MULTILINE)
    assert {debian: (fedora, arch) for debian, fedora, arch in rows} == packages.NAMES
    # The same packages are recommended, and built with, in both kinds.
    control = (TREE / "tools/packaging/debian/control").read_text()
    spec = (TREE / "tools/packaging/dm-david.spec").read_text()
    lab = control[control.index("Package: dm-david-lab"):control.index("Package: dm-david-dkms")]
    for field in ("Recommends", "Suggests"):
        listed = re.search(rf"^{field}:((?:.*\n )*.*)", lab, re.MULTILINE)
        names = {word.split("|")[0].strip() for word in listed[1].split(",")} & set(packages.NAMES)
        inside = spec[spec.index("%package lab"):spec.index("%description lab")]
        said = set(re.findall(rf"^{field}: (\S+)$", inside, re.MULTILINE))
        assert {packages.NAMES[name][0] for name in names} == said - {"ccache"}, field
    built = {"gcc", "libzstd-dev", "make", "libsqlite3-dev", "zlib1g-dev"}
    asked = set(re.findall(r"^BuildRequires: (\S+)", spec, re.MULTILINE)) - {"python3"}
    assert asked == {packages.NAMES[name][0] for name in built}


def section(text: str, name: str) -> str:
    return text[text.index(f"\n## {name}\n"):].split("\n## ", 2)[1]


@pytest.mark.seldom
def test_rpm_has_what_is_installed_and_takes_it_away_again(tmp_path: Path) -> None:
    for program in ("rpmbuild", "rpm"):
        if not shutil.which(program):
            pytest.skip(f"there is no {program}")
    done = run("env", "RPMLINT=no", TREE / "tools/packaging/rpm", timeout=300)
    assert done.returncode == 0, done.stderr
    built = [Path(line) for line in done.stdout.splitlines()]
    binary = [path for path in built if "/RPMS/" in str(path)]
    names = ("dm-david", "dm-david-dkms", "dm-david-lab")
    assert sorted(path.name.rsplit("-", 2)[0] for path in binary) == list(names)
    # A dependency that Fedora cannot meet would hide here: all that rpm found by itself.
    found = [line.split()[0] for path in binary for line in run("rpm", "-qpR", path).stdout.splitlines()]
    assert {word for word in found if word.startswith("/")} <= {"/bin/sh", "/bin/bash", "/usr/bin/python3"}
    database = ("rpm", "--root", tmp_path)
    assert run(*database, "--initdb").returncode == 0
    done = run(*database, "-i", "--nodeps", "--noscripts", *binary, timeout=120)
    assert done.returncode == 0, done.stderr
    assert run(*database, "-Va", "--nodeps").stdout == ""
    python = run("rpm", "-E", "%{?python3_sitelib}").stdout.strip() or "/usr/lib/python3/dist-packages"
    listed = install("list", Path("/"), PYTHONDIR=python).stdout.splitlines()
    has = run(*database, "-ql", "dm-david", "dm-david-lab").stdout.splitlines()
    plain = {path.removesuffix(".gz") for path in has if not (tmp_path / path[1:]).is_dir()}
    own = {path for path in plain if "/licenses/" in path or "/.build-id/" in path}
    assert plain - own == set(listed)
    made = run(*database, "-ql", "dm-david-dkms").stdout.splitlines()
    assert any(path.endswith("/dm-david/Kbuild") for path in made)
    version = (TREE / "tools/version").read_text()
    assert run(tmp_path / "usr/bin/david", "--version").stdout == f"david {version}"
    done = run(*database, "-e", "--nodeps", "--noscripts", *names)
    assert done.returncode == 0, done.stderr
    left = {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*") if not path.is_dir()}
    # Its database is there, in /root or /var.
    assert left <= {"root", "var"} and not (tmp_path / "usr/share/dm-david").exists()


def test_what_labs_need_and_is_missing_is_one_line_and_recommended(
        monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    control = (TREE / "tools/packaging/debian/control").read_text()
    package = control[control.index("Package: dm-david-lab"):]
    field = re.search(r"^Recommends:((?:.*\n )*.*)", package, re.MULTILINE)
    recommended = {word.split("|")[0].strip() for word in field[1].split(",")}
    needed = {**needs.MACHINE, **needs.MODULE, **needs.KERNEL}
    mkfs = {system.package for name, system in FILE_SYSTEMS.items() if name in ("ext4", "xfs", "btrfs")}
    assert recommended == {*needed, needs.PYTHON, "fio", *mkfs} - {"util-linux"}  # which is essential
    setup = (TREE / "tools/setup").read_text()
    set_up = set(setup[setup.index("packages=("): setup.index("\n)")].split()) | {"busybox-static"}
    assert recommended <= set_up
    monkeypatch.setattr(needs, "ROOT", tmp_path)
    monkeypatch.setattr(needs, "SBIN", ())
    monkeypatch.setattr(needs, "KERNELS", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert needs.of_labs() == [*needed]
    said = "^bench needs what is not installed here, .*bc, .*xz-utils.*: run `tools/setup"
    with pytest.raises(util.UserError, match=said):
        needs.check("bench", needs.of_labs())
    needs.check("bench", [])
    (tmp_path / "uml-1-2").mkdir()
    (tmp_path / "uml-1-2/built").touch()
    assert needs.of_labs() == [*needs.MACHINE, *needs.MODULE]
    (tmp_path / "uml-1-2/built").unlink()
    assert needs.of_labs("vm") == [*needs.MACHINE, *needs.MODULE]


def test_the_unit_of_a_disk_is_sound_and_calls_what_is_installed(root: Path) -> None:
    unit = root / "usr/lib/systemd/system/david@.service"
    called = re.findall(r"^Exec\w+=(\S+)", unit.read_text(), re.MULTILINE)
    assert called == ["/usr/bin/david"] * 2 and (root / "usr/bin/david").exists()
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd-analyze")
    # It looks for the programs where they stand.
    there = root / "david@big.service"
    there.write_text(unit.read_text().replace("/usr/bin/david", "/bin/true"))
    done = run("systemd-analyze", "verify", "--man=no", there)
    there.unlink()
    assert "david@" not in done.stdout + done.stderr, done.stderr


def test_help_calls_the_installed_program_by_its_name(root: Path) -> None:
    assert "tools/david" not in run(root / "usr/bin/david", "create", "--help").stdout
    assert "  david create big" in run(root / "usr/bin/david", "create", "--help").stdout
    docs = list((root / "usr/share/doc/dm-david").rglob("*.md"))
    assert len(docs) > 5
    for doc in docs:
        assert "tools/david " not in doc.read_text()
        assert "build/david-" not in doc.read_text()


def test_uninstall_removes_all_that_install_made(root: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(root, copy, symlinks=True)
    assert install("uninstall", copy).returncode == 0
    assert not [path for path in copy.rglob("*") if not path.is_dir()]


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_every_command_and_option_is_completed(root: Path, shell: str) -> None:
    place = {"bash": "usr/share/bash-completion/completions/david",
             "zsh": "usr/share/zsh/site-functions/_david"}
    text = (root / place[shell]).read_text()
    for top in (completion.david(), completion.david_sim(TREE / "build/david-sim")):
        assert len(top.everything()) > 4
        for path, command in top.everything():
            for word in path.split() + [name for option in command.options for name in option.names]:
                assert word in text, f"{top.name} {path}: {word}"


@pytest.mark.parametrize(
    ("shell", "file"),
    [
        ("bash", "usr/share/bash-completion/completions/david"),
        pytest.param(
            "zsh",
            "usr/share/zsh/site-functions/_david",
            marks=pytest.mark.skipif(not shutil.which("zsh"), reason="no zsh here"),
        ),
    ],
)
def test_the_shell_takes_the_completion(root: Path, shell: str, file: str) -> None:
    assert subprocess.run([shell, "-n", root / file], check=False).returncode == 0


def completed(root: Path, *words: str) -> set[str]:
    """What bash offers for the last of these words."""
    script = """source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); cur=${!#}
case $1 in david) _david ;; *) _david_sim ;; esac; printf '%s\\n' "${COMPREPLY[@]}" """
    file = root / "usr/share/bash-completion/completions/david"
    return set(run("bash", "-c", script, "bash", file, *words).stdout.split())


def test_bash_offers_what_fits(root: Path) -> None:
    assert {"create", "remove", "profile", "store"} <= completed(root, "david", "")
    assert completed(root, "david", "profile", "sh") == {"show"}
    assert completed(root, "david", "create", "--mode", "") == {"timing-accurate", "speedup", "model-only"}
    assert {"--profile", "--profile-option"} == completed(root, "david", "create", "big", "--pro")
    assert {"replay", "validate", "profile"} <= completed(root, "david-sim", "")
    assert "--trace" in completed(root, "david-sim", "replay", "--")


def not_in_manual(page: str, top: completion.Command) -> list[str]:
    """Commands and long options that a manual page has no word of."""
    missing = []
    for path, command in top.everything():
        if not path:
            continue
        words = path.split()[-1:] + [name for option in command.options for name in option.names
                                     if name.startswith("--") and name != "--help"]
        missing += [f"{path}: {word}" for word in words if not re.search(rf"(?<![\w-]){word}(?![\w-])", page)]
    return missing


def test_the_manual_has_every_command_and_option(root: Path) -> None:
    """david-sim's is written by hand, those of david's commands are made of the parsers."""
    man = root / "usr/share/man"
    told = [("man1/david-sim.1", completion.david_sim(TREE / "build/david-sim"))]
    for command in completion.david().commands:
        [page] = [path for path in man.rglob(f"david-{command.name}.[18]")
                  if (path.name == "david-sim.8") == (command.name == "sim")]
        told.append((str(page.relative_to(man)), completion.Command("david", commands=[command])))
    assert len(told) > 30
    for name, top in told:
        page = re.sub(r"\\f[BIR]|\\:", "", (man / name).read_text()).replace("\\-", "-")
        assert not_in_manual(page, top) == []
        # A planted command or option that the page does not tell of is found.
        top.commands[0].options.append(completion.Option(["--planted"]))
        top.commands.append(completion.Command("planted"))
        found = not_in_manual(page, top)
        assert [word.partition(": ")[2] for word in found] == ["--planted", "planted"]
    index = (man / "man8/david.8").read_text().replace("\\-", "-")
    listed = re.findall(r"^\.BR david-(\w+) \((\d)\)$", index.partition(".SH EXIT")[0], re.MULTILINE)
    assert [name for name, _ in listed] == [command.name for command in completion.david().commands]
    assert all((man / f"man{section}/david-{name}.{section}").exists() for name, section in listed)


def test_what_is_said_of_an_option_at_length_leaves_nothing_out(
        monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It stands in the place of the parser's help: each word with a `=` of that is in it. Planted: one
    that is not, and an option that no parser has."""
    parsers, told = manpages.below(manpages.program()), 0

    def lost(command: str) -> list[str]:
        return [f"{name}: {word}" for name, said in manpages.more_of(command)[1].items()
                for action in parsers[command][0]._actions if name in action.option_strings
                for word in re.findall(r"(?:^|[;,] )([a-z_]+)=", action.help or "")
                if f"{word} =" not in said and f"{word}=" not in said]

    for command in parsers:
        told += len(manpages.more_of(command)[1])
        assert lost(command) == []
    assert told >= 3
    monkeypatch.setattr(manpages, "MORE", tmp_path)
    (tmp_path / "create.man").write_text("Makes a disk.\n@--option\nnothing of it\n")
    assert "--option: pool_reserve" in lost("create")
    (tmp_path / "create.man").write_text("Makes a disk.\n@--none\nof it\n")
    with pytest.raises(ValueError, match="david create has no --none"):
        manpages.pages("1")


def test_the_manual_pages_are_sound(root: Path) -> None:
    pages = sorted((root / "usr/share/man").rglob("*.[1-8]"))
    names = {page.name for page in pages}
    assert {"david-sim.1", "david-sim.8", "dm-david.4", "david-profile.5", "david.8"} <= names
    assert len(names) == 37
    for page in pages:
        assert not re.search(r"@[A-Z]+@", page.read_text())
    done = run("groff", "-man", "-Tutf8", "-ww", "-rLL=80n", "-Z", *pages)
    assert done.stderr == ""


def test_the_manuals_example_of_a_profile_is_one(root: Path, tmp_path: Path) -> None:
    page = (root / "usr/share/man/man5/david-profile.5").read_text()
    example = page[page.rindex(".nf\n") + 4:page.rindex(".fi\n")]
    file = tmp_path / "example.profile"
    file.write_text(example)
    assert run(root / "usr/bin/david", "profile", "check", str(file)).returncode == 0


NOT_FOUND = "modprobe: FATAL: Module dm-david not found in directory /lib/modules/1.2.3"


@pytest.mark.parametrize(("present", "complaint", "installed", "command"), [
    (["lib/modules/1.2.3", "usr/src/dm-david-1/dkms.conf"], NOT_FOUND, True,
     "apt-get install linux-headers-1.2.3"),
    (["lib/modules/1.2.3/build/Makefile", "usr/src/dm-david-1/dkms.conf"], NOT_FOUND, True,
     "dkms autoinstall -k 1.2.3"),
    (["lib/modules/1.2.3/build/Makefile"], NOT_FOUND, True, "apt-get install dm-david-dkms"),
    (["lib/modules/1.2.3"], NOT_FOUND, False, "apt-get install linux-headers-1.2.3"),
    (["lib/modules/1.2.3/build/Makefile"], NOT_FOUND, False,
     "make -C TREE && insmod TREE/dm-david/dm-david.ko"),
    (["lib/modules/1.2.3/build/Makefile", "TREE/dm-david/dm-david.ko"], NOT_FOUND, False,
     "insmod TREE/dm-david/dm-david.ko"),
    (["lib/modules/4.5.6/modules.dep"], NOT_FOUND, True, "reboot"),
    ([], NOT_FOUND, True, "apt-get install linux-image-amd64 linux-headers-amd64, then reboot"),
    (["var/lib/dkms/mok.pub"],
     "modprobe: ERROR: could not insert 'dm_david': Key was rejected by service", True,
     "mokutil --import /var/lib/dkms/mok.pub, then reboot and enrol the key"),
    (["lib/modules/1.2.3", "usr/src/dm-david-1/dkms.conf"],
     "modprobe: ERROR: could not insert 'dm_david': Exec format error", True,
     "dkms autoinstall -k 1.2.3 --force"),
    ([], "modprobe: ERROR: could not insert 'dm_david': Operation not permitted", True, "run it on the host"),
])
def test_a_missing_module_is_told_with_the_one_command_that_helps(
        present: list[str], complaint: str, installed: bool, command: str, monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path) -> None:
    for name in present:
        path = tmp_path / name.replace("TREE", "tree")
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.mkdir if path.name == "1.2.3" else path.touch)()
    (tmp_path / "sys/class/misc/device-mapper").mkdir(parents=True)
    monkeypatch.setattr(modulehelp, "ROOT", tmp_path)
    monkeypatch.setattr(modulehelp, "TREE", tmp_path / "tree")
    monkeypatch.setattr(modulehelp, "INSTALLED", installed)
    monkeypatch.setattr(modulehelp, "release", lambda: "1.2.3")
    said = modulehelp.advice("dm-david", complaint)
    assert f"; try: {command} (modprobe: ".replace("TREE", str(tmp_path / "tree")) in said
    assert "\n" not in said
    assert complaint in said


def test_a_kernel_without_device_mapper_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "lib/modules/1.2.3").mkdir(parents=True)
    monkeypatch.setattr(modulehelp, "ROOT", tmp_path)
    monkeypatch.setattr(modulehelp, "release", lambda: "1.2.3")
    assert "kernel 1.2.3 has no device-mapper" in modulehelp.advice("dm-david", NOT_FOUND)


@pytest.mark.parametrize("ask", [dm.devices, lambda: dm.minor("big"), lambda: stats.fetch("big")],
                         ids=["list", "remove", "stats"])
@pytest.mark.parametrize(("status", "complaint", "command"), [
    (0, "", "modprobe dm-david"), (1, NOT_FOUND, "reboot")])
def test_whoever_asks_a_disk_without_the_module_is_told(
        ask: Callable[[], object], status: int, complaint: str, command: str, monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path) -> None:
    (tmp_path / "lib/modules/4.5.6").mkdir(parents=True)
    monkeypatch.setattr(modulehelp, "ROOT", tmp_path)
    monkeypatch.setattr(stats, "CONTROL", str(tmp_path / "david"))
    monkeypatch.setattr(dm, "target_loaded", lambda: False)
    monkeypatch.setattr(dm, "run", lambda *words: subprocess.CompletedProcess(words, status, "", complaint))
    with pytest.raises(util.UserError, match=f"no target 'david'.*; try: {command}( \\(modprobe: |$)"):
        ask()


def test_setup_installs_each_file_systems_programs_and_trials_lives_on_each() -> None:
    setup, makefile = (TREE / "tools/setup").read_text(), (TREE / "Makefile").read_text()
    listed = setup[setup.index("packages=(") : setup.index("\n)")].split()
    assert {system.package for system in FILE_SYSTEMS.values()} <= set(listed)
    assert re.search(r"^FS \?= (.*)$", makefile, re.M)[1].split() == list(FILE_SYSTEMS)


# Of a command and its program in C: the options that only the one has, and those that only the other has.
OF_ITS_OWN = {
    # --only says both of the program's; OUT is a place there; --json is made of --stats.
    ("compile",): ({"--json", "--only", "--out"}, {"--path", "--pid"}),
    # Repeats, and what is cold or kept, are the command's work. --timing says the program's scale, --fsync
    # what its syncs do. A block trace is replayed by the command itself.
    ("replay",): ({"--cold", "--depth", "--device", "--format", "--fsync", "--help", "--out", "--repeats",
                   "--snapshot", "--write"},
                  {"--scale", "--syncs"}),
    # --method chooses the program. `david trace causal` asks for --hold, and a test for --look.
    ("trace", "record"): ({"--help", "--method"}, {"--hold", "--look"}),
}
LINK = re.compile(r"\[[^]]*\]\(([^)\s#]+)")


def lost_links(top: Path) -> list[str]:
    """Links of the documents below this directory that lead to no file there."""
    return [f"{path.relative_to(top)}: {link}" for path in sorted(top.rglob("*.md"))
            for link in LINK.findall(path.read_text())
            if "://" not in link and not (path.parent / link).exists()]


def test_links_of_installed_documents_lead_to_installed_files(root: Path, tmp_path: Path) -> None:
    """Planted: without one table of results its link is found."""
    [top] = root.rglob("share/doc/dm-david")
    assert len(list(top.rglob("*.md"))) > 25 and lost_links(top) == []
    copy = shutil.copytree(top, tmp_path / "doc")
    (copy / "docs/results/fuzzing.csv").unlink()
    assert lost_links(copy) == ["docs/MEASURED.md: results/fuzzing.csv"]


DOCUMENTS = {"compile": "REPLAY.md", "replay": "REPLAY.md", "trace": "TRACE.md"}


def options_of(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("words", OF_ITS_OWN)
def test_a_command_and_its_program_have_the_same_options(words: tuple[str, ...]) -> None:
    """The command's are in argparse, the program's in its main.c; the page has them in words."""
    commands, programs = OF_ITS_OWN[words]
    program = run(TREE / f"build/david-{words[0]}", "--help")
    found = options_of(program.stdout + program.stderr)
    of_command = options_of(run(TREE / "tools/david", *words, "--help").stdout)
    assert of_command - commands == found - programs
    assert commands <= of_command and programs <= found
    page = options_of((TREE / "docs" / DOCUMENTS[words[0]]).read_text())
    assert of_command - page <= {"--help", "--out", "--repeats"}
