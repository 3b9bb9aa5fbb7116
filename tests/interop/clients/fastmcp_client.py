"""FastMCP: `fastmcp_client.py auto|legacy (URL | COMMAND WORD…)`."""

import asyncio
import sys

import checks
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport
from mcp import MCPError


class FastMcp:
    def __init__(self) -> None:
        self.user = checks.User()

    def revision(self) -> str:
        return self.client.protocol_version

    async def tools(self) -> list[str]:
        return [tool.name for tool in await self.client.list_tools()]

    async def call(self, tool: str, arguments: dict, on_progress=None) -> checks.Result:
        async def progress(number, total, message):
            on_progress(number, message)

        handler = progress if on_progress else None
        result = await self.client.call_tool(tool, arguments, progress_handler=handler, raise_on_error=False)
        return checks.Result(result.content[0].text, result.is_error, result.structured_content)

    async def read(self, uri: str) -> str:
        return (await self.client.read_resource(uri))[0].text

    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        return (await self.client.get_prompt(name, arguments)).messages[0].content.text

    def refusal(self, error: Exception):
        return (error.error.code, error.error.message) if isinstance(error, MCPError) else None

    async def elicited(self, message, response_type, params, context):
        action, content = self.user.answer(message, params.requested_schema)
        return ElicitResult(action=action, content=content)


async def main() -> int:
    where = checks.server()
    if not isinstance(where, str):
        command, args, env = where
        where = StdioTransport(command=command, args=args, env=env, keep_alive=False)
    fast = FastMcp()
    async with Client(where, mode=checks.mode(), elicitation_handler=fast.elicited) as fast.client:
        return await checks.run(fast)


sys.exit(min(asyncio.run(main()), 1))
