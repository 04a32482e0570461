"""Runs commands of a page on virtual hosts of this machine (tests/cluster), which take the place of the hosts that they name."""
import os
import pathlib
import re
import subprocess


class Hosts:
    def __init__(self, build, scratch):
        self.folder = build / "tests/bin" if build else pathlib.Path("/nonexistent")
        self.scratch = scratch

    def why_not(self):
        """Returns why there are no virtual hosts here, or None."""
        if not (self.folder / "vhosts").exists():
            return "this build has no virtual hosts"
        attempt = subprocess.run([self.folder / "vhosts", "run", "--hosts", "1", "--", "true"], capture_output=True, text=True)
        return attempt.stderr.strip() if attempt.returncode == 77 else None

    def ssh(self):
        """Returns a folder with a command ssh that reaches the virtual hosts; launchers call the one in PATH."""
        folder = self.scratch / "ssh"
        if not folder.exists():
            folder.mkdir()
            (folder / "ssh").symlink_to(self.folder / "vhosts-enter")
        return folder

    def command(self, names, text, environment):
        """Returns a command that runs `text` in a shell on the first host, and its environment."""
        for number, name in enumerate(names):
            text = re.sub(rf"\b{re.escape(name)}\b", f"h{number}", text)
        path = f"{self.ssh()}{os.pathsep}{environment['PATH']}"
        return ([self.folder / "vhosts", "shell", "--hosts", str(len(names)), "--", "bash", "-e", "-o", "pipefail", "-c", text],
                dict(environment, PATH=path))
