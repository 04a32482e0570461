#!/usr/bin/env python3
"""Checks how run_suite.py reads programs and judges their runs."""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
import run_suite
from run_suite import BadProgram, Run, judge, read_program

HEADER = "/* races: {}; class: local; pes: 2 */\n"
RACY = "put();  // race 1\nstore();  // race 2\n"
BOTH_PLACES = "[pe 0/2 host] data race: put at local_a.c:2, store at local_a.c:3"


def program(verdict, text):
    return read_program(pathlib.Path("local_a.c"), HEADER.format(verdict) + text)


def texts(complaints):
    return [text for text, _ in complaints]


class Reading(unittest.TestCase):
    def test_header_and_marks(self):
        text = "/* races: always; class: local; pes: 3; flags: -fopenmp -lm */\nput();  // race 1 and 2\nget();  // race 1\n"
        read = read_program(pathlib.Path("local_a.c"), text)
        self.assertEqual((read.verdict, read.kind, read.pes, read.flags), ("always", "local", 3, ["-fopenmp", "-lm"]))
        self.assertEqual(read.marks, {1: {2, 3}, 2: {2}})

    def test_mistakes_of_programs(self):
        for name, text in (("local_a.c", "int main(void);\n"), ("local_a.c", ""),
                           ("remote_a.c", HEADER.format("none")),
                           ("local_a.c", HEADER.format("never")),
                           ("local_a.c", HEADER.format("none") + RACY),
                           ("local_a.c", HEADER.format("always") + "put();  // race 1\n")):
            with self.subTest(text=text), self.assertRaises(BadProgram):
                read_program(pathlib.Path(name), text)

    def test_programs_of_the_suite(self):
        paths = sorted((pathlib.Path(__file__).parent / "programs").iterdir())
        read = [read_program(path, path.read_text()) for path in paths]
        correct = sum(program.verdict == "none" for program in read)
        self.assertGreaterEqual(correct, 60)
        self.assertGreaterEqual(len(read) - correct, 60)


class Judging(unittest.TestCase):
    def test_always(self):
        racy = program("always", RACY)
        self.assertEqual(judge(racy, [Run(66, BOTH_PLACES)] * 3), [])
        self.assertEqual(texts(judge(racy, [Run(66, BOTH_PLACES), Run(0, "")])), ["races always, reported in 1 of 2 runs"])
        self.assertEqual(texts(judge(racy, [Run(0, BOTH_PLACES)])), ["ended with 0 despite a report"])

    def test_places(self):
        racy = program("always", RACY)
        for text, missing in (("data race: local_a.c:2", "no report names line 3 (race 2)"),
                              ("data race: local_a.c:21 local_a.c:3", "no report names line 2 (race 1)"),
                              ("data race: nonlocal_a.c:2 local_a.c:3", "no report names line 2 (race 1)")):
            with self.subTest(text=text):
                self.assertEqual(texts(judge(racy, [Run(66, text)])), [missing])
        either = program("always", RACY + "load();  // race 2\n")
        self.assertEqual(judge(either, [Run(66, "data race: local_a.c:2 local_a.c:4")]), [])

    def test_none(self):
        correct = program("none", "put();\n")
        self.assertEqual(judge(correct, [Run(0, ""), Run(0, "a line")]), [])
        self.assertEqual(texts(judge(correct, [Run(0, ""), Run(66, BOTH_PLACES)])), ["a correct program is reported"])
        self.assertEqual(texts(judge(correct, [Run(0, BOTH_PLACES)])), ["a correct program is reported"])
        self.assertEqual(texts(judge(correct, [Run(1, "")])), ["ended with 1 without a report"])

    def test_sometimes(self):
        racy = program("sometimes", RACY)
        found, missed = Run(66, BOTH_PLACES), Run(0, "")
        self.assertEqual(judge(racy, [found, missed, missed, found]), [])
        self.assertEqual(texts(judge(racy, [found, missed, missed])), ["races sometimes, reported in 1 of 3 runs"])
        self.assertEqual(texts(judge(racy, [found, Run(139, "")])), ["ended with 139 without a report"])

    def test_hang(self):
        for verdict, text in (("none", ""), ("sometimes", RACY), ("always", RACY)):
            late = judge(program(verdict, text), [Run(None, BOTH_PLACES)])
            self.assertEqual(texts(late), [f"did not end in {run_suite.SECONDS} s"])

    def test_table(self):
        rows = run_suite.table([(program("always", RACY), []), (program("sometimes", RACY), [("missed", "")]),
                                (program("none", ""), [])])
        self.assertEqual(list(rows)[2:], ["| local | 1 of 2 | 1 of 1 |", "| all | 1 of 2 | 1 of 1 |"])


if __name__ == "__main__":
    unittest.main()
