#!/usr/bin/env python3
"""The programs that link the compiler, started with some of descriptors 0, 1 and 2 closed.

What they write is what they write with all three open, and their status is the same.
"""
import itertools
import os
import pathlib
import subprocess
import tempfile
import unittest

BIN = pathlib.Path(os.environ["EFFC_BIN"])
MODEL = os.environ["EFFC_CHECKPOINT"]


def closed_sets():
    return itertools.chain.from_iterable(itertools.combinations(range(3), n) for n in range(4))


def run(arguments, closed):
    """The exit status of a program that is started with the descriptors `closed` closed."""
    redirections = " ".join(f"{stream}{'<' if stream == 0 else '>'}&-" for stream in closed)
    line = " ".join("'" + str(argument) + "'" for argument in arguments)
    return subprocess.run(["sh", "-c", f"{line} {redirections}"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


class ClosedStreams(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return pathlib.Path(self.folder.name, name)

    def check_output(self, make):
        """`make(path)` are the arguments of a program that writes to `path`."""
        self.assertEqual(run(make(self.path("open")), ()), 0)
        expected = self.path("open").read_bytes()
        for closed in closed_sets():
            with self.subTest(closed=closed):
                out = self.path("closed")
                out.unlink(missing_ok=True)
                self.assertEqual(run(make(out), closed), 0)
                self.assertEqual(out.read_bytes(), expected)

    def test_compile(self):
        self.check_output(lambda out: [BIN / "effc-compile", MODEL, "-o", out, "--prefill-rows", "16",
                                       "--max-batch", "1"])

    def test_opt(self):
        module = self.path("module.mlir")
        self.assertEqual(run([BIN / "effc-compile", MODEL, "--compile-to", "import", "-o", module], ()), 0)
        self.check_output(lambda out: [BIN / "effc-opt", module, "-o", out])

    def test_rebind(self):
        model = self.path("model.effc")
        self.assertEqual(run([BIN / "effc-compile", MODEL, "-o", model, "--prefill-rows", "16",
                              "--max-batch", "1"], ()), 0)
        self.check_output(lambda out: [BIN / "effc-rebind", model, MODEL, "-o", out])

    def test_verify(self):
        model = self.path("model.effc")
        self.assertEqual(run([BIN / "effc-compile", MODEL, "-o", model, "--prefill-rows", "16",
                              "--max-batch", "1"], ()), 0)
        before = model.read_bytes()
        for closed in closed_sets():
            with self.subTest(closed=closed):
                self.assertEqual(run([BIN / "effc-verify", model, "--tokens", "4", "--no-compile"], closed), 0)
        self.assertEqual(model.read_bytes(), before)

    def test_others_end(self):
        for closed in closed_sets():
            with self.subTest(closed=closed):
                self.assertEqual(run([BIN / "effc-lsp-server", "--help"], closed), 0)
                self.assertEqual(run([BIN / "effc-device-check", "--help"], closed), 0)


if __name__ == "__main__":
    unittest.main()
