"""Measured parameters take the place of those that are given."""
import json
import pathlib
import tempfile
import unittest

import snippets  # noqa: F401
from sass_model import fit, parameters

MEASURED = [{"name": "sm_clock", "unit": "GHz", "value": 1.98, "how": "clocks"}, {"name": "l2.latency", "unit": "cycles", "value": 262.0, "how": "a chain"},
            {"name": "wgmma.m64n128k16.ss.rate", "unit": "cycles", "value": 64.0, "how": "two groups"}, {"name": "dram.latency", "unit": "cycles", "value": None, "how": ""}]


class Fit(unittest.TestCase):
    def test_measured_values_are_taken_with_their_source(self):
        entries, kept = fit.fit(MEASURED)
        self.assertEqual(entries["clock"]["value"], 1.98e9)
        self.assertEqual(entries["l2_latency"]["source"], "measured: l2.latency, a chain")
        self.assertEqual(entries["group_product_columns"]["value"], 2.0)
        self.assertIn("dram_latency", kept)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "fitted.json")
            path.write_text(json.dumps(entries))
            loaded = parameters.load(path)
        self.assertEqual((loaded.clock, loaded.dram_latency), (1.98e9, parameters.load().dram_latency))

    def test_measurements_and_parameters_have_those_names(self):
        known = json.loads(parameters.FILE.read_text())
        self.assertLessEqual(set(fit.MEASURED), set(known))


if __name__ == "__main__":
    unittest.main()
