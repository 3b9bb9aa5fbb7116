"""Searches arguments with which a tool gives the words of a line."""

import re
from itertools import takewhile

from .args import MAX_ITEMS, ONE_DASH, ORDERED, SEVERAL_WORDS, items, most_values, problem


class Match:
    """The search for one tool and line. It goes on where words can be read in several ways.

    `reason` says why it failed, at the word to which it came furthest; `progress` counts the words before.
    """

    def __init__(self, tool, words):
        self.tool, self.words = tool, words
        self.reason, self.progress = "no such subcommand", -1
        self.found = self.walk(words, Read())

    def fail(self, words, reason):
        """Notes why the search failed before the words that are left, or with None behind all of them."""
        progress = len(self.words) - len(words) if words is not None else len(self.words) + 1
        if progress > self.progress:
            self.progress, self.reason = progress, reason
        return False

    def walk(self, words, read):
        """Whether the tool gives what is left of the line."""
        tool = self.tool
        seen = len(read.operands)
        if not words:
            return self.finish(read)
        if seen >= len(tool.subcommand) and self.rest_starts(read.operands[len(tool.subcommand):]):
            return self.finish(read.with_operands(words))
        word = words[0]
        if word == "--":
            if not tool.dashes or seen < len(tool.subcommand) or len(words) == 1:
                return self.fail(words, "unknown option: --")
            return self.finish(read, words[1:])
        if any(self.walk(rest, after) for rest, after in self.options(words, read)):
            return True
        if word.startswith("-") and word != "-":
            return self.fail(words, f"unknown option: {word.partition('=')[0]}")
        if seen < len(tool.subcommand) and word != tool.subcommand[seen]:
            return self.fail(words, f"no such subcommand: {word}")
        return self.walk(words[1:], read.with_operands([word]))

    def options(self, words, read):
        """The ways to read an option at the start of the words: the words behind it, and what is read then."""
        tool = self.tool
        section = min(len(read.operands), len(tool.subcommand))
        for constant in tool.constants:
            if constant not in read.constants and tool.same_section(constant.section, section):
                rest = self.behind(constant, words)
                if rest is not None:
                    yield rest, read.with_constant(constant)
        for form, rest in self.forms(words):
            name = form.arg["name"]
            before, order = tool.where[name]
            if not tool.same_section(before, section):
                continue
            for values, left in self.values(form, words, rest, read.given.get(name, [])):
                yield left, read.with_values(name, values, order)

    def forms(self, words):
        """The forms that fit the first words, and the words behind. Of a cluster the next options stay."""
        for form in self.tool.forms_at(words[0]):
            if form.match(words) is not None:
                yield form, words[len(form.words):]
        first = words[0][:2]
        if self.is_cluster(words[0]):
            for form in self.tool.forms_at(first):
                if form.words == [first]:
                    yield form, ["-" + words[0][2:], *words[1:]]

    def is_cluster(self, word):
        return self.tool.program not in ONE_DASH and re.fullmatch(r"-[A-Za-z0-9][^-].*", word, re.S)

    def behind(self, constant, words):
        """The words behind a constant; None if they don't start with it."""
        for way in constant.ways(self.tool.same):
            if words[:len(way)] == way:
                return words[len(way):]
            if len(way) == 1 and self.is_cluster(words[0]) and words[0].startswith(way[0]):
                return ["-" + words[0].removeprefix(way[0]), *words[1:]]
        return None

    def values(self, form, words, rest, before):
        """The values of an arg with those of a form, and the words behind: the most of a list of words first."""
        arg = form.arg
        value = form.match(words) if form.value is None else form.value
        if len(before) >= most_values(arg):
            self.fail(words, f"several values of one arg: {arg['name']}")
        elif form.value is None and problem(arg, value):
            self.fail(words, f"value not allowed: {problem(arg, value)}")
        else:
            listed = rest if arg["shape"] in SEVERAL_WORDS else []
            more = len(list(takewhile(lambda word: is_plain(word) and not problem(arg, word), listed)))
            for taken in range(more, -1, -1):
                yield [*before, value, *rest[:taken]], rest[taken:]

    def rest_starts(self, operands):
        """Whether operands fill all places before a rest, so that what follows belongs to it."""
        for slot in self.tool.slots:
            if slot.behind or slot.shape == "list":
                return False
            if slot.shape == "rest":
                return not operands
            if slot.shape == "map":
                while operands and "=" in operands[0]:
                    operands = operands[1:]
            elif operands:
                operands = operands[1:]
            elif slot.required:
                return False
        return False

    def finish(self, read, behind=None):
        """Whether the operands fit their places and nothing is missing. `behind` has the words behind `--`."""
        tool = self.tool
        count = len(tool.subcommand)
        if len(read.operands) < count:
            return self.fail([], f"no such subcommand: without {tool.subcommand[len(read.operands)]}")
        operands = read.operands[count:]
        slots = [slot for slot in tool.slots if slot.word or slot.name not in read.given]
        if behind is None and not tool.needs_dashes():
            filled = self.fit(slots, operands)
        else:
            first = self.fit([slot for slot in slots if not slot.behind], operands)
            second = self.fit([slot for slot in slots if slot.behind], behind or [])
            filled = None if first is None or second is None else first + second
        if filled is None:
            return False
        missing = self.missing(read, filled)
        if missing:
            return self.fail(None, missing)
        if tool.program in ORDERED and not read.is_ordered(count, filled):
            return self.fail(None, "other order")
        return True

    def fit(self, slots, operands):
        """The slot of each operand; None if they don't fit."""
        if not slots:
            if operands:
                self.fail([], f"too many operands: {operands[0]}")
            return None if operands else []
        slot, others = slots[0], slots[1:]
        least, most = bounds(slot, others)
        if len(operands) < least:
            self.fail([], f"missing required: {slot.name}")
        for taken in range(min(most, len(operands)), least - 1, -1):
            wrong = next(filter(None, (problem_of_operand(slot, word) for word in operands[:taken])), "")
            if wrong:
                self.fail([], wrong)
                continue
            fitted = self.fit(others, operands[taken:])
            if fitted is not None:
                return [slot] * taken + fitted
        return None

    def missing(self, read, filled):
        """What a line lacks for a call of the tool, or has too much; empty if nothing."""
        given = set(read.given) | {slot.name for slot in filled if slot.arg}
        for constant in self.tool.constants:
            if constant.must_stand and constant not in read.constants:
                return f"missing required: {' '.join(constant.words)}"
        for name, arg in self.tool.args.items():
            is_free = arg["place"] not in ("option", "positional") or arg["output"] or arg["default"] is not None
            if arg["required"] and not is_free and name not in given:
                return f"missing required: {name}"
            if name in read.given and arg["min_items"] and items(arg, read.given[name]) < arg["min_items"]:
                return f"missing required: more items of {name}"
        given = {name for name in given if read.given.get(name) != ["false"]}
        for group in self.tool.groups:
            rule, names = group["rule"], ", ".join(group["args"])
            count = len(given.intersection(group["args"]))
            if rule == "exactly_one" and not count or rule == "together" and 0 < count < len(group["args"]):
                return f"missing required: {names}"
            if rule in ("exactly_one", "at_most_one") and count > 1:
                return f"value not allowed: several of {names}"
        return ""


