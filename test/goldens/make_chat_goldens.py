#!/usr/bin/env python3
"""Writes chat/expected.json: what transformers makes of each conversation with each template of chat/.

    {"library", "date", "tokens": {name: text},
     "conversations": [{"messages", "tools", "documents", "arguments": JSON as a text or absent,
                        "add_generation_prompt", "continued"}, ...],
     "templates": {name: {"digests": [digest or "" per conversation], "texts": {number: prompt}}}}

A digest is the first 16 hexadecimal digits of the SHA-256 of the prompt in UTF-8; "" where the library refuses. Some
prompts are there as a whole, for those who look for a difference.
"""
import hashlib
import json
import pathlib

import jinja2
import transformers

from chat_conversations import conversations
from chat_reference import DATE, Refused, render

FOLDER = pathlib.Path(__file__).parent / "chat"
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
WHOLE = [7, 52, 103, 160]  # of the kinds plain, plain with a system, tools, reasoning


def recorded(conversation):
    entry = {key: json.dumps(conversation[key], ensure_ascii=False)
             for key in ("messages", "tools", "documents", "arguments") if key in conversation}
    if conversation.get("add_generation_prompt"):
        entry["add_generation_prompt"] = True
    if "continued" in conversation:
        entry["continued"] = conversation["continued"]
    return entry


def main():
    cases = conversations()
    templates = {}
    for file in sorted(FOLDER.glob("*.jinja")):
        source = file.read_bytes().decode()
        digests, texts = [], {}
        for number, case in enumerate(cases):
            try:
                prompt = render(source, case, TOKENS)
            except Refused:
                digests.append("")
                continue
            digests.append(hashlib.sha256(prompt.encode()).hexdigest()[:16])
            if number in WHOLE:
                texts[str(number)] = prompt
        templates[file.stem] = {"digests": digests, "texts": texts}
    library = f"transformers {transformers.__version__}, jinja2 {jinja2.__version__}"
    expected = {"library": library, "date": DATE, "tokens": TOKENS,
                "conversations": [recorded(case) for case in cases], "templates": templates}
    (FOLDER / "expected.json").write_text(json.dumps(expected, ensure_ascii=True, indent=0) + "\n")
    print(f"{len(templates)} templates, {len(cases)} conversations, "
          f"{sum(bool(d) for t in templates.values() for d in t['digests'])} prompts")


if __name__ == "__main__":
    main()
