"""Parts of tools/gpu-check that a machine without a GPU can try: what is read off NVIDIA's tools, programs, wheels."""
import io
import os
import pathlib
import sys
import tarfile
import tempfile
import unittest
import zipfile
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tools"))
from gpu_check import counters, gather, narrow, peer_wheels, programs, report, sanitize  # noqa: E402
from gpu_check.console import Budget, Failure  # noqa: E402

MEMCHECK = """========= COMPUTE-SANITIZER
{"begins": "/cases/a", "device": "cuda"}
========= Invalid __global__ read of size 4 bytes
=========     at ssd_1+0x1230
=========     by thread (0,0,0) in block (0,0,0)
========= Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to "unspecified launch failure" on CUDA API call to cuStreamSynchronize.
========= ERROR SUMMARY: 2 errors
"""

NCU = """==PROF== Connected to process 1
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name",\
"Metric Name","Metric Unit","Metric Value"
"0","1","p","h","ssd_1","1","7","(256, 1, 1)","(128, 1, 1)","0","9.0","m","gpu__time_duration.sum","ns","98,848"
"0","1","p","h","ssd_1","1","7","(256, 1, 1)","(128, 1, 1)","0","9.0","m","dram__bytes_read.sum","byte","1,000"
"1","1","p","h","ssd_1","1","7","(256, 1, 1)","(128, 1, 1)","0","9.0","m","gpu__time_duration.sum","us","90.5"
"1","1","p","h","ssd_1","1","7","(256, 1, 1)","(128, 1, 1)","0","9.0","m","dram__bytes_read.sum","Kbyte","n/a"
"""


def script(place: pathlib.Path, text: str) -> pathlib.Path:
    place.write_text(text)
    place.chmod(0o755)
    return place


