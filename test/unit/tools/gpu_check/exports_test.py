"""Every kernel test that goes to a GPU is written as a file. Of those that GpuCheckFlow takes there are few."""
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tools"))
from gpu_check import kernel_cases  # noqa: E402

BUILD = pathlib.Path()


class Exports(unittest.TestCase):
    def test_all_cases_are_whole(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            # Raises where a test fails, or where a filter fits none.
            kernel_cases.export(BUILD, folder, small=False)
            cases = sorted(path.parent for path in folder.glob("*/case.json"))
            self.assertTrue(cases)
            for case in cases:
                with self.subTest(case.name):
                    about = json.loads((case / "case.json").read_text())
                    numbers = (case / "numbers.bin").stat().st_size
                    self.assertTrue(about["steps"])
                    for step in about["steps"]:
                        self.assertLessEqual(step["at"] + 8 * step.get("count", 0), numbers)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1))
    unittest.main()
