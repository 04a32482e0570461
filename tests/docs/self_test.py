#!/usr/bin/env python3
"""Tests check_tutorial.py and check_pages.py on a small project that is clean, and then has one offence after the other."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from check_pages import FOR_NEWCOMERS

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = "int main(void) {\n  puts(\"one\");\n  return 0;\n}\n"
TUTORIAL = "# Tutorial\n\n## The one\n\n```c\n  puts(\"one\");\n  return 0;\n```\n\n```console\n$ printf 'b\\na\\n'\na\nb\n$ true\n```\n"
TUNING = "# Tuning\n\n| size | constant |\n|---|---|\n| up to **24 KiB** | `kLong`, `src/sizes.hpp` |\n"


class Docs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.project = pathlib.Path(scratch.name)
        for page in FOR_NEWCOMERS:
            self.write(page, "# Page\n\nWords, and a [link](README.md).\n" if "/" not in page else "# Page\n")
        self.write("docs/README.md", "[t](tutorial.md#the-one) [m](migration.md) [t](tuning.md) [c](config.md)\n")
        self.write("docs/config.md", "# Variables\n\n## SHMEM_SIZE\n")
        self.write("docs/migration.md", "Set `SHMEM_SIZE=4`, build with `-DSHMEMX_TESTS=ON`.\n")
        self.write("docs/tutorial.md", TUTORIAL)
        self.write("docs/tuning.md", TUNING)
        self.write("examples/tutorial/1.c", PROGRAM)
        self.write("src/sizes.hpp", "constexpr std::size_t kLong = std::size_t{24} << 10;\n")

    def write(self, name, text):
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run_check(self, script, *options):
        command = [sys.executable, str(HERE / script), "--project", str(self.project), *options]
        check = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(check.stderr, "")
        return check.returncode, check.stdout

    def expect(self, offence, script, *options):
        status, output = self.run_check(script, *options)
        self.assertEqual(status, 1)
        self.assertIn(offence, output)

    def commands(self):
        return "check_tutorial.py", "--run", str(self.project), str(self.project)

    def test_a_clean_project_passes(self):
        for arguments in (("check_tutorial.py",), self.commands(), ("check_pages.py",)):
            self.assertEqual(self.run_check(*arguments)[0], 0, self.run_check(*arguments)[1])

    def test_code_that_has_drifted_is_found(self):
        self.write("examples/tutorial/1.c", PROGRAM.replace("one", "two"))
        self.expect("this C code is in no program", "check_tutorial.py")

    def test_a_program_that_is_not_shown_is_found(self):
        self.write("examples/tutorial/2.c", "int main(void) { return 0; }\n")
        self.expect("no part of 2.c is shown", "check_tutorial.py")

    def test_other_output_and_a_failing_command_are_found(self):
        self.write("docs/tutorial.md", TUTORIAL.replace("\na\nb\n", "\na\nc\n"))
        self.expect("ended with 0 and printed", *self.commands())
        self.write("docs/tutorial.md", TUTORIAL.replace("$ true", "$ exit 3"))
        self.expect("ended with 3", *self.commands())

    def test_links_that_lead_nowhere_are_found(self):
        self.write("README.md", "[a](docs/none.md)\n")
        self.expect("'docs/none.md' leads nowhere", "check_pages.py")
        self.write("README.md", "[a](docs/tutorial.md#the-two)\n")
        self.expect("no heading '#the-two'", "check_pages.py")

    def test_a_page_without_a_place_in_the_index_is_found(self):
        self.write("docs/new.md", "# New\n")
        self.expect("docs/README.md does not name docs/new.md", "check_pages.py")

    def test_long_paragraphs_and_a_long_readme_are_found(self):
        self.write("CHANGELOG.md", "word " * 121 + "\n")
        self.expect("a paragraph of 121 words", "check_pages.py")
        self.write("README.md", "line\n\n" * 50)
        self.expect("README.md: 100 lines", "check_pages.py")

    def test_a_variable_that_does_not_exist_is_found(self):
        self.write("README.md", "Run `SHMEMX_NONE=1 oshrun`.\n")
        self.expect("docs/config.md does not describe SHMEMX_NONE", "check_pages.py")

    def test_a_size_that_is_not_that_of_the_code_is_found(self):
        self.write("src/sizes.hpp", "constexpr std::size_t kLong = std::size_t{32} << 10;\n")
        self.expect("kLong of src/sizes.hpp is 32768, not **24 KiB**", "check_pages.py")
        os.remove(self.project / "src/sizes.hpp")
        self.expect("kLong of src/sizes.hpp is None", "check_pages.py")


if __name__ == "__main__":
    unittest.main()
