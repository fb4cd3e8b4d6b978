"""What of recorded predictions may change, and what may not."""
import copy
import dataclasses
import unittest

import snippets  # noqa: F401
from sass_model import launch, predictions
from sass_model.kernel import Prediction

ROLE = {"launches": 24, "microseconds": 100.0, "bound": "L2", "registers": 122, "shared_bytes": 0,
        "budget": {"masks_percent": 10.0, "divisions": 2, "tensor_per_iteration": 8, "blocks_per_core": 2}}
RECORDED = {"ptxas": "13.0.88", "calls": {"prefill": {"milliseconds": 1.0, "rows_per_second": 1, "roles": {"in_proj linear": ROLE}}}}


def changed(**change) -> list:
    now = copy.deepcopy(RECORDED)
    role = now["calls"]["prefill"]["roles"]["in_proj linear"]
    for name, value in change.items():
        if name == "milliseconds":
            now["calls"]["prefill"][name] = value
        elif name in role:
            role[name] = value
        else:
            role["budget"][name] = value
    return predictions.differences(RECORDED, now)


class Recorded(unittest.TestCase):
    def test_little_may_change(self):
        self.assertEqual(changed(milliseconds=1.02, microseconds=102.0, masks_percent=10.9, divisions=0, tensor_per_iteration=4, blocks_per_core=3), [])

    def test_growth_is_told(self):
        self.assertEqual(changed(milliseconds=1.04), ["prefill: 1.000 ms have become 1.040 ms"])
        self.assertEqual(changed(microseconds=104.0), ["prefill, in_proj linear: 100.0 us have become 104.0 us"])

    def test_budgets_break(self):
        for change, words in (({"masks_percent": 11.5}, "masks were 10.0 %"), ({"divisions": 3}, "divisions of an iteration were 2"),
                              ({"tensor_per_iteration": 9}, "tensor instructions of an iteration were 8"), ({"blocks_per_core": 1}, "an SM held 2 blocks, now 1")):
            line, = changed(**change)
            self.assertIn(words, line)

    def test_nothing_spills(self):
        kernels = [{"name": "s4d_1", "spill_bytes": 48}, {"name": "s4d_4", "spill_bytes": 0}, {"name": "linear_2"}]
        now = {**RECORDED, "spills": predictions.spills_of({"kernels": kernels})}
        self.assertEqual(predictions.differences(RECORDED, now), ["kernel s4d_1 spills 48 bytes"])

    def test_roles_have_no_numbers(self):
        one = Prediction("ssd_4_pieces", "layers.17.ssd", *[0] * (len(dataclasses.fields(Prediction)) - 2))
        self.assertEqual(predictions.role_of(one), "ssd ssd_pieces")

    def test_each_configuration_is_recorded(self):
        every = predictions.configurations()
        self.assertEqual(sorted(path.stem for path in predictions.FOLDER.glob("*.json")), sorted([*every["configurations"], "configurations"]))

    def test_the_page_has_what_is_recorded(self):
        self.assertIn(predictions.table(), (predictions.FOLDER / "README.md").read_text())

    def test_tables_of_a_call(self):
        from sass_model.call import Call
        call = Call(10, 3, 7)
        self.assertEqual(call.lengths(), [4, 3, 3])
        self.assertEqual(call.table("Segments")[24:48], bytes.fromhex("01000000 04000000 03000000 02000000 0700000000000000"))
        self.assertEqual(call.table("OutputRows"), bytes.fromhex("03000000 06000000 09000000"))
        self.assertEqual(launch.REGION % 4096, 0)


if __name__ == "__main__":
    unittest.main()
