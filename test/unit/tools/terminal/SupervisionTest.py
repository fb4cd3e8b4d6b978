#!/usr/bin/env python3
"""Signals during `effc compile` and `effc verify`: nothing stays behind, and the process dies by the signal.

The linker is a script that waits, so that the signal comes while a child of a child runs.
"""
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

BIN = pathlib.Path(os.environ["EFFC_BIN"])
MODEL = os.environ["EFFC_CHECKPOINT"]
SMALL = ["--prefill-rows", "16", "--max-batch", "1"]
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]
SECONDS = 60  # a child that nobody ends would sleep as long, and no wait here is as long as that


def is_running(process):
    """Whether there is a process of this number that has not ended."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for(condition):
    end = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.005)


class Supervision(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("bin", "tmp", "out"):
            (self.folder / name).mkdir()
        self.pids = self.folder / "pids"
        self.environment = dict(os.environ, TMPDIR=str(self.folder / "tmp"))

    def start(self, arguments, linker=None, **options):
        environment = self.environment
        if linker:
            # Sets a name for the shell and for the child that it waits for.
            script = self.folder / "bin" / "ld.lld-22"
            script.write_text(f"#!/bin/sh\n{linker}\n")
            script.chmod(0o755)
            environment = dict(environment, PATH=f"{self.folder / 'bin'}:{environment['PATH']}")
        return subprocess.Popen([str(one) for one in arguments], env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **options)

    def waiting_linker(self):
        return f'sleep {SECONDS} & echo $$ $! > "{self.pids}.new"; mv "{self.pids}.new" "{self.pids}"; wait'

    def started(self):
        wait_for(self.pids.exists)
        return [int(one) for one in self.pids.read_text().split()]

    def expect_nothing(self, children=()):
        self.assertEqual(sorted((self.folder / "tmp").rglob("*")), [])
        self.assertEqual(sorted((self.folder / "out").glob("*.partial")), [])
        for child in children:
            self.assertFalse(is_running(child))

    def compile_command(self):
        return [BIN / "effc", "compile", MODEL, "-o", self.folder / "out" / "m.effc", *SMALL]

    def test_compile(self):
        for number in SIGNALS:
            with self.subTest(signal=number.name):
                self.pids.unlink(missing_ok=True)
                process = self.start(self.compile_command(), self.waiting_linker())
                children = self.started()
                process.send_signal(number)
                out, err = process.communicate()
                self.assertEqual((process.returncode, out, err), (-number, b"", b""))
                self.expect_nothing(children)

    def test_ctrl_c(self):
        """A terminal sends the signal to all processes of the group at once."""
        process = self.start(self.compile_command(), self.waiting_linker(), start_new_session=True)
        children = self.started()
        os.killpg(process.pid, signal.SIGINT)
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.expect_nothing(children)

    def test_a_shell_sees_the_signal(self):
        process = self.start(["sh", "-c", '"$@"; echo $?', "sh", *self.compile_command()], self.waiting_linker())
        shell, child = self.started()
        effc = int(pathlib.Path(f"/proc/{shell}/stat").read_text().rsplit(")", 1)[1].split()[1])
        supervisor = int(pathlib.Path(f"/proc/{effc}/stat").read_text().rsplit(")", 1)[1].split()[1])
        os.kill(supervisor, signal.SIGTERM)
        out, _ = process.communicate()
        self.assertEqual(out.split()[-1], b"143")
        self.expect_nothing([shell, child])

    def test_ignored_signals_stay_ignored(self):
        linker = f'echo $$ > "{self.pids}"; while [ ! -e "{self.folder}/go" ]; do sleep 0.01; done; exec /usr/bin/env -u PATH "$REAL" "$@"'
        real = subprocess.run(["sh", "-c", "command -v ld.lld-22 || command -v ld.lld"], capture_output=True,
                              text=True, check=True).stdout.strip()
        self.environment["REAL"] = real
        ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
        process = self.start(self.compile_command(), linker, preexec_fn=ignore)
        self.started()
        process.send_signal(signal.SIGHUP)
        time.sleep(0.05)
        (self.folder / "go").touch()
        _, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        self.assertTrue((self.folder / "out" / "m.effc").exists())
        self.expect_nothing()

    def test_work_that_is_killed(self):
        """As by the kernel when memory is short: the work's process alone."""
        process = self.start(self.compile_command(), self.waiting_linker())
        children = self.started()
        work = int(pathlib.Path(f"/proc/{children[0]}/stat").read_text().rsplit(")", 1)[1].split()[1])
        self.assertNotEqual(work, process.pid)
        os.kill(work, signal.SIGKILL)
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.expect_nothing(children)

    def test_success_and_failure(self):
        process = self.start(self.compile_command())
        _, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        self.expect_nothing()
        process = self.start(self.compile_command(), "echo no; exit 3")
        _, err = process.communicate()
        self.assertEqual(process.returncode, 1)
        self.assertIn(b"linking the host code failed: no", err)
        self.expect_nothing()

    def test_verify(self):
        model = self.folder / "out" / "m.effc"
        self.start(self.compile_command()).communicate()
        for number in SIGNALS:
            with self.subTest(signal=number.name):
                process = self.start([BIN / "effc-verify", model, "--tokens", "400", "--seconds", "0"])
                wait_for(lambda: any(path.is_file() for path in (self.folder / "tmp").rglob("*"))
                         or process.poll() is not None)
                self.assertIsNone(process.poll(), "it has ended before a temporary file was seen")
                process.send_signal(number)
                process.communicate()
                self.assertEqual(process.returncode, -number)
                self.expect_nothing()

    def test_folder_that_is_missing(self):
        """What needs no temporary file needs no folder for any."""
        self.environment["TMPDIR"] = str(self.folder / "missing")
        process = self.start([BIN / "effc", "compile", MODEL, "--compile-to", "seq"])
        out, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        process = self.start(self.compile_command())
        _, err = process.communicate()
        self.assertEqual(process.returncode, 1)
        self.assertIn(f"'{self.folder}/missing'", err.decode())
        self.assertIn("TMPDIR", err.decode())

    def test_no_sync_gives_the_same_file(self):
        self.start(self.compile_command()).communicate()
        first = (self.folder / "out" / "m.effc").read_bytes()
        process = self.start([*self.compile_command(), "--no-sync"])
        _, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual((self.folder / "out" / "m.effc").read_bytes(), first)


if __name__ == "__main__":
    unittest.main()
