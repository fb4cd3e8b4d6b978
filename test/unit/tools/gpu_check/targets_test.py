"""The chips that tools/gpu-check names are those of compiler/Target.h and Target.cpp."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tools"))
from gpu_check import code_facts, machine, prepare  # noqa: E402
from gpu_check.console import Failure  # noqa: E402


class Targets(unittest.TestCase):
    def test_chips_of_warp_groups(self):
        text = (ROOT / "compiler/Target.h").read_text()
        rows = re.findall(r"inline constexpr Target k\w+ = \{(.*?)\};", text, re.DOTALL)
        chips = [re.search(r'\.name = "(\w+)"', row).group(1) for row in rows if "kHopperUnits" in row]
        self.assertEqual(sorted(code_facts.WARP_GROUPS), sorted(chips))
        # Their table, and one in each row: no row gets it another way.
        self.assertEqual(text.count("kHopperUnits"), 1 + len(chips))

    def test_chips_that_are_simulated(self):
        twins = re.findall(r'simulationOf\(k\w+, "(\w+)"\)', (ROOT / "compiler/Target.cpp").read_text())
        self.assertEqual(prepare.targets_for(list(machine.SIMULATED), True), ["host", *twins, *machine.SIMULATED])
        for chip, played in machine.SIMULATED.items():
            self.assertEqual(played, "sim:" + re.search("[0-9]+", chip).group())
        with self.assertRaisesRegex(Failure, "no such GPU target: sm_75; there are " + ", ".join(machine.SIMULATED)):
            prepare.targets_for(["sm_75"], False)


if __name__ == "__main__":
    unittest.main()
