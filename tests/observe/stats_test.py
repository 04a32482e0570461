#!/usr/bin/env python3
"""stats_test.py PES [NAME=VALUE...]: the summary of SHMEM_STATS for the calls of observed.c, all of it that is known:
counts, bytes, matrix, numbers of calls. Needs OSHRUN and OBSERVED."""
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from paths import path_between

PES = int(sys.argv[1])
SETTINGS = dict(setting.split("=", 1) for setting in sys.argv[2:])
PES_PER_NODE = int(SETTINGS.get("SHMEMX_PES_PER_NODE", PES))
# Of one PE to the next one: calls and bytes of each family; and one atomic to PE 0.
TO_NEXT = {"put": (15, 10 * 8 + 1000 + 4 * 8 + 5 * 8 + 4 * 8 + 8), "get": (4, 3 * 8 + 500), "atomic": (1, 8),
           "signal": (1, 8)}
if PES > 1:
    TO_NEXT["message"] = (1, 100)


def path(source, target):
    return path_between(source, target, PES_PER_NODE, SETTINGS)


def expected():
    """Returns the counts by (family, path), and by (from, to)."""
    families, matrix = {}, {}

    def add(family, source, target, operations, n_bytes):
        for table, key in ((families, (family, path(source, target))), (matrix, (source, target))):
            old = table.get(key, (0, 0))
            table[key] = (old[0] + operations, old[1] + n_bytes)

    for pe in range(PES):
        for family, (operations, n_bytes) in TO_NEXT.items():
            add(family, pe, (pe + 1) % PES, operations, n_bytes)
        add("atomic", pe, 0, 1, 8)
    return families, matrix


def run():
    environment = {**os.environ, **SETTINGS, "SHMEM_STATS": "1"}
    done = subprocess.run([os.environ["OSHRUN"], "-q", "-n", str(PES), "--timeout", "60", os.environ["OBSERVED"]],
                          env=environment, stdout=subprocess.PIPE, text=True, timeout=90, check=True)
    return done.stdout.splitlines()


def check(name, got, wanted):
    if got != wanted:
        sys.exit(f"{name}: got {got}, wanted {wanted}")


def check_matrix(lines, title, wanted):
    """The matrix begins behind its title."""
    begin = lines.index(title) + 1
    check("columns", lines[begin].split(), ["from\\to"] + [str(pe) for pe in range(PES)])
    for pe in range(PES):
        cells = lines[begin + 1 + pe].split()
        check(f"row {pe}", cells, [str(pe)] + [str(wanted.get((pe, to), ".")) for to in range(PES)])


lines = run()
nodes = -(-PES // PES_PER_NODE)
if not re.fullmatch(rf"what {PES} PEs? on {nodes} nodes? did in [0-9.]+ s \(SHMEM_STATS\)", lines[0]):
    sys.exit(f"the first line is {lines[0]}")
families, matrix = expected()
rows = {(cells[0], cells[1]): (int(cells[2]), int(cells[3])) for cells in (line.split() for line in lines[2:])
        if len(cells) == 4 and cells[1] in ("self", "mapped", "queue", "network")}
check("operations", rows, families)
if PES > 1:
    check_matrix(lines, "bytes from PEs that call to PEs whose memory it is", {k: v[1] for k, v in matrix.items()})
    check_matrix(lines, "operations", {k: v[0] for k, v in matrix.items()})
calls = {cells[0]: cells[1] for cells in (line.split() for line in lines)
         if len(cells) == 10 and cells[4] == "PE" and cells[1] != "-"}
wanted = {"shmem_barrier_all": 3, "shmem_long_sum_reduce": 1, "shmem_calloc": 1, "shmem_malloc": 1, "shmem_free": 2}
if PES > 1:
    wanted["shmemx_recv"] = 1
check("calls", calls, {name: str(PES * number) for name, number in wanted.items()})
check("imbalance", sum(line.startswith("imbalance: PE ") for line in lines), 1 if PES > 1 else 0)
check("waiting", sum(line.startswith("waiting: ") for line in lines), 1)
