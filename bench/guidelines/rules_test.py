#!/usr/bin/env python3
"""Tests the rules on times that are made up."""
import sys
import unittest

sys.dont_write_bytecode = True
from rules import GROWING, ORDERS, best_of, check


def clean():
    """Times of a machine on which all rules hold."""
    results = {}
    for test in {name for order in ORDERS for name in order[1:3]} | set(GROWING):
        for size in (8, 16, 32):
            results[test, size] = 1000.0 + size
    for test in ("barrier", "sync"):
        results = {key: value for key, value in results.items() if key[0] != test}
        results[test, 0] = 900.0
    return results


class Rules(unittest.TestCase):
    def broken(self, **times):
        results = clean()
        results.update({(name.rsplit("_", 1)[0], int(name.rsplit("_", 1)[1])): value for name, value in times.items()})
        return {finding.rule for finding in check(results) if not finding.holds}

    def test_a_clean_machine_breaks_none(self):
        self.assertEqual(self.broken(), set())
        self.assertGreater(len(list(check(clean()))), 60)

    def test_noise_is_no_offence(self):
        self.assertEqual(self.broken(put_latency_8=1100.0, barrier_0=1100.0), set())

    def test_each_order_is_checked(self):
        for rule, left, right, factor in ORDERS:
            size = 0 if left in ("barrier", "sync") else 8
            self.assertIn(rule, self.broken(**{f"{left}_{size}": 3000.0 * factor}), left)

    def test_a_get_may_take_two_puts(self):
        self.assertEqual(self.broken(get_latency_8=1900.0, get_latency_16=1900.0, get_latency_32=1900.0, get_bandwidth_8=1000.0), set())

    def test_a_small_size_that_is_slower_than_a_large_one_is_found(self):
        self.assertIn("time grows with the size", self.broken(put_latency_8=1300.0))

    def test_a_step_of_the_time_per_byte_is_found(self):
        self.assertIn("time per byte at most 1.5 times that of half the size", self.broken(put_latency_32=3300.0))
        self.assertEqual(self.broken(put_latency_32=3000.0), set())

    def test_the_best_run_counts(self):
        rows = [[{"test": "sync", "bytes": 0, "median_ns": ns}] for ns in (5.0, 3.0, 4.0)]
        self.assertEqual(best_of(rows), {("sync", 0): 3.0})


if __name__ == "__main__":
    unittest.main()
