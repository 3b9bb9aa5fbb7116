// The TypeScript SDK, first generation: `typescript_sdk.mjs legacy (URL | COMMAND WORD…)`.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, McpError } from "@modelcontextprotocol/sdk/types.js";
import { User, command, run, url } from "./checks.mjs";

const sdk = new Client({ name: "interop", version: "1" }, { capabilities: { elicitation: {} } });
const user = new User();
sdk.setRequestHandler(ElicitRequestSchema, (request) => user.answer(request.params));
const transport = url ? new StreamableHTTPClientTransport(url) : new StdioClientTransport(command);
let revision;
transport.setProtocolVersion = ((set) => (version) => {
  revision = version;
  set?.call(transport, version);
})(transport.setProtocolVersion);
await sdk.connect(transport);

await run({
  user,
  revision: () => revision,
  tools: async () => (await sdk.listTools()).tools.map((tool) => tool.name),
  call: async (name, args, options) => {
    const result = await sdk.callTool({ name, arguments: args }, undefined, options);
    return { text: result.content[0].text, isError: result.isError ?? false, structured: result.structuredContent };
  },
  read: async (uri) => (await sdk.readResource({ uri })).contents[0].text,
  prompt: async (name, args) => (await sdk.getPrompt({ name, arguments: args })).messages[0].content.text,
  refusal: (error) => error instanceof McpError && [error.code, error.message.replace(/^MCP error -?\d+: /, "")],
});
await sdk.close();
