"""Measures servers in turn, round by round, so that what else the machine does falls on all of them."""

import os
import statistics
import time
from dataclasses import dataclass, field

from server import Server

REQUESTS = 20
"""Searches and calls of each server in a round."""


@dataclass
class Contender:
    """A server, what is asked of it, and what was measured: seconds and KiB."""

    name: str
    command: list
    search: tuple = ()  # tool and arguments of one request; without, there is none to make
    call: tuple = ()
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
            for what, request in (("search", self.search), ("call", self.call)):
                for _ in range(REQUESTS if request else 0):
                    self.add(what, server.call(*request)[0])
            self.add("resident at work", server.memory_kib()[0])


@dataclass
class Bare(Contender):
    """A program that is started and awaited, without any server: what a call costs at least."""

    def round(self):
        for _ in range(REQUESTS):
            start = time.perf_counter()
            os.waitpid(os.posix_spawn(self.command[0], self.command, os.environ), 0)
            self.add("call", time.perf_counter() - start)


def measure(contenders):
    """Measures all of them. The first round of each fills the page cache and does not count."""
    for contender in contenders:
        contender.round()
        contender.samples.clear()
    for number in range(max(contender.rounds for contender in contenders)):
        for contender in contenders:
            if number < contender.rounds:
                contender.round()
