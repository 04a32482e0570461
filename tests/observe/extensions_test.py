#!/usr/bin/env python3
"""extensions_test.py PROGRAM PES [NAME=VALUE...]: the summary and the trace for the calls of extensions.c, on windows and of tasks.
Needs OSHRUN."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from paths import path_between

PROGRAM, PES = sys.argv[1], int(sys.argv[2])
SETTINGS = dict(setting.split("=", 1) for setting in sys.argv[3:])
PES_PER_NODE = int(SETTINGS.get("SHMEMX_PES_PER_NODE", PES))
WINDOW_PATH = SETTINGS.get("SHMEMX_WINDOW_PATH", "mapped")
# On the window of the next PE: name, category, bytes, number.
ON_WINDOW = [("shmemx_window_put", "put", 100, 3), ("shmemx_window_put_strided", "put", 40, 1), ("shmemx_window_get", "get", 50, 1),
             ("shmemx_window_fetch_op", "atomic", 8, 1), ("shmemx_window_accumulate", "atomic", 32, 1)]


def fail(text):
    sys.exit(text)


def path(source, target):
    return path_between(source, target, PES_PER_NODE, SETTINGS)


def window_path(category, source, target):
    plain = path(source, target)
    if plain in ("self", "network") or SETTINGS.get("SHMEMX_NODE_PATH") == "queue":
        return plain
    is_direct = WINDOW_PATH == "mapped" or (WINDOW_PATH == "cma" and category != "atomic")
    return "mapped" if is_direct else "queue"


def expected():
    """Returns the spans as a Counter of (PE, name, category, peer, path, bytes)."""
    wanted = collections.Counter()
    for pe in range(PES):
        following = (pe + 1) % PES
        wanted[pe, "shmem_getmem", "get", following, path(pe, following), 64] += 1
        for name, category, n_bytes, number in ON_WINDOW:
            wanted[pe, name, category, following, window_path(category, pe, following), n_bytes] += number
        wanted[pe, "shmemx_task_send", "message", following, path(pe, following), 24] += 5
        wanted[pe, "shmemx_task_call", "message", following, path(pe, following), 8] += 1
        wanted[following, "shmemx_task_reply", "message", pe, path(following, pe), 8] += 1
        for other in range(PES):
            wanted[pe, "shmemx_task_multicast", "message", other, path(pe, other), 16] += 1
    return wanted


def handlers():
    """Returns the tasks that run, as a Counter of (PE, source, handler, bytes)."""
    wanted = collections.Counter()
    for pe in range(PES):
        previous = (pe + PES - 1) % PES
        wanted[pe, previous, 9, 24] += 5
        wanted[pe, previous, 10, 8] += 1
        for other in range(PES):
            wanted[pe, other, 9, 16] += 1
    return wanted


def check_trace(trace):
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    seen = collections.Counter((span["pid"], span["name"], span["cat"], span["args"]["pe"], span["args"]["path"],
                                span["args"]["bytes"]) for span in spans if "pe" in span["args"])
    if seen != expected():
        fail(f"spans: {seen - expected()} not wanted, {expected() - seen} missing")
    ran = collections.Counter((span["pid"], span["args"]["from"], span["args"]["handler"], span["args"]["bytes"])
                              for span in spans if span["cat"] == "task")
    if ran != handlers():
        fail(f"tasks: {ran - handlers()} not wanted, {handlers() - ran} missing")


def check_summary(lines):
    rows = {(cells[0], cells[1]): (int(cells[2]), int(cells[3])) for cells in (line.split() for line in lines[2:])
            if len(cells) == 4 and cells[1] in ("self", "mapped", "queue", "network")}
    wanted = {}
    for (_, _, category, _, route, n_bytes), number in expected().items():
        operations, total = wanted.get((category, route), (0, 0))
        wanted[category, route] = (operations + number, total + number * n_bytes)
    if rows != wanted:
        fail(f"operations: got {rows}, wanted {wanted}")
    number = sum(handlers().values())
    if not any(re.match(rf"tasks: {number} run in [0-9.]+ s; least PE [0-9]+ [0-9.]+ s, most PE", line) for line in lines):
        fail(f"no line on {number} tasks: {lines}")


with tempfile.TemporaryDirectory() as directory:
    environment = {**os.environ, **SETTINGS, "SHMEM_STATS": "1", "SHMEM_TRACE": f"{directory}/trace.json"}
    done = subprocess.run([os.environ["OSHRUN"], "-q", "-n", str(PES), "--timeout", "60", PROGRAM], env=environment,
                          stdout=subprocess.PIPE, text=True, timeout=90, check=True)
    check_summary(done.stdout.splitlines())
    with open(f"{directory}/trace.json", encoding="utf-8") as file:
        check_trace(json.load(file))
