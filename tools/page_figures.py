"""Figures that a page takes from somewhere else, compared with where they come from.

A summary of a report names, in the last column of its tables, the lines of the report where the
numbers of a row stand. README.md says how many published models and GGUF architectures there are.
"""
import pathlib
import re

import published_models

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUMMARIES = {"test/gpu/nvidia-h200-summary.md": "test/gpu/nvidia-h200.md"}


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def summary_breaches(page, report):
    """Each number of a row is on a line that the row names; a share is its floor over its time."""
    source = (ROOT / report).read_text().splitlines()
    head = []
    for number, line in enumerate((ROOT / page).read_text().splitlines(), 1):
        if not line.startswith("|"):
            head = []
            continue
        cells = cells_of(line)
        head = head or cells
        if not re.fullmatch(r"\d+(, \d+)*", cells[-1]) or head[-1] not in ("line", "lines"):
            continue
        named = " ".join(source[int(at) - 1] for at in cells[-1].split(", "))
        known = set(re.findall(r"[\d.,e-]*\d", named))
        for cell in cells[:-1]:
            figure = re.match(r"[\d.,]*\d(e-\d+)?(?= of |$)", cell)
            if figure and figure.group(0) not in known:
                yield page, number, f"has {figure.group(0)}, which is not in line {cells[-1]} of {report}"
        row = dict(zip(head, cells))
        if "of floor" in row:
            share = 100 * float(row["floor"].replace(",", "")) / float(row["us"].replace(",", ""))
            if row["of floor"] != f"{share:.0f} %":
                yield page, number, f"says {row['of floor']} of the floor, which is {share:.1f} %"


def counts():
    """What README.md counts: how it says so, and the number."""
    rows = sum(len(re.findall(r'^    \{"[\w-]+", "\w+", k', array, re.MULTILINE))
               for path in ROOT.glob("frontend/gguf/architectures/*.cpp")
               for array in re.findall(r"GgufArchitecture kArchitectures\[\] = \{(.*?)^\};", path.read_text(),
                                       re.DOTALL | re.MULTILINE))
    return {"published models": (r"(\d+) published models", sum(map(len, published_models.models().values()))),
            "architectures of GGUF files": (r"GGUF files\]\([^)]*\) of\s+(\d+)\s+architectures", rows)}


def breaches():
    for page, report in SUMMARIES.items():
        yield from summary_breaches(page, report)
    text = (ROOT / "README.md").read_text()
    for what, (words, number) in counts().items():
        found = re.search(words, text)
        if not found or int(found.group(1)) != number:
            yield "README.md", 1, f"does not say that there are {number} {what}"
