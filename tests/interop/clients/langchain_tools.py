"""LangChain's adapters: `langchain_tools.py legacy (URL | COMMAND WORD…)`."""

import asyncio
import sys

import checks
from langchain_mcp_adapters.sessions import create_session
from langchain_mcp_adapters.tools import load_mcp_tools


class LangChain:
    def revision(self) -> str:
        return self.initialized.protocolVersion

    async def tools(self) -> list[str]:
        return [tool.name for tool in await load_mcp_tools(self.session)]

    async def call(self, tool: str, arguments: dict, on_progress=None) -> checks.Result:
        loaded = {each.name: each for each in await load_mcp_tools(self.session)}
        message = await loaded[tool].ainvoke({"type": "tool_call", "id": "1", "name": tool, "args": arguments})
        return checks.Result(message.text, message.status == "error")


async def main() -> int:
    where = checks.server()
    if isinstance(where, str):
        connection = {"transport": "streamable_http", "url": where}
    else:
        command, args, env = where
        connection = {"transport": "stdio", "command": command, "args": args, "env": env}
    langchain = LangChain()
    async with create_session(connection) as langchain.session:
        langchain.initialized = await langchain.session.initialize()
        return await checks.run(langchain, checks.AGENT_CHECKS)


sys.exit(min(asyncio.run(main()), 1))