class Read:
    """What has been read of a line."""

    def __init__(self, operands=(), given=None, constants=(), order=()):
        self.operands, self.given, self.constants, self.order = list(operands), given or {}, constants, order

    def with_operands(self, words):
        return Read([*self.operands, *words], self.given, self.constants, (*self.order, *[None] * len(words)))

    def with_constant(self, constant):
        order = self.order if constant.order is None else (*self.order, constant.order)
        return Read(self.operands, self.given, (*self.constants, constant), order)

    def with_values(self, name, values, order):
        return Read(self.operands, self.given | {name: values}, self.constants, (*self.order, order))

    def is_ordered(self, subcommands, filled):
        """Whether the words stand in the order of the tool's command."""
        operands = iter([0] * subcommands + [slot.order for slot in filled])
        order = [next(operands) if place is None else place for place in self.order]
        return order == sorted(order)


def is_plain(word):
    return word == "-" or not word.startswith("-")


def bounds(slot, others):
    """The least and the most operands of a slot."""
    if slot.word:
        return 1, 1
    arg = slot.arg
    if slot.shape in ("list", "map", "rest", *SEVERAL_WORDS):
        return (arg["min_items"] or 1) if arg["required"] else 0, arg["max_items"] or MAX_ITEMS
    # A call that leaves out an operand before a required one is refused.
    is_needed = not slot.behind and any(other.required and not other.behind for other in others)
    is_free = arg["default"] is not None or arg["output"] or not (arg["required"] or is_needed)
    return (0 if is_free else 1), 1


def problem_of_operand(slot, word):
    """Why a word is none of a slot, as a reason; empty if it is one."""
    if slot.word:
        return "" if word == slot.word else f"missing required: {slot.word}"
    found = problem(slot.arg, word) if slot.shape != "rest" else ""
    return f"value not allowed: {found}" if found else ""
