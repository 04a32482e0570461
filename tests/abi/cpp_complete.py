#!/usr/bin/env python3
"""Every routine of the standard that is not deprecated is called by a header of the C++ interface, or stands below with the reason.

cpp_complete.py INCLUDE_DIRECTORY
"""
import pathlib
import re
import sys

NOT_THERE = {
    "shmem_realloc": "a new array and swap: realloc would move objects whose addresses symmetric_ptr holds",
    "shmem_barrier": "of active sets; barrier(team) stands in its place",
    "shmem_sync": "of active sets; sync(team) stands in its place",
}


def main():
    include = pathlib.Path(sys.argv[1])
    plain = (include / "shmemx/api_plain.h").read_text()
    table = (include / "shmemx/api_table.h").read_text()
    headers = "".join(path.read_text() for path in sorted((include / "shmemx").glob("*.hpp")))
    routines = {name.replace("_ctx_", "_") if "_signal_" in name or name.endswith(("fence", "quiet")) else name
                for name in re.findall(r"SHMEMX_ROUTINE\(.*?\b(shmem_\w+), \(", plain)}
    routines |= {f"shmem_{operation}" for operation in re.findall(r"^ *X\(\S+ +\w+, +\w+(?: \*)?, +(\w+), +\(", table, re.M)}
    called = set(re.findall(r"\bshmem_(?:ctx_)?\w+", headers))
    called |= {name.replace("shmem_ctx_", "shmem_") for name in called}
    missing = sorted(routines - called - set(NOT_THERE))
    print(f"{len(routines)} routines")
    print("\n".join(f"{name}: no header of the C++ interface calls it" for name in missing))
    gone = [name for name in NOT_THERE if name not in routines or name in called]
    print("\n".join(f"{name}: is there now, or no routine" for name in gone))
    return 1 if missing or gone or len(routines) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
