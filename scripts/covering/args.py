"""The ways to write an arg on a command line, and the values it takes."""

import re
import shlex
from dataclasses import dataclass

# Programs without subcommands for which the order of options and operands counts.
ORDERED = {"convert", "env", "ffmpeg", "ffprobe", "find", "magick", "nice", "ssh", "test", "timeout", "xargs"}
# Programs whose long options have one dash, so that `-la` is not `-l -a`.
ONE_DASH = {"convert", "ffmpeg", "ffprobe", "find", "gcc", "magick", "openssl", "sqlite3", "terraform"}
# Programs in Go. They take `-x=y` for `-x y`, and `--x=true` for `--x`.
GO = {"docker", "gh", "helm", "kubectl", "terraform"}
# Options with an optional value, which only `=` joins to them: of a program, and of those without subcommands.
OPTIONAL = {
    "git": {"--abbrev", "--color", "--decorate", "--dirstat", "--dirty", "--find-copies", "--find-renames",
            "--force-with-lease", "--gpg-sign", "--ignore-submodules", "--notes", "--porcelain", "--pretty", "--rebase",
            "--recurse-submodules", "--relative", "--signed", "--stat", "--submodule", "--track", "--untracked-files",
            "--word-diff"},
    "kubectl": {"--cascade", "--dry-run"},
    "": {"--all-repeated", "--backup", "--classify", "--color", "--colour", "--hyperlink", "--iso-8601", "--preserve",
         "--preserve-root", "--reflink", "--unified", "--update"},
}
# What documentation writes for a number.
NUMBER = re.compile(r"n|number_of_\w+|(\w+_)?(bytes|count|days|depth|integer|level|limit|lines|minutes|number|port"
                    r"|seconds|width)")

HOLE = re.compile(r"\{(key|value|)\}")
SEVERAL_WORDS = {"list of words", "map of words"}
MAPS = {"map", "map of words", "joined map"}
JOINED = {"joined list", "joined map"}
MAX_COUNT = 10
MAX_ITEMS = 1000


@dataclass
class Form:
    """One way to write an option: words, of which some have holes for the value."""

    words: list
    arg: dict
    value: str = None  # What words without holes stand for.

    def match(self, line):
        """The value in the words that a line starts with, a pair for a map; None if it doesn't start so."""
        if len(line) < len(self.words):
            return None
        holes = {}
        for pattern, word in zip(self.words, line):
            parts = HOLE.split(pattern)
            if len(parts) == 1 and pattern != word or not word.startswith(parts[0]):
                return None
            if len(parts) > 1:
                # `-n` is not `-n{}` with an empty value.
                if word and word == parts[0] and not word.endswith("="):
                    return None
                regex = re.escape(parts[0])
                for name, text in zip(parts[1::2], parts[2::2]):
                    regex += ("(.+?)" if name == "key" else "(.*)") + re.escape(text)
                found = re.fullmatch(regex, word, re.S)
                if not found:
                    return None
                holes.update(zip((name or "value" for name in parts[1::2]), found.groups()))
        return (holes["key"], holes["value"]) if "key" in holes else holes.get("value", self.value)


def split(flag):
    """The words of a flag."""
    try:
        return shlex.split(flag)
    except ValueError:
        return flag.split()


def choices(arg):
    """The allowed values of an arg, each with its words or None."""
    found = (choice if isinstance(choice, dict) else {"value": choice, "words": None} for choice in arg["enum"])
    return {str(choice["value"]): choice["words"] for choice in found}


def forms(arg, program, optional):
    """All ways to write an arg that is an option, or one whose values have words."""
    for value, words in choices(arg).items():
        if words:
            yield Form(split(words), arg, value)
    if arg["place"] != "option":
        return
    for flag in (arg["flag"], *arg["aliases"]):
        words = split(flag)
        if arg["type"] == "boolean" or arg["shape"] == "count":
            yield from switch(words, arg, program)
        else:
            for way in spellings(with_hole(words), program, optional):
                yield Form(way, arg)
    if arg["off"]:
        yield Form(split(arg["off"]), arg, "false")


def switch(words, arg, program):
    """The ways to write an option without value."""
    if words[-1].endswith("="):
        yield Form([*words[:-1], words[-1] + "true"], arg, "true")
        return
    yield Form(words, arg, "true")
    if program in GO:
        yield Form([*words[:-1], words[-1] + "=true"], arg, "true")


def with_hole(words):
    """The words of a flag with the hole for its value."""
    if any(HOLE.search(word) for word in words):
        return words
    return [*words[:-1], words[-1] + "{}"] if words[-1].endswith("=") else [*words, "{}"]


def spellings(words, program, optional):
    """All ways to write an option with its value: more than one if its words leave a choice."""
    if len(words) == 2 and words[1] == "{}":
        name = words[0]
    elif len(words) == 1 and words[0].endswith("={}"):
        name = words[0].removesuffix("={}")
    else:
        return [words]
    joined, apart = [name + "={}"], [name, "{}"]
    if name.startswith("--"):
        ways = [joined] if name in optional else [joined, apart]
    elif re.fullmatch(r"-[^-]", name) and program not in ONE_DASH:
        ways = [apart, [name + "{}"]] + [joined] * (program in GO)
    else:
        ways = [joined, apart] if name.startswith("-") and program in GO else []
    return ways if words in ways else [words, *ways]


def problem(arg, value):
    """Why the text in the hole of an arg is none of its values; empty if it is one."""
    shape, name = arg["shape"], arg["name"]
    if isinstance(value, tuple):
        return problem_of_one(arg, value[1])
    texts = value.split(arg["separator"]) if shape in JOINED else [value]
    for text in texts:
        if shape in MAPS:
            key, equals, text = text.partition("=")
            if not key or not equals:
                return f"{value} for {name}, which takes NAME=VALUE"
        elif not text and shape != "single":
            return f"an empty item for {name}"
        if problem_of_one(arg, text):
            return problem_of_one(arg, text)
    return ""


def problem_of_one(arg, value):
    """Why a text is no single value of an arg; empty if it is one."""
    name, allowed = arg["name"], choices(arg)
    if allowed:
        return "" if value in allowed and not allowed[value] else f"{value} for {name}, which has an enum"
    number = None
    if arg["type"] in ("integer", "number"):
        if NUMBER.fullmatch(value):
            return ""
        digits = r"[+-]?\d+" if arg["type"] == "integer" else r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?"
        if not re.fullmatch(digits, value):
            return f"{value} for {name}, which is a number"
        number = float(value)
    for rule in arg["rules"]:
        low, high = rule["min"], rule["max"]
        if rule["pattern"] and not fits(rule["pattern"], value):
            return f"{value} for {name}, which has a pattern"
        if number is not None and (low is not None and number < low or high is not None and number > high):
            return f"{value} for {name}, which has bounds"
    return ""


def fits(pattern, value):
    """Whether a pattern matches; one that only Rust can read does."""
    try:
        return re.fullmatch(pattern, value)
    except re.error:
        return True


def most_values(arg):
    """How often an option may stand on a command line."""
    if arg["shape"] == "count":
        return int(min((rule["max"] for rule in arg["rules"] if rule["max"] is not None), default=MAX_COUNT))
    return (arg["max_items"] or MAX_ITEMS) if arg["shape"] in ("list", "map") else 1


def items(arg, values):
    """The number of items in the values of a list or map."""
    return sum(len(value.split(arg["separator"])) for value in values) if arg["shape"] in JOINED else len(values)
