"""convert_pickle.py by a Python without torch and safetensors: one that sees no installed packages."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[4] / "tools/convert_pickle.py"


def convert(*arguments):
    return subprocess.run([sys.executable, "-I", "-S", "-B", SCRIPT, *arguments], capture_output=True, text=True)


class WithoutLibraries(unittest.TestCase):
    def test_help_needs_none(self):
        done = convert("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("usage: convert_pickle.py [-h] DIR\n"))

    def test_what_is_wrong_with_the_folder_is_said_first(self):
        with tempfile.TemporaryDirectory() as folder:
            done = convert(folder)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, f"{folder} holds no *.bin, *.pt, *.pth\n")
            missing = convert(folder + "/none")
            self.assertEqual((missing.returncode, missing.stderr), (1, f"{folder}/none is no folder\n"))

    def test_a_missing_library_is_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "pytorch_model.bin").touch()
            done = convert(folder)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, "convert_pickle.py needs torch, which this Python lacks: "
                                          f"{sys.executable} -m pip install torch safetensors\n")
            self.assertFalse(Path(folder, "model.safetensors").exists())


if __name__ == "__main__":
    unittest.main()
