// The TypeScript SDK, second generation: `typescript_client.mjs legacy|auto (URL | COMMAND WORD…)`.

import { Client, ProtocolError, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { User, command, mode, run, url } from "./checks.mjs";

const user = new User();
const sdk = new Client(
  { name: "interop", version: "1" },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
);
sdk.setRequestHandler("elicitation/create", (request) => user.answer(request.params));
await sdk.connect(url ? new StreamableHTTPClientTransport(url) : new StdioClientTransport(command));

await run({
  user,
  revision: () => sdk.getNegotiatedProtocolVersion(),
  tools: async () => (await sdk.listTools()).tools.map((tool) => tool.name),
  call: async (name, args, options) => {
    const result = await sdk.callTool({ name, arguments: args }, options);
    return { text: result.content[0].text, isError: result.isError ?? false, structured: result.structuredContent };
  },
  read: async (uri) => (await sdk.readResource({ uri })).contents[0].text,
  prompt: async (name, args) => (await sdk.getPrompt({ name, arguments: args })).messages[0].content.text,
  refusal: (error) => error instanceof ProtocolError && [error.code, error.message.replace(/^MCP error -?\d+: /, "")],
});
await sdk.close();
