"""What agents' own rules say of a line: lists and prefixes as their manuals describe them, and Codex's own program.

None of these is the agent itself. Claude Code and Gemini CLI have no command that judges a line, so their rules are
written again here from what is documented; Codex's rules are judged by `codex execpolicy check`.
"""

import json
import re
import subprocess

# What Claude Code's manual lists as running without a question: https://code.claude.com/docs/en/permissions
LISTED = set("ls cat echo pwd head tail grep find wc which diff stat du cd".split())
# Its manual adds the reading forms of git, without naming them.
LISTED_GIT = set("status log diff show blame shortlog describe rev-parse ls-files ls-tree reflog".split())
# Those that the manual strips in front of a command, with the number of words that they take for themselves.
WRAPPERS = {"timeout": 1, "time": 0, "nice": 0, "nohup": 0, "stdbuf": 0}
# Those whose unquoted patterns could become options that write.
GLOBS_ASK = {"find", "sort", "sed", "git"}

# What people let pass by rules of their own: programs that mostly read, ...
FIRST = LISTED | set(
    "rg fd sort uniq cut tr sed awk jq yq tree file date printf type basename dirname realpath readlink cmp comm paste "
    "column nl tac rev fold join seq test true false env printenv id whoami uname hostname ps pgrep uptime free df "
    "lsof md5sum sha256sum base64 xxd od strings less more man".split()
)
# ... and subcommands that do.
SUBCOMMANDS = {
    "git": "status|log|diff|show|blame|branch|tag|remote|shortlog|describe|rev-parse|rev-list|ls-files|ls-tree|grep",
    "gh": "pr view|pr list|pr diff|pr checks|issue view|issue list|run view|run list|repo view|search",
    "docker": "ps|images|logs|inspect|version|info|stats|top|port",
    "kubectl": "get|describe|logs|explain|version|api-resources|cluster-info|top",
    "helm": "list|status|history|show|search|get|template",
    "terraform": "show|validate|output|version|state list|state show",
    "aws": "s3 ls|sts get-caller-identity|ec2 describe-instances|iam list-users|iam get-user|logs describe-log-groups",
    "gcloud": "config list|projects list|compute instances list|compute instances describe|auth list",
    "az": "account show|account list|group list|group show|vm list|vm show",
    "npm": "ls|list|view|outdated|audit",
    "pip": "list|show|freeze|check",
    "cargo": "tree|metadata|search",
    "go": "list|version|env|vet",
    "brew": "list|info|search|outdated",
    "systemctl": "status|list-units|is-active|show|cat",
}
PREFIXES = [[word] for word in sorted(FIRST)] + [
    [program, *words.split()]
    for program, texts in SUBCOMMANDS.items()
    for words in texts.split("|")
]

HARMLESS_REDIRECTION = re.compile(r"(?:[0-9]*>&[0-9]|(?:&|[0-9]*)>{1,2} ?/dev/null)(?=[\s;&|]|$)")
SEPARATOR = re.compile(r"&&|\|\||\|&|[;&|\n]")
SPECIAL = set("$`<>(){}!~")


class Commands(list):
    """The commands of a line with their words; `patterns` are the numbers of those with unquoted patterns."""

    def __init__(self):
        super().__init__([[]])
        self.patterns = set()


