"""Semantic Kernel: `semantic_kernel_plugin.py legacy (URL | COMMAND WORD…)`.

Its own code has a parameter `tool_name`, so the server publishes that property of climax_call as `tool` (`--call-name tool`).
It tells neither the revision that it has agreed on, nor whether a call failed, and offers tools in the order of their names.
"""

import asyncio
import sys

import checks
from semantic_kernel import Kernel
from semantic_kernel.connectors.mcp import MCPStdioPlugin, MCPStreamableHttpPlugin
from semantic_kernel.contents import ChatHistory, FunctionCallContent


class SemanticKernel:
    def __init__(self, plugin: MCPStdioPlugin | MCPStreamableHttpPlugin) -> None:
        self.kernel = Kernel()
        self.kernel.add_plugin(plugin)

    async def tools(self) -> list[str]:
        return [function.name for function in self.kernel.get_full_list_of_function_metadata()]

    async def call(self, tool: str, arguments: dict, on_progress=None) -> checks.Result:
        renamed = {"tool" if name == "tool_name" else name: value for name, value in arguments.items()}
        history = ChatHistory()
        wanted = FunctionCallContent(id="1", plugin_name="climax", function_name=tool, arguments=renamed)
        await self.kernel.invoke_function_call(wanted, history)
        result = history.messages[-1].items[0].result
        return checks.Result(result if isinstance(result, str) else result[0].text, None)


async def lists(client: SemanticKernel) -> None:
    checks.same("the list of tools", await client.tools(), ["climax_call", "climax_search"])


async def main() -> int:
    where = checks.server()
    if isinstance(where, str):
        plugin = MCPStreamableHttpPlugin("climax", where, load_prompts=False)
    else:
        command, args, env = where
        plugin = MCPStdioPlugin("climax", command, args=args, env=env, load_prompts=False)
    async with plugin:
        others = [checks.searches, checks.calls, checks.fails, checks.rejects, checks.misses]
        return await checks.run(SemanticKernel(plugin), [lists, *others])


sys.exit(min(asyncio.run(main()), 1))
