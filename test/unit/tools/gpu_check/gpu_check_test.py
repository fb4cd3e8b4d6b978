"""tools/gpu-check, prepared and run on the simulated GPU, as on a machine that has a real one."""
import argparse
import array
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tools"))
from gpu_check import check, code_facts, console, gather, kernel_cases, machine, models, report, shapes  # noqa: E402

OPTIONS = argparse.Namespace()


# In place of a program on a machine with a GPU: the simulated one is told to play it, and times are made up.
STAND_IN = r"""#!{python}
import json, os, re, subprocess, sys
# "sim" is taken for cuda, "sim:90" for itself.
arguments = [{{"cuda": "sim"}}.get(a, a) for a in sys.argv[1:]]
cuda = lambda text: re.sub(r"\bsim\b(?!:)", "cuda", text)
if "cases" in arguments[:1]:
    going = subprocess.Popen(["{program}", *arguments], stdout=subprocess.PIPE, text=True)
    for line in going.stdout:
        print(cuda(line), end="", flush=True)
    sys.exit(going.wait())
done = subprocess.run(["{program}", *arguments], stdout=subprocess.PIPE, text=True)
text = cuda(done.stdout)
if "time" in arguments[:1] and done.returncode == 0:
    found = json.loads(text)
    for i, launch in enumerate(found["launches"]):
        launch["seconds"] = {{"median": 1e-6 * (i + 1), "p10": 1e-6, "p90": 9e-6}}
    found["call_seconds"] = found["nothing_seconds"] = {{"median": 5e-6, "p10": 4e-6, "p90": 6e-6}}
    text = json.dumps(found)
sys.stdout.write(text)
sys.exit(done.returncode)
"""


# What nvidia-smi says of a GPU.
SMI = """#!/bin/sh
case "$*" in *compute_cap*) echo 9.0 ;; *) echo '{name}, 580.82.07, 143771 MiB, 1980 MHz, 3201 MHz, 700.00 W, 31' ;; esac
"""


# A GPU that is lost once a case called "bad" has run, to the end of the process, where waiting for each launch says which it was; that
# never answers in a case called "hangs"; that takes the process with it in one called "dies".
LOST = """#!{python}
import json, os, pathlib, signal, sys, time
def say(**line):
    print(json.dumps(line), flush=True)
say(devices=[{{"name": "cuda", "description": "", "error": ""}}])
lost = False
for path in sys.argv[1:]:
    if not path.startswith("/"):
        continue
    name = pathlib.Path(path).name
    say(begins=path, device="cuda")
    if name.endswith("hangs"):
        time.sleep(600)
    if name.endswith("dies"):
        print("the end", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    lost |= name.endswith("bad")
    waits = "EFFC_CUDA_CHECK_LAUNCHES" in os.environ
    outcome = {{"error": "launch 3" if waits else "something failed", "passed": False}} if lost else {{"largest": 0, "passed": True}}
    say(name=name, folder=path, tolerance=1, devices={{"cuda": outcome}}, apart={{}})
sys.exit(1 if lost else 0)
"""


