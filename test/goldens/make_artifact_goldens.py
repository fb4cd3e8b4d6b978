#!/usr/bin/env python3
"""Compiles one artifact of each kind for this version of the format, into artifacts/.

An artifact of a released version cannot be made again by a newer compiler, so what is there stays: files that exist are
left alone, and those of a version are committed with the change that raises it: the plain one, and the kinds of whose
content the version says more or otherwise. Until the first release there is version 1.0 alone, and a change of the
format makes its files again.

    python make_artifact_goldens.py --kinds referenced tokenizer gpu --again    # seconds
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# What follows the version in the name, the checkpoint, options. The weights of two kinds stay where they are: in the
# repository, once. Code for a GPU needs `ptxas`.
KINDS = [
    ("", "mamba2/f32_plain", []),
    ("-referenced", "layouts/mamba_ssm_f16_padded", ["--weights", "reference"]),
    ("-tokenizer", "sample", ["--weights", "reference"]),
    ("-gpu", "mamba2/f32_plain", ["--target", "host,sm_80", "--dtype", "bf16", "--products", "bf16", "--dense", "library",
                                  "--prefill-rows", "64", "--max-batch", "1"]),
]


def version_of(effc, artifact):
    text = subprocess.run([effc, "inspect", artifact, "--json"], check=True, capture_output=True, text=True).stdout
    version = json.loads(text)["format"]
    return f"{version['major']}.{version['minor']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--effc", type=Path, default=HERE / "../../build/release/bin/effc")
    parser.add_argument("--kinds", nargs="*", default=[], choices=[suffix[1:] for suffix, _, _ in KINDS if suffix],
                        help="which to make beside the plain one")
    parser.add_argument("--again", action="store_true", help="replace those that are there: before the first release")
    arguments = parser.parse_args()
    effc = arguments.effc
    # Names of weights' files lead from the artifact's folder, so a trial goes there as well.
    for suffix, checkpoint, options in KINDS:
        if suffix and suffix[1:] not in arguments.kinds:
            continue
        with tempfile.NamedTemporaryFile(dir=HERE / "artifacts", suffix=".trial") as trial:
            subprocess.run([effc, "compile", HERE / checkpoint, "-o", trial.name, *options], check=True)
            target = HERE / "artifacts" / f"{version_of(effc, trial.name)}{suffix}.effc"
            if target.exists() and not arguments.again:
                print(f"{target.name}: is there, and stays")
                continue
            target.write_bytes(Path(trial.name).read_bytes())
            print(f"{target.name}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
