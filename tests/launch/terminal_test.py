#!/usr/bin/env python3
"""terminal_test.py CASE: oshrun in an interactive shell on a pseudo-terminal, as a user types. Needs OSHRUN, and MISUSE: a
program with wrong calls. Every wait has a limit. Status 77 without bash or pseudo-terminals."""
import fcntl
import os
import pty
import re
import select
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

OSHRUN = os.environ["OSHRUN"]
LIMIT = 20.0  # seconds that a wait may take on a busy machine


class Shell:
    """An interactive bash. Commands print words with '' inside, so that their echo does not match."""

    def __init__(self):
        try:
            self.pid, self.fd = pty.fork()
        except OSError as error:
            skip(f"no pseudo-terminal: {error}")
        if self.pid == 0:
            os.environ["OSHRUN_QUIET"] = "1"
            os.environ.pop("PYTHONUNBUFFERED", None)  # with it lines of two PEs are written word by word
            os.execvp("bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"])
        self.out = b""
        self.set_size(33, 111)
        self.type(f"PS1='$ '; PATH={shlex.quote(os.path.dirname(OSHRUN))}:$PATH; echo READ''Y\n")
        self.expect("READY")

    def set_size(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def local_modes(self):
        return termios.tcgetattr(self.fd)[3]

    def type(self, text):
        os.write(self.fd, text.encode())

    def pump(self, seconds):
        """Collects output for some time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.fd], [], [], left)[0]:
                return
            try:
                self.out += os.read(self.fd, 65536)
            except OSError:
                return

    def expect(self, pattern, limit=LIMIT):
        """Waits until the output holds the pattern, and forgets the output up to its end."""
        expression = re.compile(pattern.encode())
        end = time.monotonic() + limit
        while not (found := expression.search(self.out)):
            if time.monotonic() > end:
                fail(f"no '{pattern}'", self.out)
            self.pump(0.05)
        before = self.out[: found.start()]
        self.out = self.out[found.end():]
        return before.decode(errors="replace")

    def type_until(self, key, pattern):
        """Types the key until the output holds the pattern: a key that comes while a job is being continued is lost."""
        end = time.monotonic() + LIMIT
        while not re.search(pattern.encode(), self.out) and time.monotonic() < end:
            self.type(key)
            again = time.monotonic() + 2
            while not re.search(pattern.encode(), self.out) and time.monotonic() < again:
                self.pump(0.05)
        self.expect(pattern)

    def wait_until(self, condition, what):
        end = time.monotonic() + LIMIT
        while not condition():
            if time.monotonic() > end:
                fail(what, self.out)
            self.pump(0.05)

    def close(self):
        os.kill(self.pid, signal.SIGHUP)
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def fail(text, output=b""):
    sys.exit(f"FAILED: {text}\n--- output\n{output[-3000:].decode(errors='replace')}")


def skip(text):
    print(f"skipped: {text}")
    sys.exit(77)


def check(condition, text, output=""):
    if not condition:
        fail(text, output.encode())


READER = "sh -c '[ $SHMEMX_JOB_PE = 0 ] && { echo GI''VE; read x; echo got $x; }; exit 0'"


def background_job_goes_on(shell):
    """Keys that are typed for others do not stop a job in the background."""
    shell.type("oshrun -n 2 sh -c 'while [ ! -e stop ]; do sleep 0.05; done; echo done' >log 2>&1 & echo BEG''UN\n")
    shell.expect("BEGUN")
    shell.type("sleep 0.5\necho typed $((1+1)) ahead\n")
    shell.expect("typed 2 ahead")
    shell.type("python3 -c 'import os,tty\ntty.setraw(0)\nprint(\"RA\" + \"W\")\nn=0\nwhile n<30: n+=len(os.read(0,1))'; stty sane\n")
    shell.expect("RAW")
    for _ in range(30):
        shell.type("x")
        shell.pump(0.005)
    shell.type("jobs; echo LIS''TED\n")
    listed = shell.expect("LISTED")
    check("Running" in listed, "the job does not run", listed)
    shell.type("touch stop; wait; cat log; echo EN''D\n")
    check(shell.expect("END").count("done\r") == 2, "the job did not end in order")


def foreground_job_prints_with_tostop(shell):
    for options in "-n 2", "-l -n 2":
        shell.type(f"stty tostop; oshrun {options} sh -c 'echo hel''lo; echo wor''ld >&2'; echo rc $? EN''D\n")
        output = shell.expect("rc 0 END")
        check(output.count("hello") == 2 and output.count("world") == 2, "output is missing", output)


def pes_set_the_terminal(shell):
    shell.type("oshrun -n 2 sh -c 'stty -F /dev/tty sane; stty -echo; stty echo; stty sane <&1; echo SE''T'; echo EN''D\n")
    check(shell.expect("END").count("SET\r") == 2, "a PE has stopped")
    shell.type("oshrun -n 2 stty -echo <&1; stty -a | grep -o -- -echo' '; stty echo; echo EN''D\n")
    check("-echo " in shell.expect("END"), "the terminal has not the modes that a PE has set")


def input_that_nobody_reads_stays(shell):
    """Lines typed during a job are the shell's, except those that PE 0 reads."""
    shell.type("oshrun -n 2 sleep 0.4; echo fir''st\necho NEXT$((1+1))\noshrun -n 2 true\necho NEXT$((2+2))\n")
    shell.expect("first")
    shell.expect("NEXT2")
    shell.expect("NEXT4")
    shell.type("oshrun -n 2 sh -c '[ $SHMEMX_JOB_PE = 0 ] || exit 0; sleep 0.4; read x; echo PE got $x'; read y; echo then $y\none\ntwo\n")
    shell.expect("PE got one")
    shell.expect("then two")
    shell.type("oshrun -n 2 sleep 0.3 | cat; read y; echo pipe $y\nthree\n")
    shell.expect("pipe three")


def pe_0_reads(shell):
    shell.type(f"oshrun -n 2 {READER}\n")
    shell.expect("GIVE")
    shell.pump(0.2)
    shell.type("wor\x7frd\n")
    shell.expect("got word")
    shell.type("oshrun -n 2 cat; echo rc $? EN''D\n")
    shell.pump(0.3)
    for word in "some", "lines":
        shell.type(f"{word}\n")
        shell.expect(f"{word}\r\n{word}\r\n")
    shell.type("\x04")
    shell.expect("rc 0 END")
    shell.type("oshrun -n 2 python3 -c 'import select, sys\nif select.select([0], [], [], 15)[0]: print(\"selec\" + \"ted\", sys.stdin.readline())'\n")
    shell.pump(0.3)
    shell.type("line\n")
    shell.expect("selected line")


def background_reader_waits_for_the_foreground(shell):
    shell.type(f"oshrun -n 2 {READER} &\n")
    shell.expect("GIVE")
    shell.type("echo mine $((1+1))\n")
    shell.expect("mine 2")
    shell.type("jobs; fg\n")
    check("Running" in shell.expect("oshrun"), "the job does not run")
    shell.pump(0.2)
    shell.type("word\n")
    shell.expect("got word")


def standard_files_are_terminals(shell):
    program = "import os, sys; print(*[f.isatty() for f in (sys.stdin, sys.stdout, sys.stderr)], *os.get_terminal_size(1), 'E' + 'ND')"
    shell.type(f'oshrun -n 2 python3 -c "{program}"\n')
    lines = sorted(re.sub(".*\n", "", shell.expect("END")).strip() for _ in range(2))
    check(lines == ["False True True 111 33", "True True True 111 33"], "not terminals of this size", str(lines))
    shell.type("oshrun -n 2 python3 -c 'import sys; print(sys.stdout.isatty(), sys.stderr.isatty())' 2>&1 | sort; echo EN''D\n")
    check(shell.expect("END").count("False False") == 2, "a pipe has become a terminal")
    shell.type("oshrun -n 2 sh -c 'stty size <&1; echo SI''ZE; while [ \"$(stty size <&2)\" = \"33 111\" ]; do sleep 0.05; done; stty size <&1'; echo EN''D\n")
    sizes = shell.expect("SIZE") + shell.expect("SIZE")
    check(sizes.count("33 111\r") == 2, "not the terminal's size", sizes)
    shell.set_size(40, 90)
    check(shell.expect("END").count("40 90") == 2, "PEs do not see the new size")


def single_keys(shell):
    """A program that reads single keys gets them, Ctrl-C too; the terminal is as before when it has failed."""
    before = shell.local_modes()
    shell.type("oshrun -n 1 python3 -c 'import os, tty\ntty.setraw(0)\nprint(\"RA\" + \"W\")\nfor i in range(3): print(\"<%d>\" % os.read(0, 1)[0])\nraise SystemExit(3)'; echo rc $? EN''D\n")
    shell.expect("RAW")
    shell.wait_until(lambda: not shell.local_modes() & (termios.ICANON | termios.ECHO | termios.ISIG), "no single keys")
    for key, code in ("a", 97), ("\x03", 3), ("\r", 13):
        shell.type(key)
        shell.expect(f"<{code}>")
    shell.expect("rc 3 END")
    check(shell.local_modes() == before, "the terminal keeps the modes of a program that has failed")
    shell.type("oshrun -n 1 python3 -c 'import getpass; print(\"secret\", getpass.getpass())'\n")
    shell.expect("Password: ")
    shell.wait_until(lambda: not shell.local_modes() & termios.ECHO, "the password would be seen")
    shell.type("xyzzy\n")
    shell.expect("secret xyzzy")


def keys_that_signal(shell):
    """oshrun alone gets Ctrl-C and passes it on: each PE gets it once."""
    for key, number, name in ("\x03", signal.SIGINT, "INT"), ("\x1c", signal.SIGQUIT, "QUIT"):
        shell.type(f"oshrun -n 2 sh -c 'trap \"echo caught; exit 5\" {name}; echo RE''ADY; while :; do sleep 0.05; done'; echo rc $? EN''D\n")
        shell.expect("READY")
        shell.expect("READY")
        shell.type(key)
        check(shell.expect("rc 5 END").count("caught") == 2, f"{name} did not reach each PE once")
        shell.type("oshrun -n 2 sh -c 'echo STA''RTED; exec sleep 100'; echo rc $? EN''D\n")
        shell.expect("STARTED")
        shell.expect("STARTED")
        shell.type(key)
        shell.expect(f"rc {128 + number} END")
    # A script starts its background jobs with keys ignored.
    shell.type("sh -c 'trap : INT; oshrun -n 2 sh -c \"echo REA\"\"DY; sleep 0.5; echo sur\"\"vived\" & wait; wait; echo EN''D'\n")
    shell.expect("READY")
    shell.type("\x03")
    check(shell.expect("END").count("survived") == 2, "Ctrl-C has ended a script's background job")


def stopped_and_continued(shell):
    # Not a shell: one whose child is stopped between vfork and exec waits in state D until the child goes on.
    with open("waiter.py", "w", encoding="utf-8") as file:
        file.write("import os, time\nprint(f'PID={os.getpid()}', flush=True)\n"
                   "while not os.path.exists('stop3'): time.sleep(0.05)\nprint('bye')\n")
    shell.type(f"oshrun -n 2 {shlex.quote(sys.executable)} waiter.py\n")
    pids = []
    for _ in range(2):
        shell.expect("PID=")
        pids.append(int(shell.expect("\r")))

    def states():
        return {open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] for pid in pids}

    for resume in "bg", "fg":
        shell.type_until("\x1a", "Stopped")
        shell.wait_until(lambda: states() == {"T"}, "PEs are not stopped")
        shell.type(f"{resume}\n")
        shell.wait_until(lambda: "T" not in states(), "PEs are not continued")
        shell.pump(0.2)
        if resume == "bg":
            shell.type("fg\n")
            shell.expect("fg\r\n")
    open("stop3", "w").close()
    shell.expect("bye")
    shell.expect("bye")


