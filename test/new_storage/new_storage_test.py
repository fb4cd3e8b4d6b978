#!/usr/bin/env python3
"""A checkpoint compiled with weights of a storage that was added by a row of a table: it is named, it is smaller by
what the row says, and the file passes `effc verify`."""
import argparse
import json
import pathlib
import subprocess
import tempfile


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("compile", "effc", "model"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model.effc"
        run(options.compile, options.model, "-o", model, "--dtype", "s8_32", "--prefill-rows", "16", "--max-batch", "1")
        weights = json.loads(run(options.effc, "inspect", model, "--json", "--check"))["weights"]
        stored = [weight for weight in weights if weight["type"] == "s8_32"]
        assert stored, weights
        for weight in stored:
            rows, columns = weight["shape"]
            # 32 codes of a byte and an f32. Rows are not padded; those of products lie 16 by 16.
            row = columns // 32 * 36
            assert weight["bytes"] in (rows * row, -(-rows // 16) * 16 * row), weight
        run(options.effc, "verify", model, "--tokens", "12", "--no-compile")
        # The compiler without the row knows no such name.
        done = subprocess.run([options.effc, "compile", options.model, "-o", model, "--dtype", "s8_32"],
                              capture_output=True, text=True)
        assert done.returncode != 0 and "s8_32" in done.stderr, done.stderr


if __name__ == "__main__":
    main()