class Parts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_the_sanitizers_errors_are_its_first_lines(self):
        self.assertEqual(sanitize.errors_of(MEMCHECK), [
            "Invalid __global__ read of size 4 bytes",
            'Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to "unspecified launch failure" on CUDA API call to cuStreamSynchronize.'])
        self.assertEqual(sanitize.errors_of("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"), [])

    def test_cases_under_the_sanitizer_are_spread_over_all(self):
        for number in range(50):
            (self.folder / f"{number:02}").mkdir()
            (self.folder / f"{number:02}/case.json").write_text("{}")
        self.assertEqual([one.name for one in sanitize.chosen(self.folder, 5)], ["00", "10", "20", "30", "40"])
        self.assertEqual(len(sanitize.chosen(self.folder, 60)), 50)

    def test_what_the_sanitizer_finds_is_a_problem(self):
        (self.folder / "cases/a").mkdir(parents=True)
        (self.folder / "cases/a/case.json").write_text("{}")
        tools = self.folder / "tools"
        tools.mkdir()
        script(tools / "compute-sanitizer", f"#!/bin/sh\ncat <<'E'\n{MEMCHECK}E\nexit 9\n")
        with mock.patch.dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}"):
            found = sanitize.check(pathlib.Path("effc-device-check"), self.folder / "cases", Budget.of(100))
        self.assertEqual(list(found), ["memcheck", "racecheck", "synccheck"])
        self.assertEqual((found["memcheck"]["begun"], found["memcheck"]["cases"], len(found["memcheck"]["errors"])), (1, 1, 2))
        result = {"steps": [], "machine": {"gpu": {}}, "sanitizer": found}
        report.judge(result, {"gpus": {}})
        self.assertIn("compute-sanitizer racecheck: Invalid __global__ read of size 4 bytes", "\n".join(result["problems"]))

    def test_counters_are_read_with_their_units(self):
        rows = counters.rows_of(NCU)
        self.assertEqual([row["kernel"] for row in rows], ["ssd_1", "ssd_1"])
        self.assertAlmostEqual(rows[0]["seconds"], 98848e-9)
        self.assertEqual(rows[0]["dram_read_bytes"], 1000)
        self.assertAlmostEqual(rows[1]["seconds"], 90.5e-6)
        self.assertIsNone(rows[1]["dram_read_bytes"])
        self.assertEqual(counters.rows_of("==ERROR== no device\n"), [])

    def test_of_what_runs_twice_the_last_is_counted(self):
        profiler = script(self.folder / "ncu", f"#!/bin/sh\ncat <<'E'\n{NCU}E\n")
        found = counters.of_call(str(profiler), pathlib.Path("p"), pathlib.Path("f"), (False, 1, 8), 30)
        self.assertEqual([row["kernel"] for row in found], ["ssd_1"])
        self.assertAlmostEqual(found[0]["seconds"], 90.5e-6)

    def test_programs_that_do_not_start_are_built(self):
        place = self.folder / "programs"
        place.mkdir()
        for name in programs.NAMES:
            script(place / name, "#!/bin/sh\nexit 0\n")
        self.assertEqual(programs.find(self.folder, self.folder / "build", 1), place)
        script(place / "effc", "#!/bin/sh\nexit 1\n")
        with mock.patch.object(gather, "build_runtime", return_value="built") as build:
            self.assertEqual(programs.find(self.folder, self.folder / "build", 3), "built")
        build.assert_called_once_with(self.folder, self.folder / "build", 3)

    def test_what_fails_is_run_in_other_ways(self):
        # Wrong unless no launch overlaps another.
        program = script(self.folder / "effc-device-check", f"""#!{sys.executable}
import json, os, sys
devices = sys.argv[sys.argv.index("--device") + 1].split(",")
good = os.environ.get("EFFC_CUDA_OVERLAP") == "0"
print(json.dumps({{"devices": []}}))
print(json.dumps({{"name": "c", "folder": sys.argv[-1], "tolerance": 1, "apart": {{}}, "devices": {{
    name: {{"largest": 0.5, "passed": good or name != "cuda"}} for name in devices}}}}))
""")
        (self.folder / "c").mkdir()
        (self.folder / "c/case.json").write_text("{}")
        cases = [{"name": "c", "folder": "c", "tolerance": 1, "apart": {}, "devices": {"cuda": {"largest": 0.5, "passed": False}}},
                 {"name": "d", "folder": "d", "tolerance": 1, "apart": {}, "devices": {"cuda": {"largest": 0, "passed": True}}}]
        narrow.narrow(program, self.folder, cases, ["sim:90", "host"], Budget.of(60))
        self.assertEqual({name: way["passed"] for name, way in cases[0]["ways"].items()}, {
            "one launch after the other": True, "without recorded calls": False, "neither, waiting for each launch": True, "from PTX": False,
            "sim:90": True, "host": True})
        self.assertNotIn("ways", cases[1])
        # A folder for a GPU alone has no code for others.
        narrow.narrow(program, self.folder, cases, [], Budget.of(60))
        self.assertEqual(list(cases[0]["ways"]), list(narrow.WAYS))

    def test_wheels_hold_the_kernels_of_mamba_ssm_alone(self):
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w:gz") as tar:
            for name in ("mamba_ssm/__init__.py", "mamba_ssm/ops/triton/ssd_combined.py", "mamba_ssm/ops/selective_scan_interface.py",
                         "mamba_ssm/utils/torch.py", "csrc/selective_scan/selective_scan.cpp"):
                data = b"import selective_scan_cuda\n"
                member = tarfile.TarInfo(f"mamba_ssm-9.8.7/{name}")
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
        wheel = peer_wheels.wheel_of("mamba-ssm", "9.8.7", peer_wheels.triton_files(archive.getvalue()), self.folder)
        self.assertEqual(wheel.name, "mamba_ssm-9.8.7-py3-none-any.whl")
        with zipfile.ZipFile(wheel) as found:
            self.assertEqual([name for name in found.namelist() if name.endswith(".py")], [
                "mamba_ssm/ops/triton/ssd_combined.py", "mamba_ssm/utils/torch.py", "mamba_ssm/__init__.py", "mamba_ssm/ops/__init__.py",
                "mamba_ssm/ops/triton/__init__.py", "mamba_ssm/utils/__init__.py"])
            self.assertEqual(found.read("mamba_ssm/__init__.py"), b"")
            record = found.read("mamba_ssm-9.8.7.dist-info/RECORD").decode().splitlines()
            self.assertEqual(len(record), len(found.namelist()))
        empty = io.BytesIO()
        tarfile.open(fileobj=empty, mode="w:gz").close()
        with self.assertRaisesRegex(Failure, "has no mamba_ssm/ops/triton/ssd_combined.py"):
            peer_wheels.triton_files(empty.getvalue())

    def test_a_report_of_one_step_did_not_pass(self):
        result = {"steps": [{"name": "models", "seconds": 0, "error": None, "left_out": "not asked for"}], "machine": {"gpu": {}}}
        report.judge(result, {"gpus": {}})
        self.assertEqual((result["passed"], result["problems"]), (False, ["models: not asked for"]))


if __name__ == "__main__":
    unittest.main()
