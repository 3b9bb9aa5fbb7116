"""The Inspector's command line: `inspector.py auto|legacy (URL | COMMAND WORD…)`.

One process a request, so it can neither be asked nor show progress. Ending it ends a call, except over HTTP until 2025-11-25:
a client that is gone has not cancelled anything there (basic/transports, "Sending Messages to the Server").
"""

import asyncio
import json
import os
import sys
import tempfile

import checks

PROGRAM = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
ERA = {"auto": "modern", "legacy": "legacy"}


class Inspector:
    def __init__(self, config: str, is_http: bool) -> None:
        self.config = config
        self.outlives = is_http and checks.mode() == "legacy"

    async def start(self, *words: str) -> asyncio.subprocess.Process:
        fixed = ["--cli", "--config", self.config, "--server", "climax", "--protocol-era", ERA[checks.mode()]]
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            "node", PROGRAM, *fixed, "--format", "json", "--quiet", *words, stdout=pipe, stderr=pipe
        )

    async def run(self, *words: str) -> tuple[int, dict, str]:
        process = await self.start(*words)
        out, err = await process.communicate()
        return process.returncode, json.loads(out or "{}").get("result", {}), err.decode()

    @staticmethod
    def words(tool: str, arguments: dict) -> list[str]:
        return ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments)]

    async def call(self, tool: str, arguments: dict, on_progress=None) -> checks.Result:
        _, result, err = await self.run(*self.words(tool, arguments))
        assert result, err
        return checks.Result(result["content"][0]["text"], result["isError"], result.get("structuredContent"))


async def lists(client: Inspector) -> None:
    """With --strict: no schema that some client would not take."""
    status, result, err = await client.run("--method", "tools/list", "--strict")
    checks.same("the status", (status, err), (0, ""))
    checks.same("the list of tools", [tool["name"] for tool in result["tools"]], ["climax_search", "climax_call"])


async def bears_load(client: Inspector) -> None:
    load = ["--load", "--load-requests", "300"]
    status, result, err = await client.run(*client.words(*checks.called("say", text="hello")), *load)
    checks.same("the calls that went well", (status, result.get("ok"), err), (0, 300, ""))


async def cancels(client: Inspector) -> None:
    seconds = float(f"600.{os.getpid()}")
    process = await client.start(*client.words(*checks.called("rest", seconds=seconds)))
    try:
        await checks.until("the program runs", lambda: checks.programs(seconds) or process.returncode is not None)
        assert process.returncode is None, "the call has ended"
        process.terminate()
        await checks.until("the program is gone", lambda: not checks.programs(seconds))
    except BaseException:
        # Not where it ends by itself: asyncio looks for a process before it signals it, and complains if it has just ended.
        if process.returncode is None:
            process.kill()
        raise
    finally:
        await process.communicate()


async def main() -> int:
    where = checks.server()
    if isinstance(where, str):
        server = {"type": "streamable-http", "url": where}
    else:
        server = {"command": where[0], "args": where[1], "env": where[2]}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as config:
        json.dump({"mcpServers": {"climax": server}}, config)
        config.flush()
        inspector = Inspector(config.name, is_http=isinstance(where, str))
        cancelling = [] if inspector.outlives else [cancels]
        calling = [checks.searches, checks.calls, checks.fails, checks.structures, checks.rejects, checks.misses]
        return await checks.run(inspector, [lists, *calling, bears_load, *cancelling])


sys.exit(min(asyncio.run(main()), 1))
