"""Pydantic AI: `pydantic_ai_agent.py auto|legacy (URL | COMMAND WORD…)`. An agent runs, with a function instead of a model."""

import asyncio
import sys

import checks
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel


class PydanticAi:
    def __init__(self, toolset: MCPToolset) -> None:
        self.toolset = toolset

    def revision(self) -> str:
        return self.toolset.client.protocol_version

    async def run(self, *calls: ToolCallPart) -> tuple[list[str], list[ToolReturnPart]]:
        """The names of the tools that a model is offered, and what it reads after it has made the calls."""
        offered, read = [], []

        def answer(messages, info):
            offered[:] = [tool.name for tool in info.function_tools]
            read[:] = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
            return ModelResponse([TextPart("done")] if read or not calls else list(calls))

        await Agent(FunctionModel(answer), toolsets=[self.toolset]).run("Do something.")
        return offered, read

    async def tools(self) -> list[str]:
        return (await self.run())[0]

    async def call(self, tool: str, arguments: dict, on_progress=None) -> checks.Result:
        part = (await self.run(ToolCallPart(tool, arguments)))[1][0]
        return checks.Result(part.model_response_str(wrap_if_error=False), part.outcome == "retried")


async def main() -> int:
    where = checks.server()
    if not isinstance(where, str):
        command, args, env = where
        where = StdioTransport(command=command, args=args, env=env, log_file=sys.stderr)
    async with MCPToolset(Client(where, mode=checks.mode())) as toolset:
        return await checks.run(PydanticAi(toolset), [*checks.AGENT_CHECKS, checks.cancels])


sys.exit(min(asyncio.run(main()), 1))
