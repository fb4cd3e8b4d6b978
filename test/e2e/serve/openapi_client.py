#!/usr/bin/env python3
"""Holds a running `effc serve` to its own description, tools/effc-serve/openapi.json, by the package schemathesis.

    effc serve m.effc --port 0 --port-file p &
    python test/e2e/serve/openapi_client.py --url http://127.0.0.1:$(cat p)

Schemathesis 4 makes requests that fit the description and requests that do not, and calls that follow from answers. All
of its checks are made but one, which demands that whatever fits the description is taken: tokens and lengths are
bounded by the model, which the description cannot know. A fast model is best, such as that of effc-test-write-toy.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

DESCRIPTION = pathlib.Path(__file__).resolve().parents[3] / "tools/effc-serve/openapi.json"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True, help="http://127.0.0.1:PORT")
    parser.add_argument("--examples", type=int, default=200, help="requests for each operation, at most")
    parser.add_argument("--seed", type=int, default=1, help="of the requests")
    arguments = parser.parse_args()
    command = [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "run", str(DESCRIPTION),
               "--url", arguments.url, "--checks", "all", "--exclude-checks", "positive_data_acceptance",
               "--max-examples", str(arguments.examples), "--seed", str(arguments.seed)]
    with tempfile.TemporaryDirectory() as folder:  # where the package keeps what it has found
        sys.exit(subprocess.run(command, cwd=folder).returncode)


if __name__ == "__main__":
    main()
