#!/usr/bin/env python3
"""Adds a mixer to a copy of the tree, builds that, and compiles and verifies a model of it.

A mixer is its .td, its .cpp and one word of CMake: nothing else of the copy is touched. The
model's artifact must pass every check of `effc verify`: its forms and its kernels in each form
against the mixer's own definition.
"""
import argparse
import json
import pathlib
import random
import shutil
import struct
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ["CMakeLists.txt", "compiler", "codegen", "dialects", "frontend", "passes", "runtime", "tools"]


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def copy_tree(source, target):
    """Copies what differs, with its time, so that a second run builds little."""
    for part in PARTS:
        files = [source / part] if (source / part).is_file() else sorted((source / part).rglob("*"))
        for path in files:
            other = target / path.relative_to(source)
            if path.is_dir() or "__pycache__" in path.parts:
                continue
            if other.exists() and other.read_bytes() == path.read_bytes():
                continue
            other.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, other)


def add_mixer(tree):
    for name in ("LeakyAverage.td", "LeakyAverage.cpp"):
        shutil.copy2(HERE / name, tree / "dialects/seq/mixers" / name)
    cmake = tree / "dialects/seq/CMakeLists.txt"
    text = cmake.read_text()
    before = "  LinearAttention\n"
    assert text.count(before) == 1, "the list of mixers in dialects/seq/CMakeLists.txt has changed"
    changed = text.replace(before, "  LeakyAverage\n" + before)
    cmake.write_text(changed)


def write_weights(path):
    generator, header, data = random.Random(20261122), {}, b""
    for name, shape in {"embeddings": [53, 24], "in": [57, 24], "out": [24, 24]}.items():
        count = shape[0] * shape[1]
        values = struct.pack(f"<{count}f", *(generator.uniform(-1, 1) for _ in range(count)))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("cmake", nargs="*", help="further arguments of cmake's configuration")
    options = parser.parse_args()
    tree, build, model = (options.scratch / name for name in ("tree", "build", "model"))
    copy_tree(options.source, tree)
    add_mixer(tree)
    run("cmake", "-G", "Ninja", "-S", tree, "-B", build, "-DEFFC_BUILD_TESTS=OFF", "-DCMAKE_BUILD_TYPE=None",
        *options.cmake)
    run("cmake", "--build", build, "--target", "effc-compile", "effc-verify")
    model.mkdir(exist_ok=True)
    write_weights(model / "model.safetensors")
    artifact = model / "model.effc"
    run(build / "bin/effc-compile", HERE / "leaky-average.mlir", "--weights-from", model, "-o", artifact)
    report = json.loads(run(build / "bin/effc-verify", artifact, "--json"))
    names = [check["name"] for check in report["checks"]]
    print("\n".join(names))
    assert report["passed"], report
    # Every form of the mixer, and kernels of two forms at least.
    forms = [name for name in names if name.startswith("form ")]
    kernels = [name for name in names if name.startswith("kernels ")]
    assert len(forms) == 5 and len(kernels) >= 2, names


if __name__ == "__main__":
    main()
