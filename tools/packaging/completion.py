#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Completion of david's and david-sim's command lines, for bash and zsh.

    completion.py bash|zsh DAVID-SIM

David's commands and options are read from its own argparse parsers, david-sim's from what its --help
prints: what is added there is completed without a change here.

shtab makes completions of argparse, too. But david-sim is no Python, and disks and profiles are names that
only this project knows: both would be here still. argcomplete starts Python at each press of the key, and
david needs nothing but Python where it is installed.
"""

from __future__ import annotations

import argparse
import importlib.machinery
import importlib.util
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[1]
# By the name of a value in a usage line: what to offer for it.
FILES = ("FILE", "DEV", "IMAGE", "OUT", "DIR", "TRACE", "WORKLOAD", "TARGET", "T.csv",
         "MODELLED.csv", "JOBS", "WHAT")
PROFILES = ("P", "PROFILE", "P_OR_PARAMS")
DISKS = ("NAME",)


@dataclass
class Option:
    names: list[str]
    value: str = ""  # its name; empty: takes none
    words: tuple[str, ...] = ()
    help: str = ""


@dataclass
class Command:
    name: str
    help: str = ""
    options: list[Option] = field(default_factory=list)
    values: list[Option] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)

    def everything(self, path: str = "") -> list[tuple[str, Command]]:
        """This command and all below it, with the words that lead there."""
        found = [(path, self)]
        for command in self.commands:
            found += command.everything(f"{path} {command.name}".strip())
        return found


def first_sentence(text: str | None) -> str:
    return re.split(r"[:;(]|\.\s", (text or "").replace("%(default)s", "").replace("%%", "%"))[0].strip()


def words_of(action: argparse.Action) -> tuple[str, ...]:
    if action.choices:
        return tuple(str(choice) for choice in action.choices)
    return tuple(getattr(action.type, "words", ()))


def of_parser(parser: argparse.ArgumentParser, name: str, text: str = "") -> Command:
    command = Command(name, text)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help for choice in action._choices_actions}
            for key, sub in action.choices.items():
                command.commands.append(of_parser(sub, key, first_sentence(helps.get(key))))
            continue
        if action.help == argparse.SUPPRESS:
            continue
        metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
        value = Option(list(action.option_strings), "" if action.nargs == 0 else metavar, words_of(action),
                       first_sentence(action.help))
        (command.options if action.option_strings else command.values).append(value)
    return command


def david() -> Command:
    loader = importlib.machinery.SourceFileLoader("david_program", str(TOOLS / "david"))
    spec = importlib.util.spec_from_loader("david_program", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return of_parser(module.parser_of(), "david")


def said_of(program: Path, *words: str) -> str:
    return subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=False).stdout


def of_help(name: str, text: str) -> Command:
    """A command of david-sim, by its help."""
    command = Command(name)
    found: dict[str, str] = {}
    for option, value in re.findall(r"(--[a-z][a-z-]*)(?:[ =]([A-Z][A-Za-z.:=_]*))?", text):
        found[option] = found.get(option) or value
    command.options = [Option([option], value) for option, value in found.items()]
    return command


def david_sim(program: Path) -> Command:
    text = said_of(program)
    top = Command("david-sim", options=[Option(["--help"])])
    for name in dict.fromkeys(re.findall(r"^(?:Usage:|      ) david-sim ([a-z-]+)", text, re.M)):
        of_it = said_of(program, name) if f"david-sim {name} --help" in text else text
        command = of_help(name, of_it)
        for line in re.findall(rf"david-sim {name} ([a-z|]+)", of_it):
            for sub in line.split("|"):
                if sub not in [known.name for known in command.commands]:
                    command.commands.append(Command(sub, options=command.options))
        for sub in command.commands:
            sub.values = [Option([], "P")]
        top.commands.append(command)
    return top


def bash_value(option: Option) -> str:
    if option.words:
        return f"COMPREPLY=($(compgen -W {quoted(' '.join(option.words))} -- \"$cur\"))"
    if option.value in PROFILES:
        return "_david_profiles"
    if option.value in DISKS:
        return "_david_disks"
    if option.value in FILES or option.value.startswith("FILE"):
        return "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$cur\"))"
    return ":"


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


BASH_HEAD = """\
# SPDX-License-Identifier: GPL-2.0
# Made by tools/packaging/completion.py from the programs' own parsers.