def run(*command, path: pathlib.Path | None = None) -> subprocess.CompletedProcess:
    """`path`: where programs are found first."""
    env = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"} if path else None
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, env=env)


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
        # What proves something comes before what is only timed.
        self.assertEqual([step["name"] for step in found["steps"]], [
            "unpacking", "what is in the files", "kernel tests", "recorded checkpoints", "what the machine can do", "mixers", "models",
            "public kernels and float64"])
        self.assertGreaterEqual(len(found["cases"]["cases"]), 3)
        for one in found["cases"]["cases"]:
            self.assertEqual(sorted(one["devices"]), ["host", "sim:90"])
            for outcome in one["devices"].values():
                self.assertLessEqual(outcome["largest"], one["tolerance"])
            # f32 in another order of summing, at most, where nothing is rounded.
            self.assertLess(one["apart"]["sim:90 and host"], one["tolerance"])
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

    def test_of_a_folder_for_two_gpus_either_is_played(self):
        folder = self.scratch / "two"
        shutil.rmtree(folder, ignore_errors=True)
        done = run(sys.executable, ROOT / "tools/gpu-check", "--prepare", folder, "--small", "--build", OPTIONS.build, "--target", "sm_80,sm_90a")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run(sys.executable, folder / "gpu-check", "--device", "sim:80", "--programs", f"{OPTIONS.build}/bin", "--json")
        found = json.loads(done.stdout)
        self.assertEqual(found["problems"], [], done.stderr)
        played = found["cases"]["devices"][0]
        self.assertEqual(played["name"], "sim:80")
        self.assertRegex(played["description"], r"^sim \(sm_80, played by ")
        for one in found["cases"]["cases"] + found["models"]:
            self.assertEqual(sorted(one["devices"]), ["host", "sim:80"])
        self.assertEqual({one["target"] for one in found["mixers"]}, {"sim_80"})
        self.assertRegex(found["timed"][0]["bench"]["device"], r"^sim \(sm_80, played by ")

    def test_the_simulated_gpu_runs_the_code_that_the_gpu_would(self):
        for chips, asked, capability, expected in (
                ("sm_80", "cuda", "8.0", "sim:80"), ("sm_90a", "cuda", "9.0", "sim:90"), ("sm_80,sm_90a", "cuda", "8.0", "sim:80"),
                ("sm_80,sm_90a", "cuda", "9.0", "sim:90"),
                # A later chip compiles PTX for sm_80; an unknown one is taken for one; code for sm_80 alone runs on 9.0 too.
                ("sm_80,sm_90a", "cuda", "12.0", "sim:80"), ("sm_90a,sm_80", "cuda", "", "sim:80"), ("sm_80", "cuda", "9.0", "sim:80"),
                ("sm_80", "sim", "", "sim:80"), ("sm_80,sm_90a", "sim", "8.0", "sim:90"), ("sm_80,sm_90a", "sim:80", "9.0", "sim:80")):
            self.assertEqual(machine.simulated(["host", *chips.split(",")], asked, capability), expected, (chips, asked, capability))

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
            f"kernel test {case.name} on {device}: too far from float64" for device in ("sim:90", "host")])

    def play_gpu(self, name: str, place: str) -> subprocess.CompletedProcess:
        """A run on a GPU that is called so, which the simulated one plays."""
        programs = self.scratch / "programs"
        programs.mkdir(exist_ok=True)
        (programs / "nvidia-smi").write_text(SMI.format(name=name))
        (programs / "nvidia-smi").chmod(0o755)
        for name in ("effc", "effc-device-check"):
            (programs / name).write_text(STAND_IN.format(python=sys.executable, program=f"{OPTIONS.build}/bin/{name}"))
            (programs / name).chmod(0o755)
        return run(sys.executable, self.folder / "gpu-check", "--programs", programs, "--json", "--report", self.scratch / place,
                   "--work", self.scratch / f"{place}-work", path=programs)

    def test_of_an_unknown_gpu_there_are_no_floors(self):
        done = self.play_gpu("NVIDIA GH200 480GB", "unknown")
        found = json.loads(done.stdout)
        self.assertEqual([step["error"] for step in found["steps"] if step["error"]], [], done.stderr)
        text = (self.scratch / "unknown/report.md").read_text()
        if found["ceilings"]["bytes_per_second"] is not None:
            self.skipTest("torch has measured a GPU's")
        self.assertRegex(text, r"\nCeilings: none, so that no floors are given \(.*, and those of 'NVIDIA GH200 480GB' are not known\)\.\n")
        for one in found["mixers"]:
            self.assertEqual((one["seconds"], one["floor"]["seconds"], one["own_floor"]["seconds"]), (2e-6, None, None))
            self.assertNotIn("times_floor", one)
        for one in found["timed"]:
            self.assertEqual({call["times_floor"] for call in one["bench"]["results"]}, {None})
            self.assertEqual({kernel["floor_seconds"] for kernel in one["decode_kernels"]}, {None})
        self.assertRegex(text, r"\| ssd-4x16x8-g1 prefill 1x48 \| 2\.0 \| - \| - \| - \|")

    def test_ceilings_are_those_of_effc(self):
        """Both tables of chips say the same, and what plays a target has the chip that `effc inspect` takes for it."""
        file = self.scratch / "artifacts/timed-small/mamba2_tiny.effc"
        if not file.exists():
            with tarfile.open(self.folder / "data.tar.xz") as tar:
                tar.extractall(self.scratch / "artifacts")

        def targets(*more) -> list[dict]:
            return json.loads(run(f"{OPTIONS.build}/bin/effc", "inspect", "--json", *more, file).stdout)["targets"]

        text = " ".join(run(f"{OPTIONS.build}/bin/effc", "inspect", "--help").stdout.split())
        offered = re.search(r"--chip CHIP [^(]*\(default: [^)]*\) \(([^)]*)\)", text)
        self.assertEqual(sorted(offered.group(1).split(", ")), sorted(machine.CHIPS))
        self.assertEqual(sorted(machine.NAMES.values()), sorted(machine.CHIPS))
        for name, (moved, products, source) in machine.CHIPS.items():
            self.assertEqual(targets("--chip", name)[0]["chip"], {
                "name": name, "bytes_per_second": moved, "flops_per_second": products, "source": source})
        self.assertEqual(sorted(machine.PLAYED), sorted(machine.SIMULATED.values()))
        for target in targets():
            played = f"sim:{re.search('[0-9]+', target['name']).group()}"
            self.assertEqual(target["chip"]["name"], machine.PLAYED[played])
        # Names that others have a part of.
        for name, chip in (("NVIDIA H200", "h200, "), ("NVIDIA GH200 480GB", None), ("NVIDIA H100 PCIe", None), ("", None)):
            found = machine.known_ceilings({"gpu": {"name": name}}, "cuda", "no torch")
            self.assertEqual((found["source"] or "")[:6], chip or "")
            self.assertEqual("are not known" in found["reason"], chip is None)

    def test_everything_is_reported_of_a_gpu(self):
        done = self.play_gpu("NVIDIA H200", "made-up")
        found = json.loads(done.stdout)
        self.assertEqual((found["machine"]["gpu"]["name"], found["machine"]["capability"]), ("NVIDIA H200", "9.0"))
        # All but what torch, which may not be here, compares with float64.
        missing = [report.row_name(one) for one in found["mixers"] if "ours" not in one["beside"]]
        self.assertEqual([re.sub(": not compared with float64: .*", "", problem) for problem in found["problems"]], missing, done.stderr)
        self.assertEqual(done.returncode, 1 if missing else 0, done.stderr)
        self.assertEqual([one["name"] for one in found["cases"]["devices"]], ["cuda"])
        for one in found["cases"]["cases"] + found["models"]:
            self.assertEqual(sorted(one["devices"]), ["cuda"])
        # An embedding, the mixer, a choice of rows: the second launch is the mixer's.
        for one in found["mixers"]:
            self.assertEqual([launch["seconds"]["median"] for launch in one["launches"]], [2e-6])
            self.assertEqual(one["seconds"], 2e-6)
            self.assertAlmostEqual(one["times_floor"], 2e-6 / one["floor"]["seconds"])
        self.assertEqual(sum("why_slow" in one for one in found["mixers"]), 6)
        model = found["timed"][0]
        self.assertEqual(model["decode_launches_seconds"], 5e-6)
        self.assertEqual(model["prefill_kernels"][0]["seconds"], max(kernel["seconds"] for kernel in model["prefill_kernels"]))
        self.assertTrue(any(row["registers"] and row["instructions"] for row in found["kernels"]))
        # With public kernels beside them, one of which is not there.
        for one in found["mixers"]:
            one["beside"] = {"ours": {"largest": 1e-4, "relative": 1e-4}, "peers": [
                {"package": "p", "name": "slow", "seconds": 9e-6, "largest": 1e-3, "relative": 2e-3, "first_call_seconds": 3.0},
                {"package": "p", "name": "fast", "seconds": 8e-6, "graph_seconds": 4e-6, "largest": 1e-3, "relative": 1e-3,
                 "first_call_seconds": 2.0},
                {"package": "q", "name": "absent", "error": "ModuleNotFoundError: No module named 'q'"}]}
        report.judge(found, {"gpus": {}})
        self.assertEqual(found["problems"], [])
        text = report.markdown(found)
        self.assertRegex(text, r"\| ssd-4x16x8-g1 prefill 1x48 \| 2\.0 \| .* \| fast \| 4\.0 \| 2\.00 \| 1\.0e-04 \| 7\.8e-03 \| 1\.0e-03 \| no note yet")
        self.assertIn("Of the files of kernel tests and checkpoints, for sm_90a: 2 with tma, 1 with exact wgmma, 1 with rounded wgmma.", text)
        self.assertIn("| ssd-4x16x8-g1 prefill 1x48 | slow | 9.0 | - | 1.0e-03 | 2.0e-03 | 3.0 |", text)
        self.assertIn("- absent: ModuleNotFoundError: No module named 'q'", text)

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
                (["--device", "sim:80", "--data", self.folder], "sim:80: the folder was prepared for sim:90"),
                (["--device", "sim"], "was not prepared")):
            done = run(sys.executable, ROOT / "tools/gpu-check", *arguments)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, f"^gpu-check: error: .*{re.escape(message)}.*\n$")

    def test_a_name_that_no_kernel_test_has_is_an_error(self):
        build = self.scratch / "no-tests"
        program = build / "test/unit/contract" / kernel_cases.SMALL[0][0]
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\nexit 0\n")
        program.chmod(0o755)
        with self.assertRaisesRegex(console.Failure, f"{program.name} has written no case for "):
            kernel_cases.export(build, self.scratch, True)

    def run_stub(self, names: list[str], timeout: float = 60, each: float = 30) -> dict:
        """Cases of these names by a stand-in for effc-device-check."""
        folder = self.scratch / "stub"
        shutil.rmtree(folder, ignore_errors=True)
        for name in names:
            (folder / "cases" / name).mkdir(parents=True)
            (folder / "cases" / name / "case.json").write_text("{}")
        program = folder / "effc-device-check"
        program.write_text(LOST.format(python=sys.executable))
        program.chmod(0o755)
        return kernel_cases.check(program, folder / "cases", ["cuda"], 0, timeout, each)

    def outcomes(self, found: dict) -> list[tuple[str, bool]]:
        return [(one["name"], one["devices"]["cuda"]["passed"]) for one in found["cases"]]

    def problems(self, found: dict) -> list[str]:
        result = {"steps": [], "machine": {"gpu": {}}, "cases": found}
        report.judge(result, {"gpus": {}})
        return result["problems"]

    def test_a_lost_gpu_costs_one_case(self):
        found = self.run_stub(["a-good", "b-bad", "c-good", "d-good", "e-bad"])
        self.assertEqual(self.outcomes(found), [("a-good", True), ("b-bad", False), ("c-good", True), ("d-good", True), ("e-bad", False)])
        self.assertEqual(found["not_begun"], [])
        self.assertEqual(self.problems(found), [
            f"kernel test {name} on cuda: something failed; waiting for each launch: launch 3" for name in ("b-bad", "e-bad")])

    def test_what_hangs_or_dies_costs_one_case_and_is_named(self):
        found = self.run_stub(["a-good", "b-hangs", "c-good", "d-dies", "e-dies", "f-good"], each=2)
        self.assertEqual(self.outcomes(found), [("a-good", True), ("b-hangs", False), ("c-good", True), ("d-dies", False),
                                                ("e-dies", False), ("f-good", True)])
        self.assertEqual(self.problems(found), ["kernel test b-hangs on cuda: took more than 2 s",
                                                *(f"kernel test {name} on cuda: status -9: the end" for name in ("d-dies", "e-dies"))])

    def test_when_the_time_is_over_what_came_is_kept(self):
        found = self.run_stub(["a-good", "b-hangs", "c-good", "d-good"], timeout=3)
        self.assertEqual(self.outcomes(found), [("a-good", True), ("b-hangs", False)])
        self.assertEqual(self.problems(found), ["2 kernel tests were not begun: the time was over: c-good, d-good",
                                                "kernel test b-hangs on cuda: the time was over while it ran"])

    def test_a_program_that_says_nothing_is_no_fault_of_a_case(self):
        folder = self.scratch / "silent"
        (folder / "cases/one").mkdir(parents=True, exist_ok=True)
        (folder / "cases/one/case.json").write_text("{}")
        found = kernel_cases.check(pathlib.Path("/bin/false"), folder / "cases", ["cuda"], 0, 60)
        self.assertEqual(self.problems(found), ["effc-device-check: status 1: it says nothing", "1 kernel tests were not begun: one"])

    def mixer(self, **more) -> dict:
        return {"mixer": "ssd", "name": "ssd-64x128x64-g1", "decode": False, "sequences": 1, "tokens": 4096, "main": True,
                "times_floor": 6.0, **more}

    def judged(self, mixer: dict, notes: dict | None = None, **more) -> list[str]:
        result = {"device": "cuda", "steps": [], "machine": {"gpu": {"name": "A GPU"}}, "mixers": [mixer], **more}
        report.judge(result, {"gpus": notes or {}})
        self.assertEqual(result["passed"], not result["problems"])
        return result["problems"]

    def test_it_is_judged_by_public_kernels_and_floors(self):
        """Errors and times made up: a larger error than a public kernel's, and six times the floor."""
        mixer = self.mixer(products="bf16", beside={"ours": {"relative": 2e-3}, "peers": [{"name": "one", "relative": 1e-3}]})
        self.assertEqual(self.judged(mixer, {"A GPU": {"ssd-64x128x64-g1 prefill 1x4096": "a reason"}}),
                         ["ssd-64x128x64-g1 prefill 1x4096: relative error 2.0e-03, but a public kernel's is 1.0e-03"])
        self.assertEqual(mixer["why_slow"], "a reason")
        mixer["beside"]["ours"]["relative"] = 1e-4
        self.assertEqual(self.judged(mixer), [])
        self.assertIn("no note yet", mixer["why_slow"])

    def test_it_is_judged_where_no_public_kernel_ran(self):
        """Four operands that lose 2^-9 each make 7.8e-3, and nothing is lost of f32 but 1e-5."""
        name = "ssd-64x128x64-g1 prefill 1x4096"
        for products, found, allowed in (("bf16", 9e-3, "7.8e-03"), ("f16", 2e-3, "9.9e-04"), ("f32", 2e-5, "1.0e-05")):
            mixer = self.mixer(products=products, beside={"ours": {"relative": found}, "peers": []})
            self.assertEqual(self.judged(mixer), [f"{name}: relative error {found:.1e}, but {allowed} is allowed"])
            mixer["beside"]["ours"]["relative"] = found / 3
            self.assertEqual(self.judged(mixer), [])
        self.assertEqual(self.judged(self.mixer(beside={"ours": {"relative": None}, "peers": []})),
                         [f"{name}: relative error that is no number, but 1.0e-05 is allowed"])
        for beside, reason in (({}, "nothing was"), ({"error": "No module named 'torch'"}, "No module named 'torch'")):
            self.assertEqual(self.judged(self.mixer(beside=beside)), [f"{name}: not compared with float64: {reason}"])
        self.assertEqual(self.judged(self.mixer(beside={}), device="sim"), [])

    def test_a_main_shape_that_is_left_out_is_a_problem(self):
        """On a GPU: what is left out of a mixer there was to be proven. A package that is not there is none."""
        name, late = "ssd-64x128x64-g1 prefill 1x4096", "the time is over"
        mixer = self.mixer(left_out=late)
        self.assertEqual(self.judged(mixer), [f"{name}: left out: {late}"])
        self.assertEqual(self.judged(mixer, device="sim"), [])
        self.assertEqual(self.judged(self.mixer(main=False, left_out=late)), [])
        absent = self.mixer(beside={"ours": {"relative": 1e-6}, "peers": [{"package": "p", "name": "one", "error": "No module named 'fla'"}]})
        self.assertEqual(self.judged(absent), [])
        # With no time left, the main shapes of all mixers, and the others that may be left out.
        over = check.time_mixers(self.scratch, self.scratch, "cuda", {}, False, self.scratch, console.Budget.of(0))
        self.assertEqual([one["main"] for one in over], [True] * 6 + [False] * 12)
        result = {"device": "cuda", "steps": [], "machine": {"gpu": {}}, "mixers": over}
        report.judge(result, {"gpus": {}})
        self.assertEqual(result["problems"], [f"{report.row_name(one)}: left out: {late}" for one in over[:6]])
        self.assertEqual(len(result["left_out"]), 18)

    def test_main_shapes_come_first_of_what_time_is_left_for(self):
        """A budget that is spent by the first call: one is timed, the other main shapes are a problem each."""
        budget = console.Budget.of(60)

        def spend(*arguments):
            budget.end -= 60
            return {"mixer": "ssd", "name": arguments[3].name, "decode": False, "sequences": 1, "tokens": 48}

        with mock.patch("gpu_check.timing.time_mixer", spend), \
                mock.patch("gpu_check.peers.compare", return_value={"ours": {"relative": 0.0}, "peers": []}):
            found = check.time_mixers(self.scratch, self.scratch, "cuda", {}, True, self.scratch, budget)
        self.assertEqual(["left_out" in one for one in found], [False] + [True] * 6)
        self.assertEqual([one["main"] for one in found], [True] * 6 + [False])
        self.assertEqual([one["name"] for one in found[:6]], [mixer.name for mixer, _ in shapes.SMALL_MIXERS])

    def test_what_spills_is_wrong(self):
        row = {"file": "gla", "target": "sm_90a", "name": "scan_3", "spill_bytes": 8, "registers": 255}
        compared = {"sm_90a": {"files_with": {}, "spills": [{"file": "sample", "name": "ssd_4", "spill_bytes": 4}]}}
        mixer = self.mixer(main=False, left_out="the time is over")
        self.assertEqual(self.judged(mixer, kernels=[row, {**row, "spill_bytes": 0}, {**row, "spill_bytes": None}], prepared={"compared": compared}),
                         ["gla: kernel scan_3 spills 8 bytes on sm_90a", "sample: kernel ssd_4 spills 4 bytes on sm_90a"])

    def test_a_folder_that_compares_no_code_of_the_chip_is_refused(self):
        plain, exact, rounded = ({"sm_90a": {"has": has, "spills": [], "unknown": []}} for has in ([], ["tma", "exact wgmma"], ["tma", "rounded wgmma"]))
        code_facts.require(code_facts.summarise({"a": plain, "b": exact, "c": rounded}, ["sm_90a"]))
        code_facts.require(code_facts.summarise({"a": {"sm_80": plain["sm_90a"]}}, ["sm_80"]))
        for files, kind in (([plain, exact], "1 files have tma, but 2"), ([rounded, rounded], "0 files have exact wgmma, but 1"),
                            ([exact, exact], "0 files have rounded wgmma, but 1")):
            with self.assertRaisesRegex(console.Failure, f"^of what is compared on sm_90a, {kind} are the least$"):
                code_facts.require(code_facts.summarise({str(i): one for i, one in enumerate(files)}, ["sm_90a"]))

    def test_what_nobody_knows_is_not_none(self):
        """A file that was made without ptxas has neither registers nor spills; no folder is made of such files."""
        program = self.scratch / "describes"
        known = {"name": "gla_1", "box_maps": 0, "registers": 32, "spill_bytes": 0}
        for kernels, unknown in (([known], 0), ([{"name": "scan_3", "box_maps": 0}, known], 1)):
            described = {"targets": [{"name": "sm_80", "kernels": kernels}]}
            program.write_text(f"#!/bin/sh\necho '{json.dumps(described)}'\n")
            program.chmod(0o755)
            facts = code_facts.facts_of(program, self.scratch, ["sm_80"], "f32")
            self.assertEqual(facts, {"sm_80": {"has": [], "spills": [], "unknown": ["scan_3"][:unknown]}})
            summary = code_facts.summarise({"one": facts, "two": facts}, ["sm_80"])
            if not unknown:
                code_facts.require(summary)
                continue
            with self.assertRaisesRegex(console.Failure, "^the registers and spills of 2 kernels for sm_80 are unknown, since ptxas is missing: "):
                code_facts.require(summary)
        # The report, of the same file.
        (self.scratch / "described").mkdir(exist_ok=True)
        (self.scratch / "described/gla.effc").write_text("")
        rows = report.registers(program, self.scratch / "described", "cuda")
        self.assertEqual([(row["registers"], row["spill_bytes"]) for row in rows], [(None, None), (32, 0)])
        text = "\n".join(report.kernels({"kernels": [{**row, "threads": 64, "shared_bytes": 0} for row in rows], "spills": []}))
        self.assertIn("0 spill; of 1 it is unknown.", text)
        self.assertIn("| gla | scan_3 | 64 | 0 | - | - | - |", text)
        self.assertIn("| gla | gla_1 | 64 | 0 | 32 | 0 | - |", text)

    def test_what_gives_way_for_its_size(self):
        """Of every test and every family the first case stays longest, but for what no other chip could show."""
        names = ["Mixers_Contract.Agrees_gla.14", "Mixers_Contract.Agrees_gla.3", "Mixers_Contract.Agrees_ssd.3", "Shapes_Band.Agrees_1_f32.0",
                 "Shapes_Band.Agrees_2_f32.0", "Widths_Band.Agrees_1.0", "Window.Agrees.0", "Window.Agrees.4", "Window.AgreesRounded_bf16.0",
                 "Z_Narrow.Agrees_64_by_8.0"]
        found = kernel_cases.by_worth([pathlib.Path(name) for name in reversed(names)], lambda case: case.name.startswith("Z"))
        self.assertEqual([names.index(case.name) for case in found], [9, 0, 2, 3, 5, 6, 8, 1, 4, 7])

    def test_expected_numbers_lose_less_than_is_tolerated(self):
        folder = self.scratch / "cut"
        folder.mkdir(exist_ok=True)
        numbers = [1 / 3, -2e-30, 0.0, 17.0, 1e300]
        slot = bytes(range(1, 17))
        (folder / "case.json").write_text(json.dumps({"tolerance": 1e-5, "steps": [
            {"write_slot": 0, "at": 0}, {"call": "decode", "segments": [], "at": 16, "count": len(numbers)}]}))
        (folder / "numbers.bin").write_bytes(slot + array.array("d", numbers).tobytes())
        kernel_cases.cut_numbers(folder)
        data = (folder / "numbers.bin").read_bytes()
        self.assertEqual(data[:16], slot)
        cut = array.array("d", data[16:])
        self.assertNotEqual(cut[0], numbers[0])
        self.assertEqual(list(cut[2:4]), [0.0, 17.0])
        for found, number in zip(cut, numbers):
            self.assertLessEqual(abs(found - number), 1e-8 * abs(number))

    def test_nothing_is_begun_once_the_time_is_over(self):
        done = self.check("--json", "--seconds", "0", "--report", self.scratch / "late", "--work", self.scratch / "late-work")
        found = json.loads(done.stdout)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(found["left_out"], ["unpacking: the time is over"])
        self.assertEqual(found["problems"], ["unpacking: the time is over"])
        self.assertIn("## What was left out\n\n- unpacking: the time is over\n", (self.scratch / "late/report.md").read_text())
        # A model of which nothing was begun.
        folder = self.scratch / "late-models"
        (folder / "one").mkdir(parents=True, exist_ok=True)
        (folder / "one/about.json").write_text('{"products": "f32"}')
        over = console.Budget.of(0)
        models_found = models.check(pathlib.Path("/bin/false"), folder, ["cuda", "sim:90", "host"], self.scratch, over, 0, 1)
        self.assertEqual(models_found[0]["devices"], {"cuda": {"left_out": "the time was over"}, "host": {"left_out": "the time was over"},
                                                      "sim:90": {"left_out": "the time for simulation is over"}})
        result = {"steps": [], "machine": {"gpu": {}}, "models": models_found}
        report.judge(result, {"gpus": {}})
        self.assertEqual(result["problems"], ["model one on cuda: left out: the time was over"])
        self.assertEqual(result["left_out"], ["one on cuda: the time was over", "one on sim:90: the time for simulation is over",
                                              "one on host: the time was over"])


class GpuCheckBuild(Prepared):
    def test_the_runtime_is_built_from_what_was_gathered(self):
        build = self.scratch / "build"
        options = [option for option in gather.configure_options(self.folder) if not option.startswith("-DCMAKE_BUILD_TYPE")]
        done = run("cmake", "-S", self.folder / "source", "-B", build, "-G", "Ninja", *options, "-DCMAKE_BUILD_TYPE=None",
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
    # What lies in the scratch folder is removed: no folder is taken for it unasked.
    for name in ("build", "scratch", "compiler", "c-compiler", "launcher"):
        parser.add_argument(f"--{name}", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
