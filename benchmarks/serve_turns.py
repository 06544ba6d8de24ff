#!/usr/bin/env python3
# Servers that take turns under the same loads of serve_load.py, as a table:
#   serve_turns.py --server "tfc=tfc serve DIR --port {port}" \
#                  --server "another=./another --port {port}" \
#                  --load "eight clients=--clients 8 --requests 64"
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import shlex
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request

LOAD = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    "serve_load.py")
# What a table has, of what serve_load.py tells.
COLUMNS = {
    "first text, p50 / p95 / p99 ms": ("first_token_ms", 1),
    "between two": ("between_tokens_ms", 1),
    "to the end": ("end_to_end_ms", 0)}


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def cpu_seconds(process):
    """Of a process and those that it began and that are still there."""
    ticks, seen = 0, {process}
    for entry in sorted(filter(str.isdigit, os.listdir("/proc")), key=int):
        try:
            with open(f"/proc/{entry}/stat") as stream:
                fields = stream.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(entry) in seen or int(fields[1]) in seen:
            seen.add(int(entry))
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Server:
    """A server that runs while `with` does."""

    def __init__(self, command, seconds):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.command = shlex.split(command.replace("{port}", str(port)))
        self.seconds = seconds

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        end = time.monotonic() + self.seconds
        while True:
            try:
                with urllib.request.urlopen(self.url + "/health", timeout=5):
                    return self
            except (OSError, urllib.error.URLError):
                if self.process.poll() is not None or time.monotonic() > end:
                    self.__exit__()
                    sys.exit(f"serve_turns: no server: "
                             f"{shlex.join(self.command)}")
                time.sleep(0.2)

    def __exit__(self, *raised):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def measure(server, words):
    """What a load tells, and the server's own CPU time a request."""
    before = cpu_seconds(server.process.pid)
    made = subprocess.run([sys.executable, "-B", LOAD, server.url, *words],
                          capture_output=True, text=True)
    if made.returncode:
        sys.exit(f"serve_turns: {server.command[0]}: {made.stderr}"
                 f"{made.stdout}")
    told = json.loads(made.stdout)
    told["server_cpu_ms"] = 1000 * (
        cpu_seconds(server.process.pid) - before) / told["requests"]
    return told


def median(rounds, *path):
    """Of a number that each round tells, or None."""
    values = []
    for told in rounds:
        for key in path:
            told = told[key]
        if told is not None:
            values.append(told)
    return statistics.median(values) if values else None


def row(name, rounds):
    cells = [name]
    for key, digits in COLUMNS.values():
        values = [median(rounds, key, each) for each in ("p50", "p95", "p99")]
        cells.append("" if None in values else " / ".join(
            f"{value:.{digits}f}" for value in values))
    done = [told["whole"] / told["seconds"] for told in rounds]
    cells += [f"{statistics.median(done):.1f}",
              f"{median(rounds, 'tokens_per_second'):.0f}",
              f"{median(rounds, 'goodput_per_second'):.1f}",
              f"{median(rounds, 'server_cpu_ms'):.1f}"]
    return "| " + " | ".join(cells) + " |"


def named(text):
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise argparse.ArgumentTypeError(f"expected NAME=..., got {text}")
    return name, value


def main():
    parser = argparse.ArgumentParser(description="Servers that take turns "
                                     "under the same loads, as a table.")
    parser.add_argument("--server", type=named, action="append", required=True,
                        metavar="NAME=COMMAND", help="{port} in it is the port")
    parser.add_argument("--load", type=named, action="append", required=True,
                        metavar="NAME=WORDS", help="of serve_load.py")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--start-seconds", type=float, default=120)
    options = parser.parse_args()
    told = {}
    for number in range(options.rounds):
        for server, command in options.server:
            with Server(command, options.start_seconds) as running:
                for load, words in options.load:
                    # The first one also touches what is read once.
                    if load == options.load[0][0]:
                        measure(running, shlex.split(words))
                    told.setdefault((load, server), []).append(
                        measure(running, shlex.split(words)))
    for load, words in options.load:
        print(f"**{load}**: `{words}`\n\n| | " + " | ".join(COLUMNS)
              + " | requests/s | tokens/s | goodput/s | server's CPU ms |")
        print("|---" * (len(COLUMNS) + 5) + "|")
        for server, _ in options.server:
            print(row(server, told[load, server]))
        print()


if __name__ == "__main__":
    main()