def long_output_is_complete(shell):
    shell.type("oshrun -n 1 seq 1 20000; echo EN''D\n")
    numbers = shell.expect("END").replace("\r\n", "\n")
    check(numbers.endswith("".join(f"{i}\n" for i in range(1, 20001))), "lines are missing or changed", numbers[-300:])
    shell.type("oshrun -n 1 yes\n")
    shell.expect("y\r\ny\r\n")
    shell.type("\x13")  # Ctrl-S
    shell.wait_until(lambda: (shell.pump(0.3), not select.select([shell.fd], [], [], 0.5)[0])[1], "Ctrl-S has no effect")
    shell.type("\x03")
    shell.type("\x11")
    shell.type("echo rc $? EN''D\n")
    shell.expect("rc 130 END")


def hang_up_ends_the_job(shell):
    shell.type("oshrun -n 2 sh -c 'echo PI''D=$$; sleep 100'\n")
    pids = []
    for _ in range(2):
        shell.expect("PID=")
        pids.append(int(shell.expect("\r")))
    shell.close()
    end = time.monotonic() + LIMIT
    while any(os.path.exists(f"/proc/{pid}") for pid in pids):
        if time.monotonic() > end:
            fail("PEs outlive their terminal")
        time.sleep(0.05)


def lines_are_coloured(shell):
    """Lines of oshrun, of a PE that ends the job, and the headings of shmem_info."""
    misuse = shlex.quote(os.environ["MISUSE"])
    commands = f"oshrun --nons''ense; oshrun -n 1 sh -c 'exit 3'; oshrun -n 2 {misuse} put_pe; shmem_info"
    red, bold, plain = "\x1b[1;31m", "\x1b[1m", "\x1b[0m"
    host = os.uname().nodename.partition(".")[0]
    shell.type(f"export TERM=xterm; {commands}; echo EN''D\n")
    output = shell.expect("END")
    for text in (f"{red}oshrun:{plain} ", f"{red}oshrun:{plain} pe 0", f"{red}[pe ", f"{host}]{plain} shmem_int_put", f"{bold}memory{plain}"):
        check(text in output, f"no {text!r}", output)
    for setting in ("NO_COLOR=1", "TERM=dumb"):
        shell.type(f"(export {setting}; {commands}); echo EN''D\n")
        output = shell.expect("END")
        check("\x1b[1" not in output and "shmem_int_put" in output, f"colours with {setting}", output)
    shell.type(f"({commands}) 2>&1 | cat; echo EN''D\n")
    output = shell.expect("END")
    check("\x1b[1;31moshrun" not in output and "\x1b[1mmemory" not in output, "colours in a pipe", output)


