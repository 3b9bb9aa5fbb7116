"""A model that follows a script: it calls the agent's shell once, with a given line, and then says that it has finished.

It speaks the four protocols that agents use: Anthropic's Messages, Gemini's generateContent, and OpenAI's Responses and Chat
Completions.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SHELLS = ["Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell"]
FINISHED = "I have finished."
# What tools that watch a line take, as far as the calls need it.
WATCHING = {"properties": {"command": {}, "description": {}}, "required": ["description"]}


class Endpoint(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.line = ""
        self.fields: dict[str, object] = {}
        self.tools = SHELLS
        self.outputs: list[str] = []
        """What the agents said about the lines: their output, or why they did not run."""
        self.requests: list[str] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def script(self, line: str, fields: dict[str, object] | None = None, tools: list[str] = SHELLS) -> None:
        """From now on the first of these tools is called with this line, and with these fields besides it."""
        self.line, self.fields, self.tools, self.outputs, self.requests = line, fields or {}, tools, [], []

    def call(self, tools: list[dict], schema_of: str) -> tuple[str, dict] | None:
        """The call of the tool, with what its schema requires; `None` if the request offers no shell.

        A tool that is not offered, because the agent keeps it until the model searches for it, is called nonetheless.
        """
        if not any(tool.get("name") in SHELLS for tool in tools):
            return None
        tool = next((tool for name in self.tools for tool in tools if tool.get("name") == name), None)
        return arguments(tool or {"name": self.tools[0], schema_of: WATCHING}, schema_of, self.line, self.fields)


def arguments(tool: dict, schema_of: str, line: str, fields: dict[str, object]) -> tuple[str, dict]:
    schema = tool.get(schema_of) or {}
    arguments = {}
    for name, property in schema.get("properties", {}).items():
        if name in ("command", "cmd"):
            arguments[name] = ["bash", "-lc", line] if property.get("type") == "array" else line
        elif name in schema.get("required", []):
            arguments[name] = {"boolean": False, "BOOLEAN": False}.get(property.get("type"), "run a line")
    return tool["name"], arguments | fields


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Endpoint

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.answer({"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        path = self.path.partition("?")[0]
        self.server.requests.append(path)
        if path.endswith("/messages"):
            self.anthropic(body)
        elif path.endswith(":streamGenerateContent"):
            self.events([(None, self.gemini(body))])
        elif path.endswith(":generateContent"):
            self.answer(self.gemini(body))
        elif path.endswith("/responses"):
            self.openai_responses(body)
        elif path.endswith("/chat/completions"):
            self.openai_completions(body)
        else:
            self.answer({"input_tokens": 1, "totalTokens": 1})

    def answer(self, value: object) -> None:
        self.send("application/json", json.dumps(value).encode())

    def events(self, events: list[tuple[str | None, object]]) -> None:
        text = "".join(
            (f"event: {name}\n" if name else "") + f"data: {value if isinstance(value, str) else json.dumps(value)}\n\n"
            for name, value in events
        )
        self.send("text/event-stream", text.encode())

    def send(self, kind: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def heard(self, outputs: list[object]) -> bool:
        """Notes what became of the line; false if the request says nothing about one."""
        texts = [output if isinstance(output, str) else json.dumps(output) for output in outputs]
        self.server.outputs.extend(text for text in texts if text not in self.server.outputs)
        return bool(texts)

    def anthropic(self, body: dict) -> None:
        blocks = [block for message in body["messages"] if isinstance(message["content"], list) for block in message["content"]]
        heard = self.heard([block["content"] for block in blocks if block["type"] == "tool_result"])
        made = None if heard else self.server.call(body.get("tools", []), "input_schema")
        if made:
            block = {"type": "tool_use", "id": "toolu_1", "name": made[0], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(made[1])}
        else:
            block = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": FINISHED}
        reason = "tool_use" if made else "end_turn"
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": [], "usage": usage}
        message |= {"stop_reason": None, "stop_sequence": None}
        if not body.get("stream"):
            whole = {**block, "input": made[1]} if made else {**block, "text": FINISHED}
            self.answer({**message, "content": [whole], "stop_reason": reason})
            return
        events = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ]
        self.events([(event["type"], event) for event in events])

    def gemini(self, body: dict) -> dict:
        parts = [part for content in body["contents"] for part in content.get("parts", [])]
        heard = self.heard([part["functionResponse"]["response"] for part in parts if "functionResponse" in part])
        tools = [tool for group in body.get("tools", []) for tool in group.get("functionDeclarations", [])]
        schema_of = "parametersJsonSchema" if any("parametersJsonSchema" in tool for tool in tools) else "parameters"
        made = None if heard else self.server.call(tools, schema_of)
        part = {"functionCall": {"name": made[0], "args": made[1]}} if made else {"text": FINISHED}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        return {"candidates": [candidate], "usageMetadata": usage}

    def openai_responses(self, body: dict) -> None:
        items = body["input"] if isinstance(body["input"], list) else []
        heard = self.heard([item["output"] for item in items if item.get("type") == "function_call_output"])
        made = None if heard else self.server.call(body.get("tools", []), "parameters")
        if made:
            item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": made[0], "arguments": json.dumps(made[1])}
        else:
            text = {"type": "output_text", "text": FINISHED, "annotations": []}
            item = {"type": "message", "id": "item_1", "role": "assistant", "content": [text]}
        item["status"] = "completed"
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        response = {"id": "resp_1", "object": "response", "model": body["model"], "created_at": 0, "output": []}
        finished = {**response, "status": "completed", "output": [item], "usage": usage}
        if not body.get("stream"):
            self.answer(finished)
            return
        events = [
            {"type": "response.created", "response": {**response, "status": "in_progress"}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
        ]
        if not made:
            place = {"item_id": "item_1", "output_index": 0, "content_index": 0}
            events.append({"type": "response.output_text.delta", **place, "delta": FINISHED})
        events.append({"type": "response.output_item.done", "output_index": 0, "item": item})
        events.append({"type": "response.completed", "response": finished})
        self.events([(event["type"], {"sequence_number": at, **event}) for at, event in enumerate(events)])

    def openai_completions(self, body: dict) -> None:
        heard = self.heard([message["content"] for message in body["messages"] if message["role"] == "tool"])
        tools = [tool["function"] for tool in body.get("tools") or [] if "function" in tool]
        made = None if heard else self.server.call(tools, "parameters")
        message: dict = {"role": "assistant", "content": None if made else FINISHED}
        if made:
            function = {"name": made[0], "arguments": json.dumps(made[1])}
            message["tool_calls"] = [{"index": 0, "id": "call_1", "type": "function", "function": function}]
        reason = "tool_calls" if made else "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        head = {"id": "chatcmpl-1", "created": 0, "model": body["model"]}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            self.answer({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
            return
        head["object"] = "chat.completion.chunk"
        chunks = [
            {**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage},
        ]
        self.events([(None, chunk) for chunk in [*chunks, "[DONE]"]])
