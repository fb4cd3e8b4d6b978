"""bench.py's reading of llama-bench, with a program in its place that prints what the real one prints.

The format is that of `llama-bench -o json` as its page documents it: a list with one object for each test, of which one
has n_prompt tokens and no n_gen, another the reverse; samples_ns are the nanoseconds of each run. Keys that come and go
between its releases (n_cpu_moe, devices, load_mode) must not matter, so half of the tests here have other ones.
"""

import json
import os
import sys
import tempfile
import types
import unittest
from pathlib import Path

try:
    import numpy  # noqa: F401
except ModuleNotFoundError:  # only writing weights needs it
    sys.modules["numpy"] = types.ModuleType("numpy")
sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "tools/bench"))
import bench  # noqa: E402
import long_prompts  # noqa: E402
import servers  # noqa: E402

# 512 tokens in 2, 4 and 5 seconds; 2048 in 16, 20 and 32; 64 tokens one by one in 1, 2 and 8.
LLAMA = '''#!{python}
import json, sys
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
assert sorted(given) == ["-m", "-n", "-o", "-p", "-r", "-t"] and given["-o"] == "json", sys.argv
common = {{"build_commit": "8cf427ff", "build_number": 5163, "cpu_info": "some CPU", "gpu_info": "", "backends": "CPU",
          "model_filename": given["-m"], "model_type": "mamba2 0.1B all F32", "model_size": 515000000,
          "model_n_params": 128900000, "n_batch": 2048, "n_ubatch": 512, "n_threads": int(given["-t"]),
          "type_k": "f16", "type_v": "f16", "use_mmap": True, "embeddings": False, "n_depth": 0,
          "test_time": "2026-08-30T10:19:31Z"}}
seconds = {{512: [4, 2, 5], 2048: [20, 32, 16]}}
tests = [{{**common, "n_prompt": int(n), "n_gen": 0, "samples": seconds[int(n)]}} for n in given["-p"].split(",")]
tests.append({{**common, "load_mode": "auto", "n_prompt": 0, "n_gen": int(given["-n"]), "samples": [2, 1, 8]}})
for test in tests:
    runs = test.pop("samples")
    tokens = test["n_prompt"] + test["n_gen"]
    test["samples_ns"] = [s * 10**9 for s in runs]
    test["samples_ts"] = [tokens / s for s in runs]
    test["avg_ns"], test["avg_ts"] = sum(runs) * 10**9 // 3, sum(tokens / s for s in runs) / 3
    test["stddev_ns"], test["stddev_ts"] = 1, 0.1
print("loading the model", file=sys.stderr)
print(json.dumps(tests, indent=2))
'''
OPTIONS = types.SimpleNamespace(threads=2, prefill=[512, 2048], decode=64, peer_repeat=3)


