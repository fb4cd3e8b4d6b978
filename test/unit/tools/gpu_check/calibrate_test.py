"""gpu_check.calibrate without a GPU: its kernels can be assembled, and what fails in its process is told."""
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tools"))
from gpu_check import calibrate, calibrate_kernels, calibrate_measures  # noqa: E402

# In place of the process with the GPU, which is lost in "lost", dies in "dies" and never ends "hangs".
STAND_IN = """import json, os, sys, time
def say(**line): print(json.dumps(line), flush=True)
say(gpu={"name": "a stand-in"})
print("what a driver says")
for name in sys.argv[1].split(","):
    say(begin=name)
    if name == "dies":
        sys.exit("no more")
    if name == "hangs":
        time.sleep(100)
    if name in ("fails", "lost"):
        say(over=name, error=name)
    elif name == "other":
        say(over=name, left_out="not here")
    else:
        say(over=name, parameters=[{"name": name}], seconds=0.5)
    if name == "lost":
        sys.exit(1)
"""


def recorded() -> tuple[calibrate.Recorder, dict]:
    recorder = calibrate.Recorder()
    bench, results = calibrate_measures.Bench(recorder), {}
    for name, (_, measure) in calibrate_measures.MEASURES.items():
        recorder.measure = name
        results[name] = measure(bench)
    return recorder, results


class Calibrate(unittest.TestCase):
    def test_each_parameter_says_how_it_was_measured(self):
        names = []
        for name, parameters in recorded()[1].items():
            self.assertTrue(parameters, name)
            for one in parameters:
                self.assertEqual(list(one), ["name", "unit", "value", "spread", "how", "raw"])
                self.assertGreater(one["value"], 0, one["name"])
                self.assertTrue(one["unit"] and one["how"] and one["raw"]["repeats"])
                names.append(one["name"])
        self.assertEqual(len(names), len(set(names)))

    def test_kernels_can_be_assembled(self):
        assembler = shutil.which("ptxas")
        if not assembler:
            self.skipTest("there is no ptxas")

        def assemble(item: tuple[str, str]) -> str:
            text, name = item
            # What is not for Hopper alone is for chips of 8.0.
            chips = ["sm_90a"] if f".target {calibrate_kernels.HOPPER}" in text else ["sm_90a", "sm_80"]
            path = pathlib.Path(folder) / f"{name}.ptx"
            path.write_text(text)
            for chip in chips:
                done = subprocess.run([assembler, f"-arch={chip}", "-v", path, "-o", path.with_suffix(f".{chip}")],
                                      capture_output=True, text=True)
                said = done.stdout + done.stderr
                if done.returncode or "warning" in said or "Performance Loss" in said or "0 bytes spill stores" not in said:
                    return f"{name} for {chip}: {said}"
            return ""

        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor() as pool:
            self.assertEqual([said for said in pool.map(assemble, recorded()[0].texts.items()) if said], [])

    def measured(self, names: list[str], seconds: float = 60) -> dict:
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "stand_in.py"
            program.write_text(STAND_IN)
            return calibrate.calibrate(names, seconds, [sys.executable, str(program)])

    def test_what_fails_is_told_and_the_rest_is_measured(self):
        report = self.measured(["one", "dies", "fails", "two", "lost", "other", "three"])
        self.assertEqual(report["gpu"], {"name": "a stand-in"})
        self.assertEqual([one["name"] for one in report["parameters"]], ["one", "two", "three"])
        self.assertEqual([one["name"] for one in report["errors"]], ["dies", "fails", "lost"])
        self.assertIn("status 1: no more", report["errors"][0]["error"])
        self.assertEqual(report["left_out"], [{"name": "other", "reason": "not here"}])

    def test_the_time_ends(self):
        begin = time.monotonic()
        report = self.measured(["one", "hangs", "two"], 3)
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual(report["errors"], [{"name": "hangs", "error": "it took too long"}])
        self.assertEqual(report["left_out"], [{"name": "two", "reason": "the time is over"}])

    def test_a_process_that_cannot_begin_is_an_error(self):
        report = calibrate.calibrate(["one"], 60, [sys.executable, "-c", "import sys; sys.exit('no driver')"])
        self.assertIn("no driver", report["error"])
        self.assertEqual(report["parameters"], [])


if __name__ == "__main__":
    unittest.main()
