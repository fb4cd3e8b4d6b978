#!/usr/bin/env python3
"""Adds a mixer to a copy of the tree, builds what it needs, and holds it to the contract.

A mixer is its .td, its .cpp, one word of CMake and its test, which is a case of the contract:
nothing else of the copy is touched. All its forms and all its kernels must agree with its own
definition, on the shapes and gates of every other mixer.
"""
import argparse
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ["CMakeLists.txt", "compiler", "codegen", "dialects", "frontend", "passes", "runtime", "test", "tools"]
CASE = """      {.name = "leaky_average",
       .tokens = with(own, {operand("gate", "TH", sigmoidGate(1))}),
       .states = {matrix}},
"""


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


def insert(path, before, text):
    content = path.read_text()
    assert content.count(before) == 1, f"'{before}' is not in {path} once"
    path.write_text(content.replace(before, text + before))


def add_mixer(tree):
    for name in ("LeakyAverage.td", "LeakyAverage.cpp"):
        shutil.copy2(HERE / name, tree / "dialects/seq/mixers" / name)
    insert(tree / "dialects/seq/CMakeLists.txt", "  LinearAttention\n", "  LeakyAverage\n")
    insert(tree / "test/unit/contract/LinearCases.cpp", '      {.name = "retention",', CASE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("cmake", nargs="*", help="further arguments of cmake's configuration")
    options = parser.parse_args()
    tree, build = options.scratch / "tree", options.scratch / "build"
    copy_tree(options.source, tree)
    add_mixer(tree)
    run("cmake", "-G", "Ninja", "-S", tree, "-B", build, "-DCMAKE_BUILD_TYPE=None", *options.cmake)
    contracts = ["LinearFormsContract", "LinearKernelsContract"]
    run("cmake", "--build", build, "--target", *contracts)
    for contract in contracts:
        printed = run(build / "test/unit/contract" / contract, "--gtest_filter=*leaky_average")
        print(printed)
        assert "[  PASSED  ] " in printed and "[  PASSED  ] 0 tests" not in printed, contract


if __name__ == "__main__":
    main()
