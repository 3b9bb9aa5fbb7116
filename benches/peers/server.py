"""An MCP server as a child over standard input and output, and what the kernel tells of it. Linux only."""

import json
import os
import select
import signal
import time

PATIENCE_S = 120
END_S = 5
PROTOCOL = "2025-06-18"


class Server:
    """A server that is started, asked and ended; `with` ends it."""

    def __init__(self, command):
        self.command, self.buffer, self.last_id = command, b"", 0
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CLIMAX_")}
        # posix_spawn and not subprocess, which takes longer than a fast server.
        (its_input, self.input), (self.output, its_output) = os.pipe(), os.pipe()
        null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        streams = [(os.POSIX_SPAWN_DUP2, ours, its) for its, ours in enumerate((its_input, its_output, null))]
        self.spawned = time.perf_counter()
        self.pid = os.posix_spawn(command[0], command, environment, file_actions=streams)
        for descriptor in (its_input, its_output, null):
            os.close(descriptor)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.input)
        pidfd = os.pidfd_open(self.pid)
        if not select.select([pidfd], [], [], END_S)[0]:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(pidfd)
        os.close(self.output)

    def open(self):
        """Opens the conversation as clients do, and lists the tools; returns the seconds since the process was spawned."""
        client = {"name": "peers", "version": "0"}
        self.ask("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client})
        self.send({"method": "notifications/initialized"})
        self.ask("tools/list", {})
        return time.perf_counter() - self.spawned

    def call(self, tool, arguments):
        """Calls a tool; returns the seconds that it took and the text of the result."""
        start = time.perf_counter()
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        taken = time.perf_counter() - start
        text = result["content"][0]["text"]
        if result.get("isError"):
            raise RuntimeError(f"{self.command[0]}: {tool} failed: {text[:500]}")
        return taken, text

    def memory_kib(self):
        """What the server and its children hold, in KiB: all that is resident, and what no file backs (proc(5))."""
        resident = private = 0
        for pid in tree(self.pid):
            with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
                fields = dict(line.split(":", 1) for line in status)
            resident += int(fields["VmRSS"].split()[0])
            private += int(fields["RssAnon"].split()[0])
        return resident, private

    def ask(self, method, params):
        """Sends a request and returns its result; what else the server says meanwhile is skipped."""
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, "params": params})
        while True:
            message = self.read()
            if message.get("id") == self.last_id and "method" not in message:
                if "error" in message:
                    raise RuntimeError(f"{self.command[0]}: {method}: {message['error']}")
                return message["result"]

    def send(self, message):
        """Sends a message in one write: the pipe would wake the server for each."""
        data = json.dumps({"jsonrpc": "2.0"} | message, separators=(",", ":")).encode() + b"\n"
        while data:
            data = data[os.write(self.input, data):]

    def read(self):
        """The next line that is a message."""
        while True:
            while b"\n" not in self.buffer:
                if not select.select([self.output], [], [], PATIENCE_S)[0]:
                    raise RuntimeError(f"{self.command[0]}: no answer in {PATIENCE_S} s")
                chunk = os.read(self.output, 1 << 20)
                if not chunk:
                    raise RuntimeError(f"{self.command[0]}: the server ended")
                self.buffer += chunk
            line, _, self.buffer = self.buffer.partition(b"\n")
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict):
                return message


def tree(pid):
    """A process and all that descend from it."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        return [pid] + [process for child in children.read().split() for process in tree(int(child))]
