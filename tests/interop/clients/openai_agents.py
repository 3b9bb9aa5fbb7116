"""The OpenAI Agents SDK: `openai_agents.py auto (URL | COMMAND WORD…)`.

Strict schemas make the model give every parameter, so what it does not want is empty.
"""

import asyncio
import json
import sys

import checks
from agents import Agent
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp, MCPUtil
from agents.run_context import RunContextWrapper
from agents.tool_context import ToolContext

EMPTY = {"string": "", "integer": 0}


class OpenAiAgents:
    def __init__(self, server: MCPServerStdio | MCPServerStreamableHttp) -> None:
        self.server = server

    def revision(self) -> str:
        return self.server.session.protocol_version

    async def function_tools(self) -> dict:
        agent = Agent(name="interop")
        found = await MCPUtil.get_all_function_tools([self.server], True, RunContextWrapper(None), agent)
        return {tool.name: tool for tool in found}

    async def tools(self) -> list[str]:
        return list(await self.function_tools())

    async def call(self, tool: str, arguments: dict, on_progress=None) -> checks.Result:
        function = (await self.function_tools())[tool]
        if function.strict_json_schema:
            parameters = function.params_json_schema["properties"].items()
            arguments = {name: EMPTY[schema["type"]] for name, schema in parameters} | arguments
        words = json.dumps(arguments)
        context = ToolContext(None, tool_name=tool, tool_call_id="1", tool_arguments=words)
        return checks.Result((await function.on_invoke_tool(context, words))["text"], None)


async def main() -> int:
    where = checks.server()
    # A call that is cancelled is the only one that takes longer than the five seconds of the library.
    if isinstance(where, str):
        server = MCPServerStreamableHttp({"url": where}, client_session_timeout_seconds=checks.PATIENCE_S)
    else:
        command, args, env = where
        params = {"command": command, "args": args, "env": env}
        server = MCPServerStdio(params, client_session_timeout_seconds=checks.PATIENCE_S)
    async with server:
        return await checks.run(OpenAiAgents(server), [*checks.AGENT_CHECKS, checks.cancels])


sys.exit(min(asyncio.run(main()), 1))
