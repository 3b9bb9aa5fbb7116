// The AI SDK: `ai_sdk.mjs legacy|auto (URL | COMMAND WORD…)`.

import { createMCPClient } from "@ai-sdk/mcp";
import { StdioMCPTransport } from "@ai-sdk/mcp/mcp-stdio";
import { AGENT_CHECKS, command, mode, run, url } from "./checks.mjs";

const sdk = await createMCPClient({
  transport: url ? { type: "http", url: url.href } : new StdioMCPTransport(command),
  protocolVersionDiscovery: mode === "auto",
});

await run({
  revision: () => sdk.initializeResult.protocolVersion,
  tools: async () => Object.keys(await sdk.tools()),
  call: async (name, args, options) => {
    const tool = (await sdk.tools())[name];
    const output = await tool.execute(args, { toolCallId: "1", messages: [], abortSignal: options?.signal });
    const { value } = await tool.toModelOutput({ toolCallId: "1", input: args, output });
    return { text: value[0].text, isError: output.isError };
  },
}, AGENT_CHECKS);
await sdk.close();