def plain_commands(line):
    """Splits a line into commands of literal words; None if a shell would expand or redirect anything."""
    commands, word, at = Commands(), None, 0

    def end_word():
        nonlocal word
        if word is not None:
            commands[-1].append(word)
            word = None

    while at < len(line):
        character = line[at]
        if word is None and (found := HARMLESS_REDIRECTION.match(line, at)):
            at = found.end()
        elif found := SEPARATOR.match(line, at):
            end_word()
            commands.append([])
            at = found.end()
        elif character in " \t":
            end_word()
            at += 1
        elif character == "'":
            if (end := line.find("'", at + 1)) < 0:
                return None
            word, at = (word or "") + line[at + 1 : end], end + 1
        elif character == '"':
            at, text = at + 1, ""
            while at < len(line) and line[at] != '"':
                if line[at] in "$`":
                    return None
                at += line[at] == "\\" and line[at + 1 : at + 2] in ('"', "\\", "$", "`")
                text, at = text + line[at : at + 1], at + 1
            if at >= len(line):
                return None
            word, at = (word or "") + text, at + 1
        elif character == "\\":
            if line[at + 1 : at + 2] in ("", "\n"):
                return None
            word, at = (word or "") + line[at + 1], at + 2
        elif character in SPECIAL or (character == "#" and word is None):
            return None
        else:
            if character in "*?[":
                commands.patterns.add(len(commands) - 1)
            word, at = (word or "") + character, at + 1
    end_word()
    return commands


def unwrapped(words):
    """The words behind programs that start others."""
    while words and words[0] in WRAPPERS:
        own = words[0]
        words = words[1:]
        while words and words[0].startswith("-"):
            words = words[1:]
        words = words[WRAPPERS[own] :]
    return words


def starts_with(words, prefixes):
    return any(words[: len(prefix)] == prefix for prefix in prefixes)


class ClaudeCode:
    """The documented list of Claude Code, with prefix rules if they are given."""

    def __init__(self, name, prefixes=()):
        self.name, self.prefixes = name, prefixes

    def allows(self, line):
        commands = plain_commands(line)
        return commands is not None and all(
            not words or self.passes(unwrapped(words), number in commands.patterns)
            for number, words in enumerate(commands)
        )

    def passes(self, words, has_patterns):
        if not words or "=" in words[0] or (words[0] in GLOBS_ASK and has_patterns):
            return False
        if words[0] == "find" and {"-exec", "-execdir", "-ok", "-okdir", "-delete"} & set(words):
            return False
        is_listed = words[0] in LISTED or (words[0] == "git" and len(words) > 1 and words[1] in LISTED_GIT)
        return is_listed or starts_with(words, self.prefixes)


class Codex:
    """Prefix rules of Codex, judged by its program: a process for each command of a line."""

    name = "Codex: `execpolicy check`"

    def __init__(self, program, rules):
        self.program, self.rules = program, rules
        lines = [f"prefix_rule(pattern={json.dumps(prefix)}, decision='allow')\n" for prefix in PREFIXES]
        rules.write_text("".join(lines))

    def allows(self, line):
        commands = plain_commands(line)
        # Its manual says that it splits lines of literal words, and takes any other line as one command of a shell.
        if commands is None or commands.patterns:
            return False
        return all(not words or self.passes(words) for words in commands)

    def passes(self, words):
        command = [self.program, "execpolicy", "check", "--rules", str(self.rules), "--", *words]
        answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        return json.loads(answer or b"{}").get("decision") == "allow"


class Tree:
    """A syntax tree of which each command has to match, and which no redirection may leave."""

    def __init__(self, name, prefixes, parser, allows_redirections):
        self.name, self.prefixes, self.parser = name, prefixes, parser
        self.allows_redirections = allows_redirections

    def allows(self, line):
        tree = self.parser.parse(line.encode())
        if tree.root_node.has_error:
            return False
        open_nodes, found = [tree.root_node], False
        while open_nodes:
            node = open_nodes.pop()
            if node.type == "file_redirect" and not self.is_harmless(node):
                return False
            if node.type == "command":
                words = [child.text.decode() for child in node.named_children if child.type != "variable_assignment"]
                if not starts_with(words, self.prefixes):
                    return False
                found = True
            open_nodes.extend(node.named_children)
        return found

    def is_harmless(self, node):
        text = node.text.decode()
        is_input = "<" in text and ">" not in text
        return self.allows_redirections and (is_input or HARMLESS_REDIRECTION.fullmatch(text) is not None)
