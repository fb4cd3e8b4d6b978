"""tools/sass-model says in one line what is wrong with what it is given."""
import json
import pathlib
import subprocess
import tempfile
import unittest

import snippets

COMMAND = pathlib.Path(snippets.__file__).resolve().parents[4] / "tools" / "sass-model"


def run(*arguments) -> subprocess.CompletedProcess:
    return subprocess.run([str(COMMAND), *map(str, arguments)], capture_output=True, text=True, check=False)


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name: str, data: bytes) -> pathlib.Path:
        path = pathlib.Path(self.folder.name, name)
        path.write_bytes(data)
        return path

    def assert_refused(self, words: str, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 1, done.stderr)
        line, = done.stderr.strip().splitlines()
        self.assertTrue(line.startswith("sass-model: error: "), line)
        self.assertIn(words, line)

    def test_files_that_are_something_else(self):
        self.assert_refused("does not begin with EFFC", self.file("a.effc", b"x" * 100))
        self.assert_refused("is cut off", self.file("b.effc", b"EFFC" + bytes([1, 0, 0, 0]) + (1000).to_bytes(8, "little") + bytes(48)))
        self.assert_refused("No such file", pathlib.Path(self.folder.name, "none.effc"))
        if not snippets.missing_tools():
            self.assert_refused("nvdisasm cannot read", self.file("c.cubin", b"x" * 100))

    def test_parameters_have_sources(self):
        done = run("--parameters")
        self.assertEqual(done.returncode, 0)
        self.assertIn("source", json.loads(done.stdout)["l2_latency"])
        self.assert_refused("needs a value, a unit and a source", self.file("a.effc", b""), "--fitted", self.file("p.json", b'{"clock": {"value": 1}}'))

    def test_help_has_examples(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("sass-model MODEL.effc --call prefill_4096:4096:16", done.stdout)


if __name__ == "__main__":
    unittest.main()
