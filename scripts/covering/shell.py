"""Splits a shell line into the stages of its pipelines and lists."""

import re

BRACES = re.compile(r"\{[^{}\s]*(,|\.\.)[^{}\s]*\}")


class Unreadable(Exception):
    """Why a line is more than words."""


def stages(line):
    """The stages of a line, each a list of words. Raises Unreadable if a shell would do more than start them."""
    found, words, at = [], [], 0
    while at < len(line):
        if line[at].isspace():
            at += 1
        elif line[at] in "|;&":
            at = operator(line, at)
            found.append(words)
            words = []
        else:
            text, at = word(line, at)
            words.append(text)
    if words or not found:
        found.append(words)
    if [] in found:
        raise Unreadable("stage without words")
    return found


def operator(line, at):
    """The end of an operator. A bar without spaces is how documentation writes alternatives."""
    found = re.compile(r"&&|\|\||\||;").match(line, at)
    if not found:
        raise Unreadable("&")
    if found[0] == "|" and re.match(r"\S\|\S", line[max(at - 1, 0):at + 2]):
        raise Unreadable("| without spaces")
    return found.end()


def word(line, at):
    """The word that starts here, without quotes, and its end."""
    text, start = "", at
    while at < len(line) and not line[at].isspace() and line[at] not in "|;&":
        char = line[at]
        if char in "'\"":
            inside, at = quoted(line, at)
            text += inside
        elif char == "\\":
            text += line[at + 1:at + 2]
            at += 2
        elif char in "<>()" or char == "*" or char == "~" and at == start:
            raise Unreadable(char if char in "<>()" else f"{char} without quotes")
        elif BRACES.match(line, at):
            raise Unreadable("braces")
        else:
            refuse_expansion(line[at:at + 2] if char in "$`" else "")
            text += char
            at += 1
    return text, at


def quoted(line, at):
    """The text in the quotes that start here, and the end behind them."""
    found = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)\"""", re.S).match(line, at)
    if not found:
        raise Unreadable("quote without end")
    if found[1] is not None:
        return found[1], found.end()
    refuse_expansion(re.sub(r"\\.", "", found[2]))
    return re.sub(r'\\([$`"\\])', r"\1", found[2]), found.end()


def refuse_expansion(text):
    """Refuses variables and command substitutions."""
    found = re.search(r"`|\$[\w{(!#?$@*'\"-]", text)
    if found:
        raise Unreadable(found[0])
