"""Measures servers in turn, round by round, so that what else the machine does falls on all of them."""

import os
import statistics
import time
from dataclasses import dataclass, field

from server import Server

REQUESTS = 20
"""Searches and calls of each server in a round."""
TRUE = "/bin/true"
"""What calls start."""


@dataclass
class Contender:
    """A server, what is asked of it, and what was measured: seconds and KiB."""

    name: str
    command: list
    search: tuple = ()  # tool and arguments of one request; without, there is none to make
    call: tuple = ()
    call_starts: bool = True  # whether a call starts TRUE
    rounds: int = 60
    samples: dict = field(default_factory=dict)

    def add(self, what, value):
        self.samples.setdefault(what, []).append(value)

    def median(self, what):
        return statistics.median(self.samples[what]) if what in self.samples else None

    def least(self, what):
        return min(self.samples[what]) if what in self.samples else None

    def round(self):
        """Starts the server, asks it, and ends it."""
        with Server(self.command) as server:
            self.add("start", server.open())
            resident, private = server.memory_kib()
            self.add("resident", resident)
            self.add("private", private)
            for _ in range(REQUESTS if self.search else 0):
                self.add("search", server.call(*self.search)[0])
            for _ in range(REQUESTS if self.call else 0):
                taken = server.call(*self.call)[0]
                self.add("call", taken)
                # Measured beside each call: the machine may be twice as slow a second later.
                self.add("call beyond", taken - (alone() if self.call_starts else 0))


def alone():
    """Starts TRUE and awaits its end, without any server; returns the seconds: what a call takes at least."""
    start = time.perf_counter()
    os.waitpid(os.posix_spawn(TRUE, [TRUE], os.environ), 0)
    return time.perf_counter() - start


def measure(contenders):
    """Measures all of them. The first round of each fills the page cache and does not count."""
    for contender in contenders:
        contender.round()
        contender.samples.clear()
    for number in range(max(contender.rounds for contender in contenders)):
        for contender in contenders:
            if number < contender.rounds:
                contender.round()
