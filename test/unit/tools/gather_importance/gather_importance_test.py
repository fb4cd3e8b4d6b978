"""gather_importance.py by a Python without torch and transformers: one that sees no installed packages."""

import importlib.util
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[4] / "tools/gather_importance.py"


def gather(*arguments):
    return subprocess.run([sys.executable, "-I", "-S", "-B", SCRIPT, *arguments], capture_output=True, text=True)


class WithoutLibraries(unittest.TestCase):
    def test_help_needs_none(self):
        done = gather("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("usage: gather_importance.py [-h] -o FILE"))

    def test_a_missing_library_is_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            done = gather(folder, folder + "/text.txt", "-o", folder + "/out.dat")
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, "gather_importance.py needs torch, which this Python lacks: "
                                          f"{sys.executable} -m pip install torch transformers\n")
            self.assertFalse(Path(folder, "out.dat").exists())

    def test_windows_have_tokens(self):
        done = gather("a", "b", "-o", "c", "--window", "0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("expects --window and --tokens of at least 1", done.stderr)


class File(unittest.TestCase):
    def test_has_means_times_windows(self):
        spec = importlib.util.spec_from_file_location("gather_importance", SCRIPT)
        script = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(script)
        found = script.encode({"a.weight": [8, 0, 2], "b.weight": [5]}, {"a.weight": 4, "b.weight": 10}, [[1], [2]],
                              "text.txt")
        self.assertEqual(found, struct.pack("<ii", 2, 8) + b"a.weight" + struct.pack("<ii3f", 2, 3, 4, 0, 1) +
                         struct.pack("<i", 8) + b"b.weight" + struct.pack("<iif", 2, 1, 1) +
                         struct.pack("<ii", 2, 8) + b"text.txt")


if __name__ == "__main__":
    unittest.main()
