#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A manual page for each command of david, made of its parser, and the index of them in david(8).

    manpages.py OUT VERSION         writes the pages to the directory OUT
    manpages.py --names             lists them

A page's name, synopsis, options and examples are the parser's. Beside the parsers there is
tools/man/commands/COMMAND.man, in roff: its text is the page's description, in place of the parser's one
sentence. Sections may follow it. A line `@--option` begins what is said of that option in place of the
parser's help.

argparse-manpage and help2man make such pages, too. They do not know options that are said at more length than
--help has room for, nor the pages' sections and what these refer to.
"""

from __future__ import annotations

import argparse
import importlib.machinery
import importlib.util
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # who installs may be root

TOOLS = Path(__file__).resolve().parents[1]
MORE = TOOLS / "man" / "commands"
# What needs root, or a device, is of section 8: by the room, but for these.
ROOT_ROOMS = ("disk.", "image.", "calibrate.cli")
OF_ALL = ("disk.plan", "disk.classify", "disk.schema")
# By what is in a usage line, and what the table of statuses has of it.
PASSES_ON = ("lab", "trace", "record")
# By command: pages that belong to it, besides david(8).
SEE = {
    "create": "david-remove david-stats david-pool david-fault", "remove": "david-create",
    "resize": "david-create david-pool", "list": "david-info", "stats": "david-top david-check",
    "top": "david-stats", "check": "david-stats", "info": "david-list david-profile", "set": "david-create",
    "fault": "david-create", "pack": "david-store", "array": "david-create david-pool",
    "raw": "david-create", "stack": "david-create", "store": "david-pool david-image",
    "pool": "david-create david-store", "profile": "david-calibrate david-profile(5)",
    "sim": "david-record david-choose david-sim(1)", "choose": "david-sim david-report",
    "record": "david-sim", "calibrate": "david-profile david-profile(5)", "image": "david-age david-store",
    "age": "david-image david-bench", "plan": "david-create", "classify": "david-create",
    "schema": "david-stats david-bench", "lab": "david-bench", "trace": "david-compile david-replay",
    "compile": "david-trace david-replay", "replay": "david-compile david-compare",
    "compare": "david-replay", "bench": "david-report david-lab", "report": "david-bench david-choose",
}  # fmt: skip
STATUS = """\
0: it was done, and is to be believed. 1: it failed, or input or arguments are wrong. 2: it was done, and is
not to be believed. 3: a threshold was missed. docs/REFERENCE.md has the table.
"""
PASSED_ON = """\
The status of the command that it runs is passed on. 124: that was not done in time; 125: it could not be run;
126: it succeeded, and the lab's kernel printed a warning.
"""


def program() -> argparse.ArgumentParser:
    """The parser of david, with all commands."""
    loader = importlib.machinery.SourceFileLoader("david_program", str(TOOLS / "david"))
    spec = importlib.util.spec_from_loader("david_program", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    found: argparse.ArgumentParser = module.parser_of()
    of_room = {command: room for room, commands in module.COMMANDS.items() for command in commands}
    found.set_defaults(rooms=of_room)
    return found


def below(parser: argparse.ArgumentParser) -> dict[str, tuple[argparse.ArgumentParser, str]]:
    """The commands of a parser: each one's own parser, and its line of help."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            return {name: (sub, helps.get(name, "")) for name, sub in action.choices.items()}
    return {}


def section_of(room: str, command: str) -> int:
    if command == "sim":
        return 8  # david-sim(1) is the program
    return 8 if room.startswith(ROOT_ROOMS) and room not in OF_ALL else 1


