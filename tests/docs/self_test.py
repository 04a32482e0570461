#!/usr/bin/env python3
"""Tests the checks of this folder on a small project that is clean, and then has one offence after the other."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from check_pages import FOR_NEWCOMERS
from hosts import Hosts

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
        self.expect("this code is in no program", "check_tutorial.py")

    def test_programs_in_cpp_are_compared_too(self):
        self.write("docs/tutorial.md", TUTORIAL + "\n```cpp\nputs(\"two\");\n```\n")
        self.expect("this code is in no program", "check_tutorial.py")
        self.write("examples/tutorial/2.cpp", "puts(\"two\");\n")
        self.assertEqual(self.run_check("check_tutorial.py")[0], 0)

    def block(self, text):
        self.write("docs/tutorial.md", f"# Tutorial\n\n## The one\n\n{text}\n")

    def test_blocks_that_do_what_they_show_pass(self):
        self.block("<!-- block: file a.txt -->\n```text\none\n```\n\n```sh\ngrep one a.txt\n```\n\n```json\n{}\n```\n\n"
                   "```c\n  puts(\"one\");\n```\n\n```console\n$ echo b\nb\n```\n\n"
                   "<!-- block: output varies -->\n```console\n$ date\nno\n```\n\n<!-- block: not run: why -->\n```perl\n1\n```")
        status, output = self.run_check("check_blocks.py")
        self.assertEqual(status, 0, output)
        for line in ("1 c: parts of", "1 console: run and compared", "1 console: run, output varies", "1 json", "1 sh: run",
                     "1 perl: not run", "docs/tutorial.md:34: why"):
            self.assertIn(line, output)

    def test_blocks_that_do_not_are_found(self):
        for text, offence in (("    make", "indented code"), ("```\nls\n```", "the language '' is none"),
                              ("```sh\ntrue\nfalse\ntrue\n```", "ended with 1"), ("```json\n{\n```", "Expecting"),
                              ("```console\n$ echo a\nb\n```", "'echo a' prints"), ("```console\na\n```", "has no command"),
                              ("```c\nf();\n```", "its context is not named"), ("```rust\nfn f() {}\n```", "is no part"),
                              ("```python\nf()\n```", "is no part"),
                              ("<!-- block: not run: -->\n```sh\nls\n```", "gives no reason"),
                              ("<!-- block: later -->\n```sh\nls\n```", "is none that check_blocks.py knows")):
            self.block(text)
            self.expect(offence, "check_blocks.py")

    def test_a_program_that_is_missing_is_counted(self):
        self.block("<!-- block: needs no_such_program -->\n```sh\nno_such_program\n```")
        self.assertIn("no_such_program is missing here", self.run_check("check_blocks.py")[1])

    def test_virtual_hosts_stand_for_those_of_the_page(self):
        block = "<!-- block: hosts node1 node2{} -->\n```sh\nsay node2,node1 node11\nfalse\ntrue\n```"
        self.block(block.format(""))
        self.assertIn("this build has no virtual hosts", self.run_check("check_blocks.py")[1])
        self.block(block.format(" needs no_such_program"))
        self.assertIn("no_such_program is missing here", self.run_check("check_blocks.py")[1])
        hosts = Hosts(self.project, self.project)
        command, environment = hosts.command(["node1", "node2"], "say node2,node1 node11", {"PATH": "/bin"})
        self.assertEqual(command[1:5] + command[-1:], ["shell", "--hosts", "2", "--", "say h1,h0 node11"])
        self.assertEqual(environment["PATH"], f"{self.project}/ssh:/bin")

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
        index = (self.project / "docs/README.md").read_text()
        self.write("CHANGELOG.md", "word\n")
        self.write("docs/long.md", "word " * 122 + "\n")
        self.write("docs/README.md", index + "[long](long.md)\n")
        self.expect("docs/long.md:1: a paragraph of 122 words", "check_pages.py")
        self.write("docs/README.md", index + "## For developers\n\n[long](long.md)\n")
        self.assertEqual(self.run_check("check_pages.py")[0], 0, self.run_check("check_pages.py")[1])
        self.write("README.md", "line\n\n" * 50)
        self.expect("README.md: 100 lines", "check_pages.py")

    def test_rows_that_do_not_explain_themselves_are_found(self):
        self.write("README.md", "| a | b |\n|---|---|\n| `x|y` | " + "word " * 118 + "|\n")
        self.assertEqual(self.run_check("check_pages.py")[0], 0, self.run_check("check_pages.py")[1])
        self.write("README.md", "| a | b |\n|---|---|\n| one | " + "word " * 120 + "|\n")
        self.expect("README.md:3: a row of 121 words", "check_pages.py")
        self.write("README.md", "Text\n\n| a | |\n|---|---|\n| | b |\n")
        self.expect("README.md:3: a column without a title", "check_pages.py")

    def test_a_variable_that_does_not_exist_is_found(self):
        self.write("README.md", "Run `SHMEMX_NONE=1 oshrun`.\n")
        self.expect("docs/config.md does not describe SHMEMX_NONE", "check_pages.py")

    def test_a_size_that_is_not_that_of_the_code_is_found(self):
        self.write("src/sizes.hpp", "constexpr std::size_t kLong = std::size_t{32} << 10;\n")
        self.expect("kLong of src/sizes.hpp is 32768, not **24 KiB**", "check_pages.py")
        os.remove(self.project / "src/sizes.hpp")
        self.expect("kLong of src/sizes.hpp is None", "check_pages.py")


SOURCE = """// fatal("x", "not a message, since it is a comment")
void f(int a) {
  if (a) fatal(routine, "argument 'lock' at %p is not a lock: allowed are %s"
                        " symmetric longs", lock, a ? "aligned" : "other");
  bad_argument(routine, "cmp", cmp, "the constants of comparisons");
}
"""
TROUBLESHOOTING = """| message | cause |
|---|---|
| `argument 'lock' at … symmetric longs` | x |
| `argument 'cmp' is …, allowed are the constants` | x |

