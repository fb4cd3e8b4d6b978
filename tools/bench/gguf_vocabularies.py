#!/usr/bin/env python3
"""The tokens of GGUF files' vocabularies, beside those that llama.cpp expects.

llama.cpp's source has vocabularies without weights, each with texts (`.inp`) and with the ids that it expects of them
(`.out`), which its own test holds it to. Fetches the source distribution of llama-cpp-python, which has that source, and
cuts the texts by effc's reading of the same files. Nothing of them stays in the tree.

  tools/build release effc-gguf-tokens
  tools/bench/gguf_vocabularies.py --folder /tmp/models

Fails where ids differ, and where a vocabulary is refused.
"""

import argparse
import json
import pathlib
import subprocess
import sys

from gguf_models import ROOT, peer_source


def read_parts(path, separator):
    """What lies between separators, of which one may end the file; line ends are as they are."""
    parts = pathlib.Path(path).read_bytes().decode("utf-8").split(separator)
    return parts if parts[-1] else parts[:-1]


def cases_of(vocabulary):
    """Texts and the ids expected of each."""
    texts = read_parts(f"{vocabulary}.inp", "\n__ggml_vocab_test__\n")
    lines = read_parts(f"{vocabulary}.out", "\n")
    if len(texts) != len(lines):
        sys.exit(f"{vocabulary}: has {len(texts)} texts and ids of {len(lines)}")
    return [(text, [int(number) for number in line.split()]) for text, line in zip(texts, lines)]


def compare(program, vocabulary):
    """Whether all ids are those expected; prints what differs."""
    cases = cases_of(vocabulary)
    done = subprocess.run([program, vocabulary], input=json.dumps([text for text, _ in cases]), capture_output=True,
                          text=True)
    if done.returncode != 0:
        print(f"{vocabulary.name}: refused: {done.stderr.strip()}")
        return False
    wrong = [(text, expected, found) for (text, expected), found in zip(cases, json.loads(done.stdout), strict=True)
             if expected != found]
    print(f"{vocabulary.name}: {len(cases) - len(wrong)} of {len(cases)} texts have the ids expected")
    for text, expected, found in wrong:
        print(f"  {text!r}\n    expected {expected}\n    got      {found}")
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="where llama.cpp's source lies or is fetched to")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    arguments = parser.parse_args()
    program = arguments.build / "bin" / "effc-gguf-tokens"
    vocabularies = sorted(path for path in (peer_source(arguments.folder) / "models").glob("ggml-vocab-*.gguf")
                          if pathlib.Path(f"{path}.inp").exists())
    if not vocabularies:
        sys.exit("llama.cpp's source has no vocabularies with texts")
    same = [compare(program, vocabulary) for vocabulary in vocabularies]
    print(f"{sum(same)} of {len(same)} vocabularies agree")
    sys.exit(0 if all(same) else 1)


if __name__ == "__main__":
    main()