def without_pseudo_terminals(shell):
    """PEs then have the terminal itself; nothing stops them either."""
    if subprocess.run(["unshare", "-rm", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        skip("no mount namespaces")
    shell.type("unshare -rm bash --norc --noprofile --noediting -i\n")
    shell.type("PS1='$ '; mount --bind /dev/null /dev/ptmx && stty tostop && echo REA''DY\n")
    shell.expect("READY")
    shell.type("oshrun -n 2 sh -c 'stty sane; echo hel''lo; [ -t 1 ] && echo a ter''minal; stty -F /dev/tty sane || :'; echo EN''D\n")
    output = shell.expect("END")
    check(output.count("hello") == 2 and output.count("a terminal") == 2, "output is missing", output)
    shell.type(f"oshrun -n 2 {READER}\n")
    shell.expect("GIVE")
    shell.type("word\n")
    shell.expect("got word")
    shell.type("exit\n")


CASES = [
    background_job_goes_on, foreground_job_prints_with_tostop, pes_set_the_terminal, input_that_nobody_reads_stays,
    pe_0_reads, background_reader_waits_for_the_foreground, standard_files_are_terminals, single_keys, keys_that_signal,
    stopped_and_continued, long_output_is_complete, hang_up_ends_the_job, lines_are_coloured, without_pseudo_terminals,
]


def main():
    case = {case.__name__: case for case in CASES}[sys.argv[1]]
    if shutil.which("bash") is None:
        skip("bash is not installed")
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        shell = Shell()
        try:
            case(shell)
        finally:
            try:
                shell.close()
            except OSError:
                pass  # the case has closed it
            os.chdir("/")


main()
