"""Reads the results that bench_driver writes (results.json, results_scale.json, results_ethernet.json)."""
import json
import pathlib

NOISE = 0.05  # smaller differences are taken as equal, as by the driver
PEERS = ("openmpi", "mpich")


def read(path):
    """Returns the rows of a file, or of all files of results in a folder."""
    path = pathlib.Path(path)
    files = sorted(path.glob("results*.json")) if path.is_dir() else [path]
    rows = []
    for file in files:
        content = json.loads(file.read_text())
        if not isinstance(content, list):
            raise ValueError(f"{file} has no list of rows")
        rows += [row for row in content if "ours" in row]
    return rows


def key(row):
    """What tells a row from the others of a run."""
    return tuple(row.get(part) for part in ("name", "transport", "hosts", "pes", "bytes", "unit", "state"))


def label(row):
    size = row["bytes"]
    text = f"{row['name']} {row.get('transport', '')}".strip() + f", {row['pes']} PEs"
    if size:
        for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")):
            if size >= unit and size % unit == 0:
                text += f", {size // unit} {name}"
                break
    return text + (f", {row['state']}" if row.get("state") else "")


def times_worse(row, value, reference):
    """By how many times `value` is worse than `reference`; None without both."""
    if not value or not reference:
        return None
    return reference / value if row["better"] == "high" else value / reference


def best_peer(row):
    """Returns the name and figure of the best peer, or None."""
    figures = [(name, row["peers"].get(name)) for name in PEERS if row["peers"].get(name) is not None]
    if not figures:
        return None
    return (max if row["better"] == "high" else min)(figures, key=lambda one: one[1])
