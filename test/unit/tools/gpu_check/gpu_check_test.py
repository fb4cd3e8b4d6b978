"""tools/gpu-check, prepared and run on the simulated GPU, as on a machine that has a real one."""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tools"))
from gpu_check import gather, report  # noqa: E402

OPTIONS = argparse.Namespace()


def run(*command) -> subprocess.CompletedProcess:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


class Prepared(unittest.TestCase):
    """A small folder, prepared once for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(OPTIONS.scratch)
        shutil.rmtree(cls.scratch, ignore_errors=True)
        cls.folder = cls.scratch / "prepared"
        done = run(sys.executable, ROOT / "tools/gpu-check", "--prepare", cls.folder, "--small", "--build", OPTIONS.build)
        assert done.returncode == 0, done.stderr


class GpuCheckFlow(Prepared):
    def check(self, *more) -> subprocess.CompletedProcess:
        return run(sys.executable, self.folder / "gpu-check", "--device", "sim", "--programs", f"{OPTIONS.build}/bin", *more)

    def test_everything_passes_on_the_simulated_gpu(self):
        done = self.check("--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(found["problems"], [])
        self.assertTrue(all(step["error"] is None for step in found["steps"]), found["steps"])
        self.assertGreaterEqual(len(found["cases"]["cases"]), 3)
        for one in found["cases"]["cases"]:
            self.assertEqual(sorted(one["devices"]), ["host", "sim"])
            for outcome in one["devices"].values():
                self.assertLessEqual(outcome["largest"], one["tolerance"])
            # f32 in another order of summing, at most.
            self.assertLess(one["apart"]["sim and host"], 1e-5)
        for one in found["models"]:
            for outcome in one["devices"].values():
                self.assertLessEqual(outcome["relative"], outcome["allowed"])
        # Every mixer has run, and what is not there is said.
        self.assertEqual(len({one["mixer"] for one in found["mixers"]}), 6)
        for one in found["mixers"]:
            self.assertIsNone(one["seconds"])
            self.assertGreater(one["floor"]["seconds"], 0)
            self.assertTrue("error" in one["beside"] or all("error" in peer for peer in one["beside"]["peers"]))
        self.assertEqual(found["timed"][0]["bench"]["results"][0]["clock"], "host")
        text = (self.folder / "report/report.md").read_text()
        for heading in ("Machine", "Steps", "Kernel tests", "Recorded checkpoints", "Mixers", "Models", "Kernels of the timed files"):
            self.assertIn(f"## {heading}\n", text)

    def test_a_wrong_number_fails_by_name(self):
        broken = self.scratch / "broken"
        shutil.rmtree(broken, ignore_errors=True)
        shutil.copytree(self.folder, broken, ignore=shutil.ignore_patterns("report", "work"))
        with tarfile.open(broken / "data.tar.xz") as tar:
            tar.extractall(broken / "data")
        case = sorted((broken / "data/cases").iterdir())[0]
        numbers = bytearray((case / "numbers.bin").read_bytes())
        numbers[-1] ^= 0x40  # the largest exponent bit of the last expected number
        (case / "numbers.bin").write_bytes(numbers)
        (broken / "data.tar.xz").unlink()
        with tarfile.open(broken / "data.tar.xz", "w:xz", preset=0) as tar:
            for path in sorted((broken / "data").iterdir()):
                tar.add(path, path.name)
        done = run(sys.executable, broken / "gpu-check", "--device", "sim", "--programs", f"{OPTIONS.build}/bin", "--json")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(json.loads(done.stdout)["problems"], [
            f"kernel test {case.name} on {device}: too far from float64" for device in ("sim", "host")])

    def test_without_a_gpu_it_says_so(self):
        done = run(sys.executable, self.folder / "gpu-check", "--programs", f"{OPTIONS.build}/bin", "--json",
                   "--report", self.scratch / "no-gpu")
        self.assertEqual(done.returncode, 1, done.stderr)
        problems = "\n".join(json.loads(done.stdout)["problems"])
        self.assertRegex(problems, "device cuda: cuda: (there is no NVIDIA driver here|the driver)")

    def test_wrong_usage_is_one_line(self):
        for arguments, message in (
                (["--prepare", self.folder, "--build", OPTIONS.build], "is not empty"),
                (["--prepare", self.scratch / "new", "--target", "sm_75", "--build", OPTIONS.build],
                 "no such GPU target: sm_75; there are sm_80, sm_90a"),
                (["--prepare", self.scratch / "new", "--build", self.scratch], "is missing: build it first"),
                (["--device", "sim"], "was not prepared")):
            done = run(sys.executable, ROOT / "tools/gpu-check", *arguments)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, f"^gpu-check: error: .*{re.escape(message)}.*\n$")

    def test_it_is_judged_by_public_kernels_and_floors(self):
        """Errors and times made up: a larger error than a public kernel's, and six times the floor."""
        mixer = {"mixer": "ssd", "name": "ssd-64x128x64-g1", "decode": False, "sequences": 1, "tokens": 4096, "main": True,
                 "times_floor": 6.0, "beside": {"ours": {"relative": 2e-3}, "peers": [{"name": "one", "relative": 1e-3}]}}
        result = {"steps": [], "machine": {"gpu": {"name": "A GPU"}}, "mixers": [mixer]}
        report.judge(result, {"A GPU": {"ssd-64x128x64-g1 prefill 1x4096": "a reason"}})
        self.assertEqual(result["problems"],
                         ["ssd-64x128x64-g1 prefill 1x4096: relative error 2.0e-03, but a public kernel's is 1.0e-03"])
        self.assertEqual(mixer["why_slow"], "a reason")
        self.assertFalse(result["passed"])
        mixer["beside"]["ours"]["relative"] = 1e-4
        report.judge(result, {})
        self.assertTrue(result["passed"])
        self.assertIn("no note yet", mixer["why_slow"])


class GpuCheckBuild(Prepared):
    def test_the_runtime_is_built_from_what_was_gathered(self):
        build = self.scratch / "build"
        options = [option for option in gather.configure_options(self.folder) if not option.startswith("-DCMAKE_BUILD_TYPE")]
        done = run("cmake", "-S", self.folder / "source", "-B", build, "-G", "Ninja", *options, "-DCMAKE_BUILD_TYPE=Debug",
                   f"-DCMAKE_CXX_COMPILER={OPTIONS.compiler}", f"-DCMAKE_C_COMPILER={OPTIONS.c_compiler}",
                   f"-DCMAKE_CXX_COMPILER_LAUNCHER={OPTIONS.launcher}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("no Boost.Context", done.stdout)
        done = run("cmake", "--build", build, "--target", "effc", "effc-device-check")
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])
        # No header of another project was found elsewhere, and none of LLVM's anywhere.
        for line in run("ninja", "-C", build, "-t", "deps").stdout.splitlines():
            if line.startswith(" "):
                header = line.strip()
                self.assertFalse(gather.FOREIGN.search(header) and str(self.folder) not in str((build / header).resolve()), header)
                self.assertNotIn("llvm/", header.replace("/lib/llvm-22/lib/clang/", ""))
        done = run(build / "bin/effc-device-check", "cases", "--device", "sim,host", *self.unpacked_cases())
        self.assertEqual(done.returncode, 0, done.stderr)

    def unpacked_cases(self) -> list[pathlib.Path]:
        with tarfile.open(self.folder / "data.tar.xz") as tar:
            tar.extractall(self.scratch / "data")
        return sorted((self.scratch / "data/cases").iterdir())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("build", "scratch", "compiler", "c-compiler", "launcher"):
        parser.add_argument(f"--{name}", default="")
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
