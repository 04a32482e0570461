#!/usr/bin/env python3
"""Shows the rows that differ between two results of the benchmark by more than repeated runs do.

compare.py OLD NEW
compare.py OLD... --new NEW...     (several runs of each side)

Each is a file that bench_driver wrote (results.json, results_scale.json, results_ethernet.json), or a folder with such
files. A side's figure is the median of its runs. A row has changed if the medians differ by more than 5 % and by more
than the runs of either side differ among each other, and if no run of one side lies among those of the other. One run
tells nothing about its noise: take three. --beside-limit compares ours divided by the limit of the same run, which
does not depend on how fast the machine was that day. Ends with 1 if a row is worse, else with 0.
"""
import argparse
import collections
import signal
import statistics
import sys

sys.dont_write_bytecode = True
from results import NOISE, key, label, read, times_worse


def figure(row, beside_limit):
    if row["ours"] is None or not beside_limit:
        return row["ours"]
    return row["ours"] / row["limit"] if row["limit"] else None


def gather(runs, beside_limit):
    """Returns {key: (row, [figure of each run])}. A key that a run has twice is counted in the order of the file."""
    gathered = {}
    for run in runs:
        seen = collections.Counter()
        for row in run:
            value = figure(row, beside_limit)
            if value is None:
                continue
            which = (*key(row), seen[key(row)])
            seen[key(row)] += 1
            gathered.setdefault(which, (row, []))[1].append(value)
    return gathered


def spread(values):
    """The range of the runs, relative to their median."""
    middle = statistics.median(values)
    return (max(values) - min(values)) / middle if middle else 0.0


class Change:
    def __init__(self, row, old, new):
        self.row, self.runs = row, (len(old), len(new))
        self.old, self.new = statistics.median(old), statistics.median(new)
        self.noise = max(NOISE, spread(old), spread(new))
        self.times = times_worse(row, self.new, self.old)  # above 1: worse
        apart = max(old) < min(new) or max(new) < min(old)
        self.changed = apart and self.times is not None and max(self.times, 1 / self.times) > 1 + self.noise
        self.worse = self.changed and self.times > 1


def compare(old_runs, new_runs, beside_limit=False):
    """Returns the changes of all rows that both sides have, and the rows that only the old and only the new ones have."""
    old, new = gather(old_runs, beside_limit), gather(new_runs, beside_limit)
    both = [Change(new[which][0], old[which][1], new[which][1]) for which in new if which in old]
    return (both, [old[which][0] for which in old if which not in new], [new[which][0] for which in new if which not in old])


def report(changes, only_old, only_new):
    changed = sorted((one for one in changes if one.changed), key=lambda one: -one.times)
    worse = sum(one.worse for one in changed)
    lines = [f"{len(changes)} rows compared: {worse} worse, {len(changed) - worse} better, the others within the noise"]
    for one in changed:
        word = "worse" if one.worse else "better"
        lines.append(f"  {max(one.times, 1 / one.times):5.2f} times {word:6}  {one.old:.4g} -> {one.new:.4g} {one.row['unit']}"
                     f" (noise {100 * one.noise:.0f} %, runs {one.runs[0]}, {one.runs[1]})  {label(one.row)}")
    for rows, side in ((only_old, "old"), (only_new, "new")):
        if rows:
            lines.append(f"{len(rows)} rows only in the {side} results:")
            lines += [f"  {label(row)}" for row in rows]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0], epilog=__doc__.split("\n\n", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="old results, and without --new the new ones behind them")
    parser.add_argument("--new", nargs="+", help="new results")
    parser.add_argument("--beside-limit", action="store_true", help="compare ours divided by the limit of the same run")
    options = parser.parse_args()
    if options.new is None and len(options.results) != 2:
        parser.error("name one old and one new result, or the new ones behind --new")
    old, new = (options.results, options.new) if options.new else (options.results[:1], options.results[1:])
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    changes, only_old, only_new = compare([read(one) for one in old], [read(one) for one in new], options.beside_limit)
    print("\n".join(report(changes, only_old, only_new)))
    return 1 if any(one.worse for one in changes) else 0


if __name__ == "__main__":
    sys.exit(main())
