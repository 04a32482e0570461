#!/usr/bin/env python3
"""Prints the medians of the shapes' rows, and those in which the interposer is behind the MPI alone, worst first.

shapes.py FILE: lines "<mpi> ours|alone <row> <microseconds>".
"""
import statistics
import sys

LIMIT = 1.05  # what two runs of the same program differ by


def read(path):
    samples = {}
    for line in open(path):
        fields = line.split()
        if len(fields) == 4:
            samples.setdefault(tuple(fields[:3]), []).append(float(fields[3]))
    return {key: statistics.median(values) for key, values in samples.items()}


def main():
    medians = read(sys.argv[1])
    rows = [(ours / medians[mpi, "alone", row], mpi, row, ours, medians[mpi, "alone", row])
            for (mpi, who, row), ours in medians.items()
            if who == "ours" and (mpi, "alone", row) in medians]
    text = "{1:8} {2:30} {3:12.3f} {4:12.3f} {0:8.2f}"
    print(f"{'':8} {'us':30} {'ours':>12} {'alone':>12} {'ratio':>8}")
    for row in rows:
        print(text.format(*row))
    behind = sorted((row for row in rows if row[0] > LIMIT), reverse=True)
    print(f"\nbehind by more than {LIMIT - 1:.0%}: {len(behind)} of {len(rows)}, worst first")
    for row in behind:
        print(text.format(*row))


main()
