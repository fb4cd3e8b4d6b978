#!/usr/bin/env python3
"""Renders public chat templates with the runtime and with transformers, and compares: equal text, or refused by both.

    compare_chat_templates.py --program build/release/bin/effc-chat-render FOLDER_OR_FILE...

The source distribution of llama-cpp-python has 70 in vendor/llama.cpp/models/templates. Nothing of them is kept here.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time

from chat_conversations import conversations
from chat_reference import DATE, Refused, render

TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}


def line_of(conversation):
    text = lambda value: "" if value is None else json.dumps(value, ensure_ascii=False)
    arguments = {**TOKENS, **conversation.get("arguments", {})}
    return "\t".join([text(conversation["messages"]), text(conversation.get("tools")),
                      text(conversation.get("documents")), text(arguments),
                      "1" if conversation.get("add_generation_prompt") else "0", conversation.get("continued", "")])


def rendered_here(program, template, cases):
    """For each case whether there is a text, and the text or what is wrong."""
    done = subprocess.run([program, template, DATE], input="\n".join(map(line_of, cases)).encode() + b"\n",
                          stdout=subprocess.PIPE, check=True).stdout
    results, at = [], 0
    while at < len(done):
        end = done.index(b"\n", at)
        kind, size = done[at:end].split()
        results.append((kind == b"ok", done[end + 1:end + 1 + int(size)].decode()))
        at = end + 2 + int(size)
    # A template that cannot be read is refused once.
    return results if len(results) == len(cases) else results * len(cases)


def first_difference(ours, theirs):
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    return f"at {at}: here {ours[max(0, at - 20):at + 40]!r}, there {theirs[max(0, at - 20):at + 40]!r}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--show", type=int, default=1, help="differences shown of each template")
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    files = [file for path in arguments.paths for file in (sorted(path.glob("*.jinja")) if path.is_dir() else [path])]
    cases = conversations()
    same = texts = wrong = 0
    for file in files:
        source = file.read_text()
        start = time.monotonic()
        ours = rendered_here(arguments.program, file, cases)
        seconds = time.monotonic() - start
        differences = []
        for number, (case, (isText, here)) in enumerate(zip(cases, ours)):
            try:
                there = render(source, case, TOKENS)
            except Refused as refusal:
                if isText:
                    differences.append(f"{number} ({case['kind']}): a text here, there {refusal}"[:300])
                continue
            texts += 1
            if not isText:
                differences.append(f"{number} ({case['kind']}): a text there, here {here}"[:300])
            elif here != there:
                differences.append(f"{number} ({case['kind']}): {first_difference(here, there)}")
        same += not differences
        wrong += len(differences)
        refused = sum(not isText for isText, _ in ours)
        print(f"{file.name}: {len(cases) - len(differences)} of {len(cases)} equal, {refused} refused here, "
              f"{seconds * 1000 / len(cases):.2f} ms each")
        for difference in differences[:arguments.show]:
            print("    " + difference)
    print(f"{same} of {len(files)} templates are equal on all of {len(cases)} conversations; {texts} texts, "
          f"{wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