class Llama(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.program = Path(folder.name) / "llama-bench"
        path = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        os.environ["PATH"] = folder.name

    def install(self, text):
        self.program.write_text(text.format(python=sys.executable))
        self.program.chmod(0o755)

    def test_is_read(self):
        self.install(LLAMA)
        found = bench.bench_llama("model.gguf", OPTIONS)
        self.assertEqual(found["prefill"], {512: {"median": 4, "best": 2, "worst": 5, "runs": 3},
                                            2048: {"median": 20, "best": 16, "worst": 32, "runs": 3}})
        self.assertEqual(found["decode"], {"median": 2 / 64, "best": 1 / 64, "worst": 8 / 64, "runs": 3})
        self.assertEqual([test["n_threads"] for test in found["tests"]], [2, 2, 2])
        self.assertEqual(found["tests"][0]["model_filename"], "model.gguf")
        json.dumps(found)  # goes into the results

    def test_has_a_column(self):
        self.install(LLAMA)
        rows = [{"call": call, "tokens": tokens, "batch": batch, "tokens_per_second": 600.0, "fraction": fraction,
                 "in_cache": fraction > 1}
                for call, tokens, batch, fraction in [("prefill", 512, 1, 0.68), ("prefill", 100, 1, 0.61),
                                                      ("decode", 64, 1, 1.97), ("decode", 64, 8, 0.53)]]
        one = {"effc": {"results": rows}, "transformers": None, "llama": bench.bench_llama("model.gguf", OPTIONS)}
        lines = bench.table({"models": {"f32": one}}).splitlines()
        self.assertTrue(lines[0].endswith("| llama.cpp tokens/s |"))
        self.assertEqual([line.split(" | ")[-1] for line in lines[2:]], ["128.0 |", "- |", "32.0 |", "- |"])
        self.assertEqual([line.split(" | ")[4] for line in lines[2:]], ["68 %", "61 %", "197 %, in cache", "53 %"])
        one["llama"] = {"skipped": "because"}
        self.assertTrue(all(line.endswith("| - | - |") for line in bench.table({"models": {"f32": one}}).splitlines()[2:]))

    def test_says_why_there_is_nothing(self):
        self.assertEqual(bench.bench_llama("model.gguf", OPTIONS), {"skipped": "llama-bench is not on the PATH"})
        self.install(LLAMA)
        self.assertIn("no --gguf file", bench.bench_llama(None, OPTIONS)["skipped"])

    def test_that_fails_ends_the_run(self):
        self.install("#!{python}\nimport sys\nsys.exit('error: failed to load model')\n")
        with self.assertRaisesRegex(SystemExit, "llama-bench .*error: failed to load model"):
            bench.bench_llama("model.gguf", OPTIONS)
        for text in ("no JSON", '{{"n_prompt": 1}}', '[{{"n_prompt": 512, "n_gen": 0}}]'):
            self.install("#!{python}\nprint('''" + text + "''')\n")
            with self.assertRaisesRegex(SystemExit, "its JSON is not understood"):
                bench.bench_llama("model.gguf", OPTIONS)


class Arguments(unittest.TestCase):
    def test_gguf_names_its_type(self):
        self.assertEqual(bench.gguf_file("bf16=a=b.gguf"), ("bf16", "a=b.gguf"))
        for text in ("model.gguf", "f16=a", "f32=", "=a"):
            with self.assertRaises(bench.argparse.ArgumentTypeError):
                bench.gguf_file(text)


class LongPrompts(unittest.TestCase):
    """What long_prompts.py holds a model to: each of its five demands by itself; of one that grows three."""

    OPTIONS = types.SimpleNamespace(short=10, long=40)

    def result(self):
        return {"budget": {"per_session": 3 << 20, "arena": 7 << 20, "logits": 0, "tables": 0, "weights": 0,
                           "fixed_per_session": 3 << 20, "per_token": 0},
                "prefill": {10: {"us_per_token": 2.0, "bytes": 9 << 20}, 40: {"us_per_token": 2.2, "bytes": 10 << 20}},
                "positions": {"count": 20, "same_bits": 20}, "decode": {1: 5.0, 30: 5.6}}

    def test_a_sound_result_meets_all(self):
        self.assertEqual(long_prompts.judge(self.OPTIONS, self.result()), [])

    def test_each_breach_is_named(self):
        def breach(change):
            result = self.result()
            change(result)
            return long_prompts.judge(self.OPTIONS, result)

        self.assertEqual(breach(lambda r: r["prefill"][40].update(us_per_token=2.31)), ["time per token"])
        self.assertEqual(breach(lambda r: r["positions"].update(same_bits=19)), ["logits of prefill and stepping"])
        self.assertEqual(breach(lambda r: r["decode"].update({30: 5.8})), ["decode at any position"])
        self.assertEqual(breach(lambda r: r["prefill"][10].update(bytes=7 << 20)), ["memory of either length"])
        # A state, the arena and 1 MiB: 11.
        self.assertEqual(breach(lambda r: [r["prefill"][n].update(bytes=13 << 20) for n in (10, 40)]),
                         ["memory within the budget"])

    def test_keys_of_all_tokens_may_take_memory_and_time(self):
        result = self.result()
        # 3 MiB, and 1 for each of 40 tokens: of 30 tokens more 30, and 2 that are always allowed.
        result["budget"].update(per_session=43 << 20, per_token=1 << 20)
        result["prefill"][40].update(us_per_token=9.0, bytes=41 << 20)
        result["decode"].update({30: 50.0})
        self.assertEqual(long_prompts.judge(self.OPTIONS, result), [])
        result["prefill"][40].update(bytes=42 << 20)
        self.assertEqual(long_prompts.judge(self.OPTIONS, result), ["memory of either length"])
        # A window of 10 tokens is full after the short prompt.
        result["budget"].update(per_session=13 << 20)
        self.assertIn("time per token", long_prompts.judge(self.OPTIONS, result))


# Answers /health when it has loaded for a while, and streams as many events as tokens are asked for; ends one too early
# where its model's name says so.
SERVER = '''#!{python}
import json, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        loaded = time.monotonic() - began > 0.2
        self.send_response(200 if loaded else 503)
        self.end_headers()
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert asked["stream"] and asked["ignore_eos"] and asked["temperature"] == 0, asked
        self.send_response(200)
        self.end_headers()
        count = asked["max_tokens"]
        for i in range(count):
            reason = None if i + 1 < count else "stop" if given["-m"] == "short" else "length"
            event = {{"choices": [{{"text": "x", "finish_reason": reason}}]}}
            self.wfile.write(b"data: " + json.dumps(event).encode() + b"\\n\\n")
        self.wfile.write(b"data: [DONE]\\n\\n")
    def log_message(self, *_):
        print("x" * 100000, file=sys.stderr)  # more than a pipe holds
assert given["-np"] == "3" and given["-t"] == "2", sys.argv
began = time.monotonic()
ThreadingHTTPServer((given["--host"], int(given["--port"])), Handler).serve_forever()
'''
BATCHED = '''#!{python}
import json
print("loading")
print(json.dumps({{"pp": 3, "tg": 16, "pl": 3, "speed_pp": 1.0, "speed_tg": 250.0}}))
'''


class Servers(unittest.TestCase):
    OPTIONS = types.SimpleNamespace(threads=2, clients=3, tokens=16)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name, text in (("llama-server", SERVER), ("llama-batched-bench", BATCHED)):
            (self.folder / name).write_text(text.format(python=sys.executable))
            (self.folder / name).chmod(0o755)

    def test_costs_are_of_each_token(self):
        found = servers.peer_cost(self.folder, "model", self.OPTIONS)
        self.assertEqual(found["engine"], 4.0)  # of 250 tokens a second
        # Of 48 tokens none takes a second.
        self.assertTrue(0 < found["wall"] < 1000 and 0 <= found["processor"] < 1000 and found["first"] > 0, found)
        json.dumps(found)

    def test_a_stream_that_ends_early_ends_the_run(self):
        with self.assertRaisesRegex(SystemExit, "ended early"):
            servers.peer_cost(self.folder, "short", self.OPTIONS)

    def test_a_server_that_ends_is_told(self):
        (self.folder / "llama-server").write_text(f"#!{sys.executable}\nimport sys\nsys.exit('no such model')\n")
        with self.assertRaisesRegex(SystemExit, "no such model"):
            servers.peer_cost(self.folder, "model", self.OPTIONS)


if __name__ == "__main__":
    unittest.main()
