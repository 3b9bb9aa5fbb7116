"""The Python SDK: `python_mcp.py auto|legacy (URL | COMMAND WORD…)`."""

import asyncio
import sys

import checks
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import ElicitResult


class Sdk:
    def __init__(self) -> None:
        self.user = checks.User()

    def revision(self) -> str:
        return self.client.protocol_version

    async def tools(self) -> list[str]:
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def call(self, tool: str, arguments: dict, on_progress=None) -> checks.Result:
        async def progress(number, total, message):
            on_progress(number, message)

        result = await self.client.call_tool(tool, arguments, progress_callback=progress if on_progress else None)
        return checks.Result(result.content[0].text, result.is_error, result.structured_content)

    async def read(self, uri: str) -> str:
        return (await self.client.read_resource(uri)).contents[0].text

    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        return (await self.client.get_prompt(name, arguments)).messages[0].content.text

    def refusal(self, error: Exception):
        return (error.error.code, error.error.message) if isinstance(error, MCPError) else None

    async def elicited(self, context, params):
        action, content = self.user.answer(params.message, params.requested_schema)
        return ElicitResult(action=action, content=content)


async def main() -> int:
    where = checks.server()
    if not isinstance(where, str):
        command, args, env = where
        where = StdioServerParameters(command=command, args=args, env=env)
    sdk = Sdk()
    async with Client(where, mode=checks.mode(), elicitation_callback=sdk.elicited) as sdk.client:
        return await checks.run(sdk)


sys.exit(min(asyncio.run(main()), 1))
