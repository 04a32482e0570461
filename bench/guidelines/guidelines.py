#!/usr/bin/env python3
"""Measures by shmem_perf, and lists the guidelines (rules.py) that do not hold.

guidelines.py --bin DIR [--output DIR] [quick|full] [--place NAME]... [--launch COMMAND] [--from PE] [--to PE]

Places: node (mapped memory), queue (messages within a node), tcp (pretended nodes). --launch measures a job of your own instead:
--launch "oshrun -n 4 -hosts a,b" --to 2. Writes results_guidelines.txt and .json into --output.
"""
import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True
from rules import best_of, check

PLACES = {"node": {}, "queue": {"SHMEMX_NODE_PATH": "queue"},
          "tcp": {"SHMEMX_PES_PER_NODE": "1", "SHMEMX_TRANSPORT": "tcp"}}
# (tests, sizes, further options) in quick and full runs; bursts of long blocks would take seconds.
LATENCIES = ("put_latency get_latency put_signal_latency message_latency", {"quick": "1:1M", "full": "1:64M"}, "")
BURSTS = ("put_bandwidth get_bandwidth", {"quick": "1:1M", "full": "1:4M"}, "-b 16 -w 2")
WORDS = ("p_latency g_latency p_rate add_latency add_rate fetch_add_latency compare_swap_latency", {}, "")
COLLECTIVES = ("barrier sync broadcast reduce fcollect collect alltoall", {"quick": "8:64K:2", "full": "8:1M:2"}, "")
KINDS = {"quick": (3, 0.01), "full": (7, 0.05)}  # runs, seconds for a row


def perf(launch, group, kind, options, places):
    tests, sizes, more = group
    command = [*launch, options.bin + "/shmem_perf", *tests.split(), *more.split(), "-t", str(KINDS[kind][1]), "--json"]
    command += ["-s", sizes[kind]] if sizes else []
    command += ["--from", options.from_pe] if options.from_pe else []
    command += ["--to", options.to_pe] if options.to_pe else []
    run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **places}, check=False, timeout=600)
    if run.returncode != 0:
        sys.exit(f"guidelines: {shlex.join(command)} ended with {run.returncode}\n{run.stderr}")
    return json.loads(run.stdout)["rows"]


def measure(place, options):
    """Returns the best times of all tests in one place, and the route. Runs of all groups take turns."""
    environment = PLACES.get(place, {})
    launch = shlex.split(options.launch) if options.launch else [options.bin + "/oshrun", "-q", "-n", "2"]
    runs, route = [], ""
    for _ in range(KINDS[options.kind][0]):
        for group in (LATENCIES, BURSTS, WORDS, COLLECTIVES):
            runs.append(perf(launch, group, options.kind, options, environment))
        route = runs[-4][0]["route_text"]
    return best_of(runs), route


def report(place, route, findings):
    broken = [finding for finding in findings if not finding.holds]
    lines = [f"{place} ({route}): {len(findings)} comparisons, {len(broken)} do not hold"]
    for finding in sorted(broken, key=lambda one: (one.rule, -one.excess)):
        lines.append(f"  {finding.rule}: {finding.left} takes {finding.left_ns:.0f} ns, {finding.right} allows "
                     f"{finding.limit_ns:.0f} ns ({finding.excess:.2f} times)")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", nargs="?", choices=KINDS, default="quick")
    parser.add_argument("--bin", required=True)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--place", action="append", choices=PLACES)
    parser.add_argument("--launch")
    parser.add_argument("--from", dest="from_pe")
    parser.add_argument("--to", dest="to_pe")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    places = ["own job"] if options.launch else options.place or list(PLACES)
    texts, results = [], []
    for place in places:
        times, route = measure(place, options)
        findings = list(check(times))
        texts.append(report(place, route, findings))
        print(texts[-1], flush=True)
        results.append({"place": place, "route": route, "times_ns": [[*key, value] for key, value in sorted(times.items())],
                        "findings": [{**vars(one), "holds": one.holds} for one in findings]})
    (options.output / "results_guidelines.txt").write_text("\n".join(texts) + "\n")
    (options.output / "results_guidelines.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