def roff(text: str) -> str:
    """A text as it is, where roff would take a part of it for a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"(?<=\S)([|,/])(?=\S)", r"\1\\:", text)  # where a long word may be broken
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)


def plain(text: str | None) -> str:
    """A text of a parser, on lines of its own."""
    said = (text or "").replace("tools/david", "david").replace("%%", "%").strip()
    return roff(said)


def of_help(action: argparse.Action) -> str:
    return plain((action.help or "").replace("%(default)s", str(action.default)))


def value_of(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if not action.metavar and action.choices:
        name = "|".join(map(str, action.choices))
    repeated = action.nargs in ("+", "*") or (action.nargs == argparse.REMAINDER)
    return f"\\fI{roff(name)}\\fR{'...' if repeated else ''}"


def usage(parser: argparse.ArgumentParser, words: str) -> str:
    """A line of the synopsis: options in brackets where they may be left out."""
    parts = []
    exclusive = {
        action: group for group in parser._mutually_exclusive_groups for action in group._group_actions
    }
    done: list[object] = []
    for action in sorted(parser._actions, key=lambda one: not one.option_strings):
        if action.help == argparse.SUPPRESS or isinstance(
            action, argparse._HelpAction | argparse._SubParsersAction
        ):
            continue
        group = exclusive.get(action)
        if group in done:
            continue
        if group:
            done.append(group)
        alike = group._group_actions if group else [action]
        shown = " | ".join(one_of_usage(one) for one in alike if one.help != argparse.SUPPRESS)
        needed = action.required if action.option_strings else action.nargs not in ("?", "*")
        needed = group.required if group else needed
        many = "..." if isinstance(action, argparse._AppendAction) and not action.nargs else ""
        parts.append((shown if needed and not group else f"({shown})" if needed else f"[{shown}]") + many)
    return f".TP\n.B {roff(words)}\n" + "\n".join(parts) + "\n"


def one_of_usage(action: argparse.Action) -> str:
    value = value_of(action)
    if not action.option_strings:
        return value
    return f"\\fB{roff(action.option_strings[0])}\\fR" + (f"\\ {value}" if value else "")


def options(parser: argparse.ArgumentParser, said: dict[str, str], seen: set[str]) -> str:
    text = ""
    for action in parser._actions:
        if action.help == argparse.SUPPRESS or isinstance(
            action, argparse._HelpAction | argparse._SubParsersAction
        ):
            continue
        names = ", ".join(f"\\fB{roff(name)}\\fR" for name in action.option_strings)
        value = value_of(action)
        head = f"{names} {value}".strip() if names else value
        long = next((name for name in action.option_strings if name in said), "")
        seen.add(long)
        text += f".TP\n{head}\n{said[long] if long else of_help(action) + chr(10)}"
    return text


def more_of(command: str) -> tuple[str, dict[str, str]]:
    """What stands in COMMAND.man: its text, and by option what is said of it."""
    file = MORE / f"{command}.man"
    text, *blocks = re.split(r"^@", file.read_text() if file.exists() else "", flags=re.MULTILINE)
    pairs = (block.partition("\n") for block in blocks)
    return text, {name.strip(): said for name, _, said in pairs}


def described(parser: argparse.ArgumentParser) -> str:
    """Lines of a description that are a table, or a list, stay lines."""
    text = plain(parser.description)
    return text.replace("\n\n", "\n.PP\n").replace("\n  ", "\n.br\n\\ \\ ") + "\n" if text else ""


def examples(parser: argparse.ArgumentParser) -> str:
    text = (parser.epilog or "").replace("tools/david", "david").partition(":\n")[2].rstrip()
    lines = "\n".join(line[2:] if line.startswith("  ") else line for line in text.splitlines())
    return f".nf\n{roff(lines)}\n.fi\n" if lines else ""


def leaves(
    parser: argparse.ArgumentParser, words: str, text: str = ""
) -> list[tuple[str, str, argparse.ArgumentParser]]:
    """The commands below this one that do something, with the words that call them."""
    subs = below(parser)
    if not subs:
        return [(words, text, parser)]
    return [leaf for name, (sub, said) in subs.items() for leaf in leaves(sub, f"{words} {name}", said)]


def page(
    command: str, parser: argparse.ArgumentParser, text: str, sections: dict[str, int], version: str
) -> str:
    where = sections[command]
    all_of_it = leaves(parser, f"david {command}")
    own, said = more_of(command)
    seen: set[str] = set()
    manual = "System administration" if where == 8 else "User commands"
    found = [
        f'.TH DAVID\\-{command.upper()} {where} "" "dm-david {version}" "{manual}"\n.ad l\n'
        f".SH NAME\ndavid\\-{command} \\- {plain(text)}\n.SH SYNOPSIS\n",
        *(usage(leaf, words) for words, _, leaf in all_of_it),
        f".SH DESCRIPTION\n{own.partition('.SH ')[0] or described(parser) or plain(text) + chr(10)}",
    ]
    if len(all_of_it) == 1:
        if listed := options(parser, said, seen):
            found.append(f".SH OPTIONS\n{listed}")
    else:
        found.append(".SH COMMANDS\n")
        for words, line, leaf in all_of_it:
            found.append(
                f".SS {roff(words)}\n{described(leaf) or plain(line) + chr(10)}{options(leaf, said, seen)}"
            )
    if unknown := set(said) - seen:
        raise ValueError(f"{MORE / command}.man: david {command} has no {', '.join(sorted(unknown))}")
    sections_of_own = own.partition(".SH ")[1:]
    found.append("".join(sections_of_own))
    found.append(f".SH EXIT STATUS\n{PASSED_ON if command in PASSES_ON else ''}{STATUS}")
    shown = [examples(leaf) for leaf in dict.fromkeys([parser, *(leaf for _, _, leaf in all_of_it)])]
    if any(shown):
        found.append(".SH EXAMPLES\n" + ".PP\n".join(filter(None, shown)))
    found.append(f".SH SEE ALSO\n{see_also(command, sections)}")
    return "".join(found)


def see_also(command: str, sections: dict[str, int]) -> str:
    names = []
    for name in ["david(8)", *SEE[command].split()]:
        bare, _, number = name.partition("(")
        names.append((bare, number.rstrip(")") or str(sections[bare.removeprefix("david-")])))
    lines = [f".BR {roff(name)} ({number})" for name, number in names]
    return ",\n".join(lines) + "\n"


def index(commands: list[tuple[str, str]], sections: dict[str, int]) -> str:
    """For david(8)."""
    return "".join(
        f".TP\n.BR david\\-{name} ({sections[name]})\n{plain(text)}\n" for name, text in commands
    )


def pages(version: str) -> dict[str, str]:
    """By file name: the page; and for david.8 what stands for @COMMANDS@."""
    top = program()
    rooms = top.get_default("rooms")
    commands = below(top)
    sections = {name: section_of(rooms[name], name) for name in commands}
    made = {
        f"david-{name}.{sections[name]}": page(name, parser, text, sections, version)
        for name, (parser, text) in commands.items()
    }
    made["commands"] = index([(name, text) for name, (_, text) in commands.items()], sections)
    return made


def main() -> int:
    if sys.argv[1:] == ["--names"]:
        print("\n".join(sorted(name for name in pages("") if name != "commands")))
        return 0
    out, version = Path(sys.argv[1]), sys.argv[2]
    out.mkdir(parents=True, exist_ok=True)
    for name, text in pages(version).items():
        (out / name).write_text(text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError) as error:
        sys.exit(f"manpages: {error}")
