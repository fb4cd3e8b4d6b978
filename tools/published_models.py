#!/usr/bin/env python3
"""Write frontend/published_models.md: which published models import, by family.

They are those whose configurations test/goldens/configs records; tests import each
and compare its parameters with the public library's. tools/check_tree.py holds the
page to the records.

Examples:
  tools/published_models.py            write the page
  tools/published_models.py --print    print what it should be
"""
import argparse
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = "frontend/published_models.md"
CONFIGS = ROOT / "test/goldens/configs"

HEAD = """# Published models

Each model here imports from its `config.json`, with as many parameters as the public library's model has. Tests hold
both (`test/unit/frontend/PublishedConfigTest.cpp`, `test/e2e/ConfigTest.cpp`); a model that is not listed may import as
well. Sizes are parameters: M is a million, B a thousand millions.

<!-- tools/published_models.py writes this page, and tools/check_tree.py holds it to test/goldens/configs. -->

| `model_type` | models |
|---|---|
"""


def size(parameters):
    unit, name = (10**9, "B") if parameters >= 0.9995e9 else (10**6, "M")
    return f"{float(f'{parameters / unit:.3g}'):g} {name}"


def family_of(config):
    return config.get("model_type") or (config.get("architectures") or ["mamba_ssm"])[0]


def models():
    """Names and parameters of models, by family. Presets of another engine's repository stand for no published name."""
    found = {}
    released = json.loads((CONFIGS / "published/released.json").read_text())["models"]
    for name, entry in released.items():
        if not name.startswith("mlc/"):
            found.setdefault(family_of(entry["config"]), {})[name] = entry["parameters"]
    for path in sorted(CONFIGS.glob("*.json")):
        entry = json.loads(path.read_text())
        name = re.search(r"huggingface\.co/([\w.-]+/[\w.-]+)", entry.get("source", ""))
        if name:
            found.setdefault(family_of(entry["config"]), {})[name.group(1).rstrip(".")] = entry["parameters"]
    return found


def page():
    rows = []
    for family, members in sorted(models().items()):
        named = ", ".join(f"{name} ({size(count)})" for name, count in sorted(members.items()))
        rows.append(f"| `{family}` | {named} |\n")
    return HEAD + "".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print", action="store_true", help="print the page and write nothing")
    if parser.parse_args().print:
        print(page(), end="")
    else:
        (ROOT / PAGE).write_text(page())


if __name__ == "__main__":
    main()