| other | cause |
|---|---|
| `not a message` | x |
"""


class Troubleshooting(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.project = pathlib.Path(scratch.name)
        for folder in ("src", "docs"):
            (self.project / folder).mkdir()
        self.write(SOURCE, TROUBLESHOOTING)

    def write(self, source, page):
        (self.project / "src/lock.cpp").write_text(source)
        (self.project / "docs/troubleshooting.md").write_text(page)

    def output(self):
        command = [sys.executable, str(HERE / "check_troubleshooting.py"), "--project", str(self.project)]
        check = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(check.stderr, "")
        return check.stdout

    def test_a_page_with_all_messages_passes(self):
        self.assertEqual(self.output(), "each message has an entry\n")

    def test_a_message_without_an_entry_is_found(self):
        self.write(SOURCE + 'void g() { warn("%s is new, and %d more", name, 1); }\n', TROUBLESHOOTING)
        self.assertIn("src/lock.cpp:7: docs/troubleshooting.md has no entry for 'is new, and … more'", self.output())

    def test_an_entry_without_a_message_is_found(self):
        self.write(SOURCE.replace("symmetric longs", "words"), TROUBLESHOOTING)
        self.assertIn("no source has the message 'argument 'lock' at … symmetric longs'", self.output())

    def test_an_entry_that_would_match_anything_is_found(self):
        self.write(SOURCE, TROUBLESHOOTING.replace("| `argument 'cmp' is …, allowed are the constants`", "| `… is …`"))
        self.assertIn("'… is …' has too few words", self.output())

    def test_a_project_without_messages_is_found(self):
        self.write("", TROUBLESHOOTING)
        self.assertIn("this test sees nothing", self.output())


PROMISES = """| promise | state | shown by | reason |
|---|---|---|---|
| It runs. | kept | `pe3.run`, `rma.mpich` | |
| It flies. | in part | `pe1.run` | low |
| It sings. | not kept | | no voice |
"""


class Promises(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.project = pathlib.Path(scratch.name)
        (self.project / "docs").mkdir()
        (self.project / "tests").write_text("pe1.run pe3.run\n")

    def output(self, page):
        (self.project / "docs/promises.md").write_text(page)
        command = [sys.executable, str(HERE / "check_promises.py"), "--project", str(self.project), "--tests",
                   str(self.project / "tests")]
        check = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(check.stderr, "")
        return check.stdout

    def test_promises_with_tests_and_reasons_pass(self):
        self.assertEqual(self.output(PROMISES), "each promise has its tests or its reason\n")

    def test_a_test_that_does_not_exist_is_found(self):
        self.assertIn("docs/promises.md:3: there is no test pe2.run", self.output(PROMISES.replace("`pe3.run`", "`pe2.run`")))
        (self.project / "tests").write_text("pe1.run pe3.run other.mpich\n")
        self.assertIn("there is no test rma.mpich", self.output(PROMISES))

    def test_a_promise_without_test_reason_or_state_is_found(self):
        self.assertIn("'kept' without a test", self.output(PROMISES.replace("`pe3.run`, `rma.mpich`", "")))
        self.assertIn("'in part' without a reason", self.output(PROMISES.replace("low", "")))
        self.assertIn("'not kept' without a reason", self.output(PROMISES.replace("no voice", "")))
        self.assertIn("a row has a promise, a state", self.output(PROMISES.replace("not kept", "perhaps")))
        self.assertIn("this test sees nothing", self.output("# Promises\n"))


PAGE = """.SH NAME
x
.SH SYNOPSIS
.SH ROUTINES
.SH DESCRIPTION
.SH ERRORS
.SH COMPLETION AND ORDER
.SH THREADS
.SH EXAMPLE
.SH PROTOTYPES
\\fBvoid\\ shmem_long_p(long\\ *dest);\\fR
\\fBvoid\\ shmem_int_p(int\\ *dest, int\\ pe);\\fR
.SH SEE ALSO
.BR shmem_p (3),
"""


class Manual(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.manual = pathlib.Path(scratch.name)
        self.write("man3/shmem_p.3", "\\fBshmem_p(dest)\\fR\n" + PAGE)
        self.write("man3/shmem_long_p.3", ".so man3/shmem_p.3\n")
        self.write("man3/shmem_int_p.3", ".so man3/shmem_p.3\n")
        links = "".join(f'<a href="shmem_p.html">shmem_{name}_p</a>' for name in ("long", "int"))
        self.write("html/index.html", links)
        self.write("html/shmem_p.html", "shmem_long_p(long *dest) shmem_int_p(int *dest)")
        self.write("include/shmem.h", "".join(f"/** P. */\nSHMEMX_API void shmem_{t}_p({t} *dest_);\n" for t in ("long", "int")))
        self.write("symbols.txt", "SHMEM_DATA pshmem_int_p shmem_int_p shmem_long_p\n")

    def write(self, name, text):
        path = self.manual / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def offences(self):
        command = [sys.executable, str(HERE / "check_manual.py"), "--manual", str(self.manual), "--symbols",
                   str(self.manual / "symbols.txt")]
        check = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(check.stderr, "")
        return "" if check.returncode == 0 else check.stdout

    def test_a_complete_manual_passes(self):
        self.assertEqual(self.offences(), "")

    def test_a_routine_without_a_page_is_found(self):
        self.write("symbols.txt", "shmem_int_p shmem_long_p shmem_char_p\n")
        self.assertIn("shmem_char_p: no page has its prototype", self.offences())
        self.assertIn("index.html: shmem_char_p has no page", self.offences())
        self.assertIn("shmem.h: shmem_char_p is not declared", self.offences())

    def test_a_page_that_leads_elsewhere_is_found(self):
        self.write("man3/shmem_int_p.3", ".so man3/shmem_g.3\n")
        self.assertIn("shmem_int_p: no page has its prototype", self.offences())

    def test_a_page_without_a_routine_or_a_section_is_found(self):
        self.write("man3/shmem_q.3", PAGE.replace(".SH ERRORS\n", ""))
        self.assertIn("shmem_q.3: the library has no such routine", self.offences())
        self.assertIn("shmem_q.3: no section ERRORS", self.offences())

    def test_a_parameter_that_may_be_broken_is_found(self):
        self.write("man3/shmem_p.3", PAGE.replace("int\\ pe", "int pe"))
        self.assertIn("shmem_p.3: a line may break within a parameter", self.offences())

    def test_references_that_lead_nowhere_are_found(self):
        self.write("man3/shmem_p.3", PAGE + ".BR shmem_g (3),\n")
        self.write("html/shmem_p.html", 'shmem_long_p( shmem_int_p( <a href="shmem_g.html">g</a>')
        self.assertIn("shmem_p.3: there is no page shmem_g", self.offences())
        self.assertIn("shmem_p.html: 'shmem_g.html' leads nowhere", self.offences())

    def test_a_prototype_without_a_comment_and_one_too_many_are_found(self):
        self.write("include/shmem.h", "SHMEMX_API void shmem_long_p(long *dest_);\nSHMEMX_API void shmem_int_p(int *dest_);\n"
                   "SHMEMX_API void shmem_int_p(int *dest_);\nSHMEMX_API int shmem_q(void);\n")
        for offence in ("shmem_int_p has no comment", "a routine is declared twice", "shmem_q is declared, but not exported"):
            self.assertIn(offence, self.offences())


if __name__ == "__main__":
    unittest.main()
