"""What every client is put to, whichever library it is made with. `checks.mjs` says the same to those in JavaScript."""

import asyncio
import json
import os
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Protocol

PATIENCE_S = 20
GREETING = "grüße, 世界 🎉"


@dataclass
class Result:
    """What a call gave. Of an agent's library, `text` is what its model reads, and `None` is what the model is not told."""

    text: str
    is_error: bool | None
    structured: Any = None


class Client(Protocol):
    """One library's client, connected. `user` is asked by the server through it."""

    user: "User"

    def revision(self) -> str:
        """The revision of the protocol that client and server have agreed on."""

    async def tools(self) -> list[str]: ...

    async def call(self, tool: str, arguments: dict, on_progress: Callable | None = None) -> Result: ...

    async def read(self, uri: str) -> str:
        """The text of a resource."""

    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        """The text of a prompt's first message."""

    def refusal(self, error: Exception) -> tuple[int, str] | None:
        """Code and message of a protocol error, `None` if `error` is another one."""


@dataclass
class User:
    """Answers what the server asks."""

    action: str = "accept"
    questions: list[str] = field(default_factory=list)
    knows: dict[str, str] = field(default_factory=lambda: {"name": "Ada", "color": "blue"})

    def answer(self, question: str, schema: dict) -> tuple[str, dict | None]:
        """What is done about a question, and what is filled in."""
        self.questions.append(question)
        fields = schema.get("properties") or {}
        return self.action, {name: self.knows[name] for name in fields} if self.action == "accept" else None


def same(what: str, found: Any, expected: Any) -> None:
    assert found == expected, f"{what} should be {expected!r}, and is {found!r}"


def called(tool: str, **args: Any) -> tuple[str, dict]:
    return "climax_call", {"tool_name": tool, "args": args}


async def agrees(client: Client) -> None:
    same("the revision", client.revision(), "2025-11-25" if mode() == "legacy" else "2026-07-28")


async def lists(client: Client) -> None:
    same("the list of tools", await client.tools(), ["climax_search", "climax_call"])


async def searches(client: Client) -> None:
    result = await client.call("climax_search", {"query": "pause some times"})
    found = [entry["tool_name"] for entry in json.loads(result.text)["results"]]
    same("the tool that is found first", found[0], "test_tool_with_progress")


async def calls(client: Client) -> None:
    result = await client.call(*called("say", text=GREETING))
    same("the result", (result.text, bool(result.is_error)), (GREETING, False))


async def fails(client: Client) -> None:
    result = await client.call(*called("test_error_handling"))
    is_shown = [re.search(what, result.text) for what in ["/dev/null", "No such file", r'exit[ _]code"?: ?2\b']]
    assert result.is_error is not False and all(is_shown), result


async def structures(client: Client) -> None:
    error = (await client.call(*called("test_error_handling"))).structured["error"]
    same("the code of the error", error["code"], "command_failed")
    details = error["details"][0]
    same("exit code and output", (details["exit_code"], details["stdout"].strip()), (2, "/dev/null"))
    assert "No such file" in details["stderr"], details


async def rejects(client: Client) -> None:
    for args, complaint in [({}, "Missing required argument"), ({"seconds": "soon"}, "cannot convert 'soon' to number")]:
        result = await client.call(*called("rest", **args))
        assert result.is_error is not False and complaint in result.text, result


async def misses(client: Client) -> None:
    result = await client.call(*called("no_such_tool"))
    assert result.is_error is not False and "Unknown tool: no_such_tool" in result.text, result


async def is_refused(client: Client) -> None:
    try:
        result = await client.call("no_such_tool", {})
    except Exception as error:
        same("the refusal", client.refusal(error), (-32602, "Unknown tool: no_such_tool"))
    else:
        raise AssertionError(f"an unknown tool was answered: {result}")


async def is_asked(client: Client) -> None:
    client.user.action = "accept"
    result = await client.call(*called("test_elicitation", message="hello"))
    same("what is approved", result.text, "hello")
    assert "echo hello" in client.user.questions[-1], client.user.questions
    client.user.action = "decline"
    result = await client.call(*called("test_elicitation", message="hello"))
    same("what is declined", (result.text, result.is_error), ("Tool execution denied by user: test_elicitation", True))
    same("the number of questions", len(client.user.questions), 2)


async def fills_in(client: Client) -> None:
    client.user.action = "accept"
    before = len(client.user.questions)
    result = await client.call(*called("test_input_required_result_multi_round", name="Eve"))
    ignored = "[ignored: 'name' is no argument of test_input_required_result_multi_round]"
    same("what the user filled in", result.text, f"Ada likes blue.\n\n{ignored}")
    same("the number of forms", len(client.user.questions) - before, 2)


async def reads(client: Client) -> None:
    same("the resource", await client.read("test://template/a%20b/data"), '{"id":"a b"}')


async def is_prompted(client: Client) -> None:
    text = await client.prompt("test_prompt_with_arguments", {"arg1": "hello", "arg2": GREETING})
    same("the prompt", text, f"Prompt with arguments: arg1='hello', arg2='{GREETING}'")


async def sees_progress(client: Client) -> None:
    seen: list[tuple[float, str | None]] = []
    await client.call(*called("test_tool_with_progress"), lambda number, message: seen.append((number, message)))
    numbers = [number for number, _ in seen]
    assert len(seen) >= 3 and numbers == sorted(set(numbers)), seen
    assert any("sleep 0.1" in (message or "") for _, message in seen), seen


async def cancels(client: Client) -> None:
    seconds = float(f"600.{os.getpid()}")
    call = asyncio.create_task(client.call(*called("rest", seconds=seconds)))
    await until("the program runs", lambda: programs(seconds) or call.done())
    assert not call.done(), call
    call.cancel()
    await until("the program is gone", lambda: not programs(seconds))
    await calls(client)


CHECKS = [
    agrees, lists, searches, calls, fails, structures, rejects, misses,
    is_refused, is_asked, fills_in, reads, is_prompted, sees_progress, cancels,
]
# What a library shows to a model, through the tools that it makes for one.
AGENT_CHECKS = [agrees, lists, searches, calls, fails, rejects, misses]


def programs(seconds: float) -> list[str]:
    """Processes that sleep for so long."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", str(seconds).encode()]:
            found.append(process.name)
    return found


async def until(what: str, condition: Callable[[], Any]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, f"waited {PATIENCE_S} s until {what}"
        await asyncio.sleep(0.01)


async def run(client: Any, wanted: list[Callable] = CHECKS) -> int:
    """Runs checks, with a line of output each. Returns the number of those that failed."""
    failed = 0
    for check in wanted:
        try:
            await asyncio.wait_for(check(client), 2 * PATIENCE_S)
            print(f"ok {check.__name__}", flush=True)
        except Exception as error:
            failed += 1
            print(f"not ok {check.__name__}: {type(error).__name__}: {error}", flush=True)
    return failed


def server() -> tuple[str, list[str], dict[str, str]] | str:
    """What to connect to: a command with its environment, or an address."""
    where = sys.argv[2:]
    if where[0].startswith("http://"):
        return where[0]
    return where[0], where[1:], {"PATH": os.environ["PATH"], "CLIMAX_TAG": os.environ["INTEROP_TAG"]}


def mode() -> str:
    """The era of the protocol, as the libraries name it."""
    return sys.argv[1]


