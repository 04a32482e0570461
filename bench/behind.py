#!/usr/bin/env python3
"""Lists the rows that miss a bar or are behind a peer, the worst first.

behind.py [--run RUN] [--markdown] FILE_OR_FOLDER...

Times: by how many times the bar is exceeded, or for a row behind a peer without a bar how many times that peer's figure
is better. A row whose bar has no figure to be judged by is neither met nor missed; those are counted by their reasons.
"""
import argparse
import collections
import signal
import sys

sys.dont_write_bytecode = True
from results import NOISE, best_peer, label, read, times_worse

COLUMNS = ("times", "row", "unit", "ours", "limit", "best peer", "bar")


def behind_by(row):
    """Returns (times, bar) of the bar or peer that the row is furthest behind; None if it is behind none."""
    found = [(bar["times"] or float("inf"), bar["bar"]) for bar in row.get("bars", []) if bar["met"] is False]
    peer = best_peer(row)
    if peer and not any(bar["beside"] == "peers" for bar in row.get("bars", [])):
        times = times_worse(row, row["ours"], peer[1])
        if times and times > 1 + NOISE:
            found.append((times, f"no bar, {peer[0]}"))
    return max(found) if found else None


def unjudged(row):
    """Returns why a bar of the row has no figure to be judged by; None if all have one."""
    if all(bar["met"] is not None for bar in row.get("bars", [])):
        return None
    why = "not measured" if row["ours"] is None else "no comparator"
    return why + (f" ({row['remark'].strip()})" if row.get("remark") else "")


def cells(row, times, bar):
    peer = best_peer(row)
    text = lambda value: "-" if value is None else f"{value:g}"
    return (f"{times:.2f}", label(row), row["unit"], text(row["ours"]), text(row["limit"]),
            f"{text(peer[1])} {peer[0]}" if peer else "-", bar)


def listed(rows, markdown):
    """Returns the lines of the table and of what is without a figure."""
    found = [(*behind, row) for row in rows if (behind := behind_by(row))]
    found.sort(key=lambda one: -one[0])
    lines = [COLUMNS] + [cells(row, times, bar) for times, bar, row in found]
    if markdown:
        text = [f"| {' | '.join(line)} |" for line in lines]
        text.insert(1, "|" + "---|" * len(COLUMNS))
    else:
        widths = [max(len(line[column]) for line in lines) for column in range(len(COLUMNS))]
        text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
    missing = collections.Counter(why for row in rows if (why := unjudged(row)))
    return [f"Rows behind a bar or a peer: {len(found)} of {len(rows)}", *(text if found else []),
            f"Rows with a bar that has no figure to be judged by: {sum(missing.values())}",
            *(f"  {count}: {why}" for why, count in missing.most_common())]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("results", nargs="+", help="files that bench_driver wrote, or folders with such files")
    parser.add_argument("--run", help="only the rows of this run, as in their field run")
    parser.add_argument("--markdown", action="store_true", help="as a table of Markdown")
    options = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    rows = [row for name in options.results for row in read(name) if options.run in (None, row.get("run"))]
    print("\n".join(listed(rows, options.markdown)))


if __name__ == "__main__":
    main()
