#!/usr/bin/env python3
"""Holds the table of families in frontend/families/table.md to the tree and to the last run.

Layouts and goldens are those of test/goldens/families; errors and state bytes are what
EffcFamilyTests recorded, and so are the entry points, which the line above the table states for
all. Exits with 1 where the table is another one or a case was not run;
`--write` puts the right one there. Errors are rounded up to a power of ten, so that another
machine's last digits do not make the table stale.
"""

import argparse
import json
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GOLDENS = ROOT / "test/goldens/families"
PAGE = ROOT / "frontend/families/table.md"
BEGIN = "<!-- The table of families: test/e2e/family_table.py --write -->"
# What every family is compiled to, as the page says above the table.
ENTRIES = ["decode", "prefill"]
END = "<!-- The end of the table of families -->"


def layout_of(case):
    config = json.loads((case / "config.json").read_text())
    names = config.get("architectures") or ["no architecture"]
    return f"`{config['model_type']}` ({names[0]})" if "model_type" in config else "no `model_type`"


def row_of(family, results):
    cases = sorted(case for case in family.iterdir() if case.is_dir())
    recorded = []
    for case in cases:
        path = results / family.name / (case.name + ".json")
        if not path.exists():
            sys.exit(f"{path}: the case {family.name}/{case.name} has not been run")
        recorded.append(json.loads(path.read_text()))
    layouts = sorted({layout_of(case) for case in cases})
    error = max(result["error"] for result in recorded)
    power = math.ceil(math.log10(error)) if error > 0 else -300
    for case, result in zip(cases, recorded):
        if result["entries"] != ENTRIES:
            sys.exit(f"{family.name}/{case.name}: expects the entry points {ENTRIES}, "
                     f"but got {result['entries']}")
    sizes = sorted({result["state_bytes"] for result in recorded})
    span = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    return f"| {family.name} | {', '.join(layouts)} | {len(cases)} | 1e{power:03d} | {span} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=pathlib.Path, required=True,
                        help="the folder that EffcFamilyTests wrote to")
    parser.add_argument("--write", action="store_true", help="put the right table there")
    arguments = parser.parse_args()
    families = sorted(family for family in GOLDENS.iterdir() if family.is_dir())
    lines = ["| family | layouts | goldens | relative L2 error below | state bytes per sequence |",
             "|---|---|---|---|---|"]
    lines += [row_of(family, arguments.results) for family in families]
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    table, _, after = rest.partition(END)
    if not rest or not after:
        sys.exit(f"{PAGE}: expects the lines {BEGIN!r} and {END!r}")
    wanted = "\n" + "\n".join(lines) + "\n"
    if table == wanted:
        return
    if not arguments.write:
        sys.exit(f"{PAGE}: the table of families is stale; {__file__} "
                 f"--results {arguments.results} --write makes it again")
    PAGE.write_text(before + BEGIN + wanted + END + after)


if __name__ == "__main__":
    main()
