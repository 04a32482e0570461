#!/usr/bin/env python3
"""trace_test.py CASE PES [NAME=VALUE...]: the trace of SHMEM_TRACE for the calls of observed.c.

  end      a job that ends: one file, all spans that are known, nested, with peers, bytes, paths and places
  threads  the same with two threads of each PE that put
  crash    a PE calls abort(): a file of each node remains; shmem_trace_join makes the trace
  kill     a PE dies of SIGKILL: the same
  missing  the file of a node is missing: the trace has the PEs of the others
  small    a ring that is too small holds the last spans
  lives    the library is started twice: a trace of each life
  nowhere  a trace that cannot be written: a warning, and the job goes on
Needs OSHRUN, OBSERVED, JOIN."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from paths import path_between

CASE = sys.argv[1]
PES = int(sys.argv[2])
SETTINGS = dict(setting.split("=", 1) for setting in sys.argv[3:])
PES_PER_NODE = int(SETTINGS.get("SHMEMX_PES_PER_NODE", PES))
NODES = -(-PES // PES_PER_NODE)
# Spans of one PE on the next one: name, category, bytes of each, number.
TO_NEXT = [("shmem_long_p", "put", 8, 10), ("shmem_putmem", "put", 1000, 1), ("shmem_long_put_nbi", "put", 32, 1),
           ("shmem_long_iput", "put", 40, 1), ("shmem_long_g", "get", 8, 3), ("shmem_getmem", "get", 500, 1),
           ("shmem_long_atomic_fetch_add", "atomic", 8, 1), ("shmem_long_put_signal", "put", 32, 1),
           ("shmem_long_put_signal", "signal", 8, 1), ("shmem_ctx_long_p", "put", 8, 1)]


def fail(text):
    sys.exit(f"{CASE}: {text}")


def check(name, got, wanted):
    if got != wanted:
        fail(f"{name}: got {got}, wanted {wanted}")


def path(source, target):
    return path_between(source, target, PES_PER_NODE, SETTINGS)


def run(directory, what="", output="trace.json"):
    environment = {**os.environ, **SETTINGS, "SHMEM_TRACE": output}
    return subprocess.run([os.environ["OSHRUN"], "-n", str(PES), "--timeout", "60", os.environ["OBSERVED"], what],
                          env=environment, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=90)


def files_in(directory):
    return sorted(entry.name for entry in pathlib.Path(directory).iterdir())


def read(directory, name="trace.json"):
    with open(os.path.join(directory, name), encoding="utf-8") as file:
        return json.load(file)


def join(directory, *files):
    return subprocess.run([os.environ["JOIN"], "trace.json", *files], cwd=directory, stdout=subprocess.PIPE, text=True,
                          timeout=60, check=True).stdout


def spans_of(trace):
    return [event for event in trace["traceEvents"] if event["ph"] == "X"]


def nanoseconds(microseconds):
    return round(microseconds * 1000)


def check_nesting(spans):
    """Two spans of a thread lie one within the other, or apart."""
    threads = collections.defaultdict(list)
    for span in spans:
        begin, length = nanoseconds(span["ts"]), nanoseconds(span["dur"])
        if begin < 0 or length < 0:
            fail(f"a span with a negative time: {span}")
        threads[span["pid"], span["tid"]].append((begin, -length, span))
    for each in threads.values():
        open_ends = []
        for begin, length, span in sorted(each, key=lambda entry: entry[:2]):
            end = begin - length
            while open_ends and open_ends[-1] <= begin:
                open_ends.pop()
            if open_ends and end > open_ends[-1]:
                fail(f"a span that overlaps another: {span}")
            open_ends.append(end)


def expected():
    """The spans of all PEs on the memory of others, as a Counter of (PE, name, category, peer, path, bytes)."""
    wanted = collections.Counter()
    for pe in range(PES):
        following = (pe + 1) % PES
        for name, category, n_bytes, number in TO_NEXT:
            wanted[pe, name, category, following, path(pe, following), n_bytes] += number
        wanted[pe, "shmem_long_atomic_inc", "atomic", 0, path(pe, 0), 8] += 1
        if PES > 1:
            wanted[pe, "shmemx_send", "message", following, path(pe, following), 100] += 1
            wanted[following, "shmemx_recv", "receive", pe, path(following, pe), 100] += 1
        if CASE == "threads":
            wanted[pe, "shmem_long_p", "put", PES - 1, path(pe, PES - 1), 8] += 400
    return wanted


def check_spans(trace):
    spans = spans_of(trace)
    check_nesting(spans)
    with_peer = collections.Counter((span["pid"], span["name"], span["cat"], span["args"]["pe"], span["args"]["path"],
                                     span["args"]["bytes"]) for span in spans if "pe" in span["args"])
    check("spans with a peer", with_peer, expected())
    calls = collections.Counter((span["pid"], span["name"]) for span in spans if span["cat"] == "collective")
    open_calls = {span["pid"]: span["name"] for span in spans if "unfinished" in span["args"]}
    for pe in range(PES):
        check("reductions", calls[pe, "shmem_long_sum_reduce"], 1)
        if CASE in ("crash", "kill") and pe != PES - 1:  # ended while they wait for the last one
            check("open call", open_calls.get(pe), "shmem_barrier_all")
            check("barriers", calls[pe, "shmem_barrier_all"] in (3, 4), True)
        else:
            check("barriers", calls[pe, "shmem_barrier_all"], 3)
            check("open call", open_calls.get(pe), None)
    names = {event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "process_name"}
    check("names", names, {f"PE {pe}" for pe in range(PES)})


def check_places(trace):
    """Each put in the program itself has the function that calls."""
    names = ("shmem_putmem", "shmem_getmem", "shmem_long_p", "shmem_long_put_signal")
    for span in spans_of(trace):
        is_checked = span["name"] in names and span["cat"] in ("put", "get")
        if is_checked and "put_" not in span["args"].get("place", ""):
            fail(f"no place: {span}")


def check_end(directory):
    done = run(directory, "threads" if CASE == "threads" else "")
    check("status", done.returncode, 0)
    check("files", files_in(directory), ["trace.json"])
    trace = read(directory)
    check_spans(trace)
    check_places(trace)
    check("missing", trace["otherData"]["missing_pes"], 0)
    check("lost", trace["otherData"]["lost_events"], 0)
    check("comparisons of clocks", trace["otherData"]["clock_comparisons"], 2 if NODES > 1 else 0)
    if CASE == "threads":
        check("threads", {span["tid"] for span in spans_of(trace) if span["name"] == "shmem_long_p"}, {1, 2})


def check_crash(directory):
    done = run(directory, CASE)
    if done.returncode == 0:
        fail("the job ends with status 0")
    if "info: shmem_trace_join trace.json shows the last calls of all PEs" not in done.stderr:
        fail(f"no hint: {done.stderr}")
    check("files", files_in(directory), [f"trace.json.node{node}" for node in range(NODES)])
    said = join(directory)
    if f" of {PES} PEs; 0 PEs are missing" not in said:
        fail(said)
    trace = read(directory)
    check_spans(trace)
    check("comparisons of clocks", trace["otherData"]["clock_comparisons"], 1 if NODES > 1 else 0)


def check_small(directory):
    SETTINGS["SHMEMX_TRACE_EVENTS"] = "256"
    check("status", run(directory, "threads").returncode, 0)
    trace = read(directory)
    spans = spans_of(trace)
    check_nesting(spans)
    per_pe = collections.Counter(span["pid"] for span in spans)
    check("spans", per_pe, collections.Counter({pe: 256 for pe in range(PES)}))
    if trace["otherData"]["lost_events"] == 0:
        fail("no events are lost")
    last = max(spans, key=lambda span: span["ts"] + span["dur"] if span["pid"] == 0 else -1)
    if last["name"] not in ("shmem_finalize", "shmem_free"):
        fail(f"the last span is {last}")


def check_missing(directory):
    """Without the file of one node: its PEs are missing, and the others are there."""
    done = run(directory, "crash")
    if done.returncode == 0:
        fail("the job ends with status 0")
    os.unlink(os.path.join(directory, f"trace.json.node{NODES - 1}"))
    said = join(directory, *files_in(directory))
    if "1 PEs are missing" not in said:
        fail(said)
    check("PEs", {span["pid"] for span in spans_of(read(directory))}, set(range(PES - 1)))


def check_lives(directory):
    check("status", run(directory, "lives").returncode, 0)
    check("files", files_in(directory), ["trace.json", "trace.json.2"])
    check_spans(read(directory))
    check_spans(read(directory, "trace.json.2"))


def check_nowhere(directory):
    done = run(directory, output="missing/trace.json")
    check("status", done.returncode, 0)
    if "SHMEM_TRACE: cannot open " not in done.stderr:
        fail(f"no warning: {done.stderr}")
    check("files", files_in(directory), [])


with tempfile.TemporaryDirectory() as workspace:
    {"end": check_end, "threads": check_end, "crash": check_crash, "kill": check_crash, "missing": check_missing,
     "small": check_small, "lives": check_lives, "nowhere": check_nowhere}[CASE](workspace)
