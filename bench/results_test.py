#!/usr/bin/env python3
"""Tests compare.py and behind.py on results that are made up."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from behind import behind_by, listed, unjudged
from compare import compare, report

HERE = pathlib.Path(__file__).resolve().parent


def row(name="p", ours=10.0, better="low", **more):
    return {"name": name, "pes": 2, "bytes": 8, "unit": "ns", "better": better, "ours": ours, "limit": 10.0,
            "peers": {"openmpi": None}, "state": "near", "bars": [], **more}


def bar(met, times=None, beside="limit"):
    return {"beside": beside, "bar": "<= 1.5x limit", "met": met, "times": times}


def change(old, new, **more):
    """Returns the only change between runs with these figures."""
    changes, _, _ = compare([[row(ours=value, **more)] for value in old], [[row(ours=value, **more)] for value in new])
    return changes[0]


class Compare(unittest.TestCase):
    def test_more_than_the_noise_of_one_run_is_a_change(self):
        self.assertTrue(change([10], [11]).worse)
        self.assertFalse(change([10], [10.4]).changed)

    def test_a_higher_rate_is_better(self):
        self.assertTrue(change([10], [11], better="high").changed)
        self.assertFalse(change([10], [11], better="high").worse)
        self.assertTrue(change([10], [9], better="high").worse)

    def test_what_repeated_runs_differ_by_is_no_change(self):
        self.assertFalse(change([10, 12, 14], [15, 15.1, 15.2]).changed)
        self.assertTrue(change([10, 12, 14], [18, 18, 18]).worse)

    def test_runs_that_overlap_are_no_change(self):
        self.assertFalse(change([10, 10, 12], [11.9, 14, 14]).changed)

    def test_a_side_is_its_median(self):
        one = change([10, 10, 40], [20, 21, 22])
        self.assertEqual((one.old, one.new), (10, 21))
        self.assertFalse(one.changed)

    def test_beside_the_limit_a_slower_machine_is_no_change(self):
        old, new = [row(ours=10, limit=10)], [row(ours=20, limit=20)]
        self.assertTrue(compare([old], [new])[0][0].worse)
        self.assertFalse(compare([old], [new], beside_limit=True)[0][0].changed)

    def test_rows_of_one_side_are_listed(self):
        changes, only_old, only_new = compare([[row("a"), row("b")]], [[row("b"), row("c", transport="tcp")]])
        self.assertEqual(([one.row["name"] for one in changes], only_old[0]["name"], only_new[0]["name"]), (["b"], "a", "c"))
        self.assertIn("  c tcp, 2 PEs, 8 B, near", report(changes, only_old, only_new))

    def test_rows_without_a_figure_and_equal_rows_of_a_run(self):
        changes, only_old, _ = compare([[row(ours=None), row("b", 1), row("b", 5)]], [[row("b", 1), row("b", 9)]])
        self.assertEqual([one.worse for one in changes], [False, True])
        self.assertEqual(only_old, [])

    def test_the_worst_is_first_and_tells_by_the_exit_status(self):
        with tempfile.TemporaryDirectory() as folder:
            old, new = pathlib.Path(folder, "old run"), pathlib.Path(folder, "new.json")
            old.mkdir()
            (old / "results.json").write_text(json.dumps([row("a"), row("b"), row("c")]))
            (old / "results_scale.json").write_text(json.dumps([row("d")]))
            new.write_text(json.dumps([row("a", 20), row("b", 40), row("c", 5), row("d")]))
            run = lambda *names: subprocess.run([sys.executable, HERE / "compare.py", *names], capture_output=True, text=True, check=False)
            forward, backward = run(old, new), run(new, "--new", old, old)
            self.assertEqual((forward.returncode, run(new, new).returncode, run(old).returncode), (1, 0, 2))
            self.assertIn("4 rows compared: 2 worse, 1 better", forward.stdout)
            self.assertEqual([line.split()[0] for line in forward.stdout.splitlines()[1:]], ["4.00", "2.00", "2.00"])
            self.assertIn("4 rows compared: 1 worse, 2 better", backward.stdout)


class Behind(unittest.TestCase):
    def test_a_missed_bar_counts_a_met_one_does_not(self):
        self.assertEqual(behind_by(row(bars=[bar(False, 1.2), bar(True, 0.5, "peers")])), (1.2, "<= 1.5x limit"))
        self.assertIsNone(behind_by(row(bars=[bar(True, 0.9)])))

    def test_a_better_peer_counts_without_a_bar(self):
        self.assertEqual(behind_by(row(peers={"openmpi": 9.0, "mpich": 8.0})), (1.25, "no bar, mpich"))
        self.assertEqual(behind_by(row(peers={"openmpi": 20.0}, better="high")), (2, "no bar, openmpi"))
        self.assertIsNone(behind_by(row(peers={"openmpi": 9.9})))
        self.assertIsNone(behind_by(row(ours=None, peers={"openmpi": 9.0})))

    def test_the_bar_beside_the_peers_decides(self):
        self.assertIsNone(behind_by(row(peers={"openmpi": 9.0}, bars=[bar(True, 0.9, "peers")])))

    def test_a_row_without_a_comparator_is_not_met(self):
        self.assertEqual(unjudged(row(bars=[bar(None)], remark="mpich: halo (4 PEs) does not start: no network. ")),
                         "no comparator (mpich: halo (4 PEs) does not start: no network.)")
        self.assertEqual(unjudged(row(ours=None, bars=[bar(None)])), "not measured")
        self.assertIsNone(unjudged(row(bars=[bar(True, 1)])))

    def test_the_worst_is_first(self):
        rows = [row("a", bars=[bar(False, 1.1)]), row("b", bars=[bar(False, 3)]), row("c"), row("d", bars=[bar(None)])]
        for markdown in (False, True):
            lines = listed(rows, markdown)
            self.assertEqual(lines[0], "Rows behind a bar or a peer: 2 of 4")
            self.assertLess(next(i for i, line in enumerate(lines) if "b, 2 PEs" in line),
                            next(i for i, line in enumerate(lines) if "a, 2 PEs" in line))
            self.assertEqual(lines[-2:], ["Rows with a bar that has no figure to be judged by: 1", "  1: no comparator"])

    def test_only_the_rows_of_a_run(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "results.json")
            file.write_text(json.dumps([row("a", run="1", bars=[bar(False, 2)]), row("b", run="2", bars=[bar(False, 2)])]))
            run = subprocess.run([sys.executable, HERE / "behind.py", "--run", "2", file], capture_output=True, text=True, check=True)
            self.assertIn("1 of 1", run.stdout)
            self.assertNotIn("a, 2 PEs", run.stdout)


if __name__ == "__main__":
    unittest.main()