_david_profiles()
{
	local file
	COMPREPLY=($(compgen -W "$(for file in /usr/share/dm-david/profiles/*.profile \\
		/usr/local/share/dm-david/profiles/*.profile; do
		[[ -e $file ]] && basename "$file" .profile
	done)" -- "$cur"))
	compopt -o filenames 2>/dev/null
	COMPREPLY+=($(compgen -f -- "$cur"))
}

_david_disks()
{
	local entry names=
	for entry in /sys/block/dm-*/dm; do
		[[ -r $entry/uuid && $(<"$entry/uuid") == DAVID-* ]] && names+=" $(<"$entry/name")"
	done
	COMPREPLY=($(compgen -W "$names" -- "$cur"))
}
"""


def bash_function(top: Command, function: str) -> str:
    all_of_it = top.everything()
    paths = " ".join(quoted(path) for path, _ in all_of_it if path)
    lines = [f"{function}()", "{",
             "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path= word i",
             f"\tlocal -a paths=({paths})",
             "\tfor ((i = 1; i < COMP_CWORD; i++)); do",
             "\t\tword=${path:+$path }${COMP_WORDS[i]}",
             "\t\t[[ \" ${paths[*]/#/:} \" == *\" :$word \"* ]] && path=$word",
             "\tdone",
             "\tcase $path:$prev in"]
    for path, command in all_of_it:
        for option in command.options:
            if option.value:
                for name in option.names:
                    lines.append(f"\t{quoted(path + ':' + name)}) {bash_value(option)}; return ;;")
    lines += ["\tesac", "\tcase $path in"]
    for path, command in all_of_it:
        names = " ".join(name for option in command.options for name in option.names)
        offered = " ".join(sub.name for sub in command.commands)
        lines.append(f"\t{quoted(path)})")
        lines.append("\t\tif [[ $cur == -* ]]; then")
        lines.append(f"\t\t\tCOMPREPLY=($(compgen -W {quoted(names)} -- \"$cur\"))")
        lines.append("\t\telse")
        if offered:
            lines.append(f"\t\t\tCOMPREPLY=($(compgen -W {quoted(offered)} -- \"$cur\"))")
        elif command.values:
            lines.append(f"\t\t\t{bash_value(command.values[0])}")
        else:
            lines.append("\t\t\t:")
        lines += ["\t\tfi", "\t\t;;"]
    lines += ["\tesac", "}", f"complete -F {function} {top.name}"]
    return "\n".join(lines) + "\n"


def zsh_text(text: str) -> str:
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "’")


def zsh_value(option: Option) -> str:
    name = zsh_text(option.value.lower()) or " "
    if option.words:
        return f":{name}:({' '.join(zsh_text(word) for word in option.words)})"
    if option.value in PROFILES:
        return f":{name}:_david_profiles"
    if option.value in DISKS:
        return f":{name}:_david_disks"
    if option.value in FILES or option.value.startswith("FILE"):
        return f":{name}:_files"
    return f":{name}: "


def zsh_specs(command: Command) -> list[str]:
    specs = []
    for option in command.options:
        for name in option.names:
            text = f"[{zsh_text(option.help)}]" if option.help else ""
            specs.append(f"'*{name}{text}{zsh_value(option) if option.value else ''}'")
    return specs


ZSH_HEAD = """\
#compdef david david-sim
# SPDX-License-Identifier: GPL-2.0
# Made by tools/packaging/completion.py from the programs' own parsers.

_david_profiles() {
	local -a names
	names=(/usr/share/dm-david/profiles/*.profile(N:t:r) /usr/local/share/dm-david/profiles/*.profile(N:t:r))
	_alternative "profiles:profile:($names)" 'files:file:_files'
}

_david_disks() {
	local -a names
	local entry
	for entry in /sys/block/dm-*/dm(N); do
		[[ "$(<$entry/uuid)" == DAVID-* ]] && names+=("$(<$entry/name)")
	done
	_describe disk names
}
"""


def zsh_function(top: Command) -> str:
    text = []
    for path, command in reversed(top.everything()):
        function = "_" + "_".join([top.name, *path.split()]).replace("-", "_")
        lines = [f"{function}() {{", "\tlocal curcontext=$curcontext state line", "\tlocal -a commands"]
        specs = zsh_specs(command)
        if command.commands:
            lines.append("\tcommands=(")
            lines += [f"\t\t'{zsh_text(sub.name)}:{zsh_text(sub.help)}'" for sub in command.commands]
            lines.append("\t)")
            specs += ["'1:command:->command'", "'*::argument:->argument'"]
        elif command.values:
            specs.append(f"'*{zsh_value(command.values[0])}'")
        lines.append("\t_arguments -C \\")
        lines.append(" \\\n".join(f"\t\t{spec}" for spec in specs or ["'*: : '"]))
        if command.commands:
            lines += ["\tcase $state in", "\tcommand) _describe command commands ;;", "\targument)",
                      "\t\tcase $line[1] in"]
            for sub in command.commands:
                lines.append(f"\t\t{sub.name}) {function}_{sub.name.replace('-', '_')} ;;")
            lines += ["\t\tesac", "\t\t;;", "\tesac"]
        lines.append("}")
        text.append("\n".join(lines) + "\n")
    return "\n".join(text)


def main() -> int:
    shell, sim = sys.argv[1], Path(sys.argv[2]).resolve()
    commands = david(), david_sim(sim)
    if shell == "bash":
        print(BASH_HEAD)
        print(bash_function(commands[0], "_david"))
        print(bash_function(commands[1], "_david_sim"), end="")
    else:
        print(ZSH_HEAD)
        print("\n".join(zsh_function(command) for command in commands))
        print('case $service in\ndavid-sim) _david_sim "$@" ;;\n*) _david "$@" ;;\nesac')
    return 0


if __name__ == "__main__":
    sys.exit(main())
