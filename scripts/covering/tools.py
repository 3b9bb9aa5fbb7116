"""Tools as the words that their calls can have."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .args import HOLE, OPTIONAL, ORDERED, forms, split

# Constants of a command that say how to print, not what to do: colour, pager, progress, prompts, forms for machines.
# Some keep a program from what a config must not allow. Other constants must stand in the line.
HARMLESS = re.compile(r"""--?(
    colou?r(=.*)? | no-?colou?r | no-(cli-)?pager | no-ext-diff | no-textconv | (no-)?progress | no-column | ansi(=.*)?
    | hide_banner | nostdin | nostats | loglevel | no-ask-password | input=false | no-input | no-edit | auto-approve
    | yes | assume-?yes | non-?interactive | batch | bail | full | plain | verbose | changes | unified | line-number
    | with-filename | print-type | porcelain(=.*)? | json | format=json | output=json | time-style(=.*)?
    | detailed-exitcode | sS | silent | globoff | proto | proto-redir | protocol_whitelist | sandbox | safe
    | preserve-root(=.*)? | force-local | lock-timeout(=.*)? | no-update-notifier
)""", re.X)
# Programs without subcommands, whose constants might look like one.
PLAIN = ORDERED | {"curl", "jq", "sqlite3"}
# Programs that take options before and behind their subcommand alike.
FREE = {"aws", "gh", "helm", "journalctl", "kubectl", "npm", "pip", "systemctl"}
# Commands of git for which `--` parts revisions from paths.
PARTED = {"archive", "bisect", "blame", "checkout", "diff", "diff-index", "diff-tree", "difftool", "format-patch",
          "grep", "log", "ls-tree", "reset", "rev-list", "rev-parse", "shortlog", "show", "whatchanged"}
SUBCOMMAND = re.compile(r"[a-z][a-z0-9-]*")
PLACE = re.compile(r"\{([\w.-]+)\}")


@dataclass(eq=False)
class Constant:
    """Option words of a config."""

    words: list
    section: int | None  # How many subcommand words stand before; None if it may stand anywhere, as `always` does.
    order: int | None
    must_stand: bool

    def ways(self, same):
        """The ways to write it, given which options of the command are the same."""
        name, equals, value = self.words[0].partition("=")
        tail = [value] if equals else self.words[1:]
        for other in same.get(name, {name}):
            yield [other, *tail]
            if len(tail) == 1:
                yield [f"{other}={tail[0]}"]


@dataclass
class Slot:
    """The place of an operand: a word of the config, or a positional arg."""

    order: int
    behind: bool  # Whether `--` stands before it.
    word: str = ""
    arg: dict = None

    @property
    def name(self):
        return self.word or self.arg["name"]

    @property
    def shape(self):
        return self.arg["shape"] if self.arg else "single"

    @property
    def required(self):
        return not self.arg or self.arg["required"]


class Tool:
    """A tool as the words that its calls can have."""

    def __init__(self, raw, has_subcommands):
        self.program = Path(raw["command"][0]).name
        self.has_subcommands = has_subcommands
        self.groups = raw["groups"]
        self.args = {arg["name"]: as_operand(arg) for arg in raw["args"]}
        self.subcommand, self.constants, self.slots, self.dashes = [], [], [], False
        self.where = {}  # By option: how many subcommand words stand before, and the order.
        for order, part in enumerate(raw["command"][1:], 1):
            self.add(part, order)
        for constant in self.constants:
            # What stands before the subcommand sets up the program, as `git -c NAME=VALUE` does.
            constant.must_stand &= constant.section > 0 or not self.subcommand
        self.add_others(raw, len(raw["command"]))

    def add(self, part, order):
        """Adds a part of the command."""
        place = PLACE.fullmatch(part)
        last = self.constants[-1] if self.constants else None
        takes_value = last and last.order == order - 1 and len(last.words) == 1 and "=" not in last.words[0]
        is_name = self.has_subcommands and SUBCOMMAND.fullmatch(part)
        if place and place[1] in self.args:
            self.add_arg(self.args[place[1]], order)
        elif part == "{options}":
            self.options = (len(self.subcommand), order)
        elif part == "--":
            self.dashes = True
        elif part.startswith("-") and part != "-" and not self.dashes:
            self.constants.append(Constant([part], len(self.subcommand), order, not HARMLESS.fullmatch(part)))
        elif takes_value and not (is_name and not self.subcommand):
            last.words.append(part)
        elif is_name and not self.slots:
            self.subcommand.append(part)
        else:
            self.slots.append(Slot(order, self.dashes, word=part))

    def add_arg(self, arg, order):
        """Adds an arg at its place."""
        if arg["place"] == "positional":
            self.dashes |= arg["flag"] == "--"
            self.slots.append(Slot(order, self.dashes, arg=arg))
        self.where[arg["name"]] = (len(self.subcommand), order)

    def add_others(self, raw, end):
        """Adds what has no place in the command."""
        has_rest = any(arg["shape"] == "rest" for arg in self.args.values())
        options = getattr(self, "options", (len(self.subcommand), end if has_rest else end + 2))
        for arg in self.args.values():
            if arg["name"] not in self.where and arg["place"] == "positional":
                self.add_arg(arg, end + 1)
            self.where.setdefault(arg["name"], options)
        words = [[word] for word in raw["always"]]
        for arg in raw["global_args"]:
            if arg["flag"] and arg["default"] is not None:
                words.append(split(arg["flag"]) + [arg["default"]] * (arg["type"] != "boolean"))
        self.constants += [Constant(each, None, None, False) for each in words]

    @cached_property
    def forms(self):
        """The forms of all options: by their first word, and those that have a hole in it."""
        switches = {flag for arg in self.args.values() if arg["type"] == "boolean" and arg["place"] == "option"
                    for flag in (arg["flag"], *arg["aliases"])}
        optional = switches | OPTIONAL.get(self.program if self.has_subcommands else "", set())
        known, holed = {}, []
        for arg in self.args.values():
            for form in forms(arg, self.program, optional):
                if HOLE.search(form.words[0]):
                    holed.append((HOLE.split(form.words[0])[0], form))
                else:
                    known.setdefault(form.words[0], []).append(form)
        return known, holed

    def forms_at(self, word):
        """The forms that a word may start."""
        known, holed = self.forms
        return known.get(word, []) + [form for start, form in holed if word.startswith(start)]

    def needs_dashes(self):
        """Whether a line without `--` means something else than one with it."""
        if any(slot.behind and slot.shape == "rest" for slot in self.slots):
            return True
        return self.program == "git" and not PARTED.isdisjoint(self.subcommand[:1])

    def same_section(self, one, other):
        """Whether an option may stand behind so many subcommand words instead of so many others."""
        return one is None or one == other or self.program in FREE


def as_operand(arg):
    """An option whose flag is `--` is an operand behind `--`."""
    return arg | {"place": "positional"} if arg["flag"] == "--" else arg


def tools_of(raw):
    """The tools of one program, each with the options of its subcommand that are the same."""
    program = Path(raw[0]["command"][0]).name
    has_subcommands = program not in PLAIN and any(starts_with_subcommand(tool["command"][1:]) for tool in raw)
    tools = [Tool(each, has_subcommands) for each in raw]
    same = {}
    for tool in tools:
        names = same.setdefault(tuple(tool.subcommand), {})
        for arg in tool.args.values():
            flags = [flag for flag in (arg["flag"], *arg["aliases"]) if flag and not HOLE.search(flag)]
            flags = {flag.removesuffix("=") for flag in flags}
            for flag in flags:
                names.setdefault(flag, {flag}).update(flags)
    for tool in tools:
        tool.same = same[tuple(tool.subcommand)]
    return tools


def starts_with_subcommand(parts):
    """Whether a name is the first word behind places and constants without a value."""
    first = next((part for part in parts if not PLACE.fullmatch(part) and not HARMLESS.fullmatch(part)), "")
    return SUBCOMMAND.fullmatch(first)
