#!/usr/bin/env python3
"""Checks the promises of the tree that a script can hold.

  includes      who may include whom (architecture: tools -> compiler -> frontend,
                passes, codegen -> dialects; the runtime sees none of them), and no
                phase or room includes a later one of its floor
  circles       no folders include one another, but for the parents that tools/folder_circles.py lists
  names         nothing under passes/ or codegen/ names a mixer or a model family
  descriptions  every op, attribute, type and pass has a description with an example,
                and the example file that a pass names exists; a constraint's label stands for
                one constraint of all dialects, and a test names it; the table of ops in
                dialects/seq/your_model.md has each op of seq with its summary, and
                dialects/seq/op_syntax.md its example
  tests         every pass has a text test of its own name
  diagnostics   messages start in lower case and end without a period
  environment   the runtime takes nothing from it in programs of other rights
  files         nothing stray at the root, no path over 75 characters, no drawer file, no source over 600 lines,
                no note of unfinished work
  goldens       what is recorded stays small: each case of a family, and all of it
  readmes       README.md maps every folder and has at most 80 lines; every folder has a README.md;
                a page has at most 120 lines, but for REFERENCE_PAGES, begins with a title, and was not
                formatted as a source; a table of files or folders has all there are; test/fuzz/README.md has every fuzz target;
                frontend/published_models.md has the models that are recorded; figures that a page takes from
                another place are those that stand there (tools/page_figures.py)

Prints each breach as `path:line: reason` and exits with 1 if there are any.
"""
import argparse
import contextlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import folder_circles
import op_syntax
import page_figures
import published_models

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["codegen", "compiler", "dialects", "frontend", "passes", "runtime", "test", "tools"]

# Folder -> folders of this project that its sources may include. The artifact's
# schema and binary interfaces, and files that appear when they are complete, are
# what compiler and runtime share.
SHARED = ["runtime/schema", "runtime/abi", "runtime/src/PartialFile.h"]
ALLOWED = {
    "dialects": ["dialects", "runtime/abi"],
    "passes": ["passes", "dialects"],
    "codegen": ["codegen", "dialects"] + SHARED,
    "frontend": ["frontend", "dialects"] + SHARED,
    # The compiler loads what it has written, as a user of it would.
    "compiler": ["compiler", "frontend", "passes", "codegen", "dialects", "runtime/include",
                 "runtime/schema", "runtime/abi", "effc"],
    "runtime": ["runtime"],
    "tools/terminal": ["tools/terminal"],
    "tools/effc": ["tools/effc", "tools/terminal", "runtime/include", "runtime/src/PartialFile.h",
                   "runtime/src/serving/DraftLength.h",
                   "runtime/src/system/SystemMemory.h", "effc"],
    "tools/effc-compile": ["tools/effc-compile", "tools/terminal", "compiler"],
    "tools/effc-rebind": ["tools/effc-rebind", "tools/terminal", "compiler"],
    "tools/effc-verify": ["tools/effc-verify", "tools/effc/ModelAccess.h", "tools/terminal",
                          "compiler", "runtime/include", "runtime/schema", "runtime/abi", "effc"],
    "tools/effc-serve": ["tools/effc-serve", "tools/effc/ModelAccess.h", "tools/effc/Inputs.h",
                         "tools/effc/DraftChoice.h", "tools/effc/HiddenRows.h", "tools/effc/TextFile.h",
                         "tools/terminal", "runtime/include", "effc"],
    "tools/effc-opt": ["compiler", "tools/terminal"],
    "tools/effc-lsp-server": ["compiler", "tools/terminal"],
}
# Rooms of a floor, from the first to the last: one includes those before it.
ORDERS = [
    ["dialects/storage", "dialects/seq", "dialects/tile", "dialects/plan"],
    ["passes/kernel_facts", "passes/seq", "passes/seq_to_tile", "passes/tile", "passes/plan"],
    ["codegen/math", "codegen/storage", "codegen/image", "codegen/host", "codegen/nvptx", "codegen/sim", "codegen/artifact"],
    ["frontend/checkpoint", "frontend/tokenizer", "frontend/gguf", "frontend/weights", "frontend/model",
     "frontend/families"],
]
# Pages that are looked up, not read: they may be longer than others.
REFERENCE_PAGES = {
    "dialects/seq/op_syntax.md": "written from the .td files: one example of each op",
    "dialects/seq/your_model.md": "the guide for a model of one's own, with the table of all ops",
    "test/gpu/nvidia-h200.md": "written by tools/gpu-check: tables of a run",
    "test/gpu/nvidia-h200-rest.md": "written by tools/gpu-check: tables of a run",
    "tools/bench/MEASUREMENTS.md": "tables of what was measured",
}
# Pages with a table of files that leave some of the folder's to another place.
LISTED_ELSEWHERE = {
    "README.md": "the root's files are ROOT_FILES, its folders FOLDERS",
    "frontend/families/README.md": "a family is named by the table of families",
    "frontend/tokenizer/README.md": "the parts of a tokenizer.json have files of their names",
}
ROOT_FILES = ["CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md", "NOTICE", "README.md"]
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK|DO NOT SUBMIT)\b")
DRAWER = re.compile(r"(^|_)(utils?|helpers?|common|misc)(\.|_|$)", re.IGNORECASE)


class Report:
    def __init__(self):
        self.breaches = []

    def add(self, path, line, reason):
        self.breaches.append(f"{path}:{line}: {reason}")


def tracked(*patterns):
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in listing.stdout.splitlines() if (ROOT / path).exists()]


def lines_of(path):
    return (ROOT / path).read_text(errors="replace").splitlines()


def owner_of(path):
    """The entry of ALLOWED that governs a file, the longest that fits."""
    fits = [folder for folder in ALLOWED if path.startswith(folder + "/")]
    return max(fits, key=len) if fits else None


def order_of(path):
    """The list of ORDERS that a file belongs to, and its place there."""
    for order in ORDERS:
        for place, folder in enumerate(order):
            if path.startswith(folder + "/"):
                return order, place
    return None, 0


def check_includes(report):
    include = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')
    ours = tuple(folder + "/" for folder in FOLDERS) + ("effc/",)
    for path in tracked("*.cpp", "*.h", "*.hpp", "*.c"):
        owner = owner_of(path)
        if not owner:
            continue
        for number, line in enumerate(lines_of(path), 1):
            found = include.match(line)
            if not found:
                continue
            header = found.group(1)
            if owner == "runtime" and header.startswith(("mlir/", "llvm/", "llvm-c/")):
                report.add(path, number, f"the runtime includes {header}")
            order, here = order_of(path)
            if order and order_of(header)[0] is order and order_of(header)[1] > here:
                report.add(path, number, f"includes {header} of a later phase or room")
            if header.startswith(ours) and not any(
                    header == entry or header.startswith(entry + "/") for entry in ALLOWED[owner]
            ) and not (owner in ("runtime",) and header.startswith("effc/")):
                report.add(path, number, f"{owner}/ may not include {header}")


def check_circles(report):
    texts = {path: lines_of(path) for path in tracked("*.cpp", "*.h", "*.hpp", "*.c", "*.td")}
    for path, number, reason in folder_circles.breaches(texts):
        report.add(path, number, reason)


def check_names(report):
    names = {pathlib.Path(path).stem for path in tracked("dialects/seq/mixers/*.td")}
    # What families share is called after what it holds: heads, layers, norms.
    names |= {pathlib.Path(path).stem for path in tracked("frontend/families/*.h")
              if re.search(r"^import\w+\(FamilyInput", (ROOT / path).read_text(), re.MULTILINE)}
    # selective_scan as well as SelectiveScan.
    words = [re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_?", name) for name in names]
    pattern = re.compile(r"\b(seq\.)?(" + "|".join(words) + r")(Op)?\b", re.IGNORECASE)
    for path in tracked("passes/*", "codegen/*"):
        if not path.endswith((".cpp", ".h", ".td")):
            continue
        for number, line in enumerate(lines_of(path), 1):
            if found := pattern.search(line):
                report.add(path, number, f"names the mixer or family '{found.group(0)}'")


def records(tblgen, includes, path):
    folders = [argument for folder in [ROOT, *includes] for argument in ("-I", str(folder))]
    command = [tblgen, "--dump-json", *folders, str(ROOT / path)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{path}: {result.stderr.splitlines()[0] if result.stderr else 'tablegen failed'}")
    return json.loads(result.stdout)


def check_table_of_ops(report, every):
    path = "dialects/seq/your_model.md"
    lines = lines_of(path)
    rows = {f"| `{every[name]['opName']}` | {every[name]['summary']} |"
            for name in every["!instanceof"]["Op"] if name.startswith("Seq_")}
    for row in sorted(rows.difference(lines)):
        report.add(path, len(lines), f"its table of ops lacks the row '{row}'")
    begin = next((number for number, line in enumerate(lines) if "holds this table" in line), 0)
    for number, line in enumerate(lines[begin:], begin + 1):
        if line.startswith("| `") and line not in rows:
            report.add(path, number, f"its table of ops has the row '{line}', which no op gives")
    if (ROOT / op_syntax.PAGE).read_text() != op_syntax.page(every, lines):
        report.add(op_syntax.PAGE, 1, "is not what the examples of the .td files give: run tools/op_syntax.py")


def check_labels(report, path, name, record, tests, owners):
    """An op's constraints are (LABEL1), (LABEL2), ...: none is missing or there twice, each is in `tests`.

    `owners` has who defines each label so far, of all dialects: a label means one constraint.
    """
    description = record.get("description") or ""
    labels = re.findall(r"^\s*\* \(([A-Z]\w*)\)", description, re.MULTILINE)
    stem = labels[0][:-1] if labels else ""
    expected = [f"{stem}{number}" for number in range(1, len(labels) + 1)]
    if labels != expected:
        report.add(path, 1, f"{name} has the constraints {', '.join(labels)}, which are not numbered from 1")
    for label in dict.fromkeys(labels):
        if owners.setdefault(label, name) != name:
            report.add(path, 1, f"the constraint {label} of {name} has the label of one of {owners[label]}")
    # What a signature gives is written where its text says so. Its own constraints are
    # made by one function for all ops, so each is tested on one of them.
    if "text" not in record:
        for label in labels:
            if not re.search(rf"(?<![a-z0-9_]){label.replace('_', '_?')}(?![0-9])", tests, re.IGNORECASE):
                report.add(path, 1, f"the constraint {label} of {name} is named by no test of the dialect")
        return
    for place in ("$values", "$constraints"):
        if record["text"].count(place) != 1:
            report.add(path, 1, f"the text of {name} does not have {place} once")


def check_descriptions(report, tblgen, includes):
    dialects = {"dialects/seq/SeqOps.td": "Seq_", "dialects/tile/TileOps.td": "Tile_",
                "dialects/plan/PlanOps.td": "Plan_", "dialects/storage/StorageBase.td": "Storage_"}
    owners = {}
    for path, prefix in dialects.items():
        every = records(tblgen, includes, path)
        folder = pathlib.Path(path).parent
        # Types of storage stand in ops of all dialects; bodies of 513 ops are made by a program.
        tests = "".join((ROOT / test).read_text() for test in tracked(
            f"test/{folder}", f"test/unit/{folder}", "test/dialects/storage", "test/unit/frontend/ModuleTextTest.cpp"))
        if prefix == "Seq_":
            check_table_of_ops(report, every)
        for kind in ("Op", "AttrDef", "TypeDef"):
            for name in every["!instanceof"].get(kind, []):
                if not name.startswith(prefix):
                    continue
                record = every[name]
                if not record.get("summary"):
                    report.add(path, 1, f"{name} has no summary")
                description = record.get("description") or ""
                check_labels(report, path, name, record, tests, owners)
                # What an EnumAttr prints is described where the enum is.
                if "enum" in record:
                    continue
                if "Example:" not in description:
                    report.add(path, 1, f"{name} has no description with an example")
    for path in tracked("*Passes.td"):
        every = records(tblgen, includes, path)
        for name in every["!instanceof"].get("PassBase", []):
            record = every[name]
            description = record.get("description") or ""
            example = re.search(r"Example: (test/\S+)", description)
            if not record.get("summary") or not example:
                report.add(path, 1, f"{name} has no description with an example file")
            elif not (ROOT / example.group(1)).exists():
                report.add(path, 1, f"{name} names {example.group(1)}, which does not exist")
            elif f"--{record['argument']}" not in (text := (ROOT / example.group(1)).read_text()) \
                    and f"{record['argument']}" not in text and "effc-" not in text:
                report.add(path, 1, f"{name}: its example does not run it")


@contextlib.contextmanager
def mixers():
    """A folder with what a build makes of the list of mixers, for who has built nothing."""
    text = (ROOT / "dialects/seq/CMakeLists.txt").read_text()
    listed = re.search(r"set\(mixers\s+([\w\s]+)\)", text).group(1).split()
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder, "dialects/seq/Mixers.td")
        made.parent.mkdir(parents=True)
        made.write_text("".join(f'include "dialects/seq/mixers/{mixer}.td"\n' for mixer in listed))
        yield folder


def check_tests(report):
    for path in tracked("passes/**/*.cpp"):
        text = (ROOT / path).read_text()
        found = re.search(r"GEN_PASS_DEF_(\w+)", text)
        if not found:
            continue
        name = re.sub(r"(?<!^)(?=[A-Z])", "-", pathlib.Path(path).stem).lower()
        folder = ROOT / "test" / pathlib.Path(path).parent
        if not list(folder.glob(f"{name}*.mlir")):
            report.add(path, 1, f"has no test {folder.relative_to(ROOT)}/{name}.mlir")


def check_diagnostics(report):
    call = re.compile(r'(?:emitOpError|emitError|createStringError|emitRemark)\(\s*"([^"]*)"(\s*\))?')
    for path in tracked("*.cpp"):
        text = (ROOT / path).read_text()
        for found in call.finditer(text):
            message = found.group(1)
            line = text.count("\n", 0, found.start()) + 1
            if re.match(r"[A-Z][a-z]", message):
                report.add(path, line, f"message starts with a capital: {message[:40]}")
            if found.group(2) and message.endswith("."):
                report.add(path, line, f"message ends with a period: {message[:40]}")


def check_environment(report):
    """What the environment names is loaded as code: not into a program that runs with another's rights."""
    for path in tracked("runtime/src/*.cpp", "runtime/src/*.h"):
        for number, line in enumerate(lines_of(path), 1):
            if re.search(r"(?<!secure_)\bgetenv\(", line):
                report.add(path, number, "reads the environment with getenv, where secure_getenv is meant")


def check_files(report):
    for path in tracked():
        name = pathlib.Path(path).name
        if name == path and name not in ROOT_FILES and not name.startswith("."):
            report.add(path, 1, "is no file of the root: " + ", ".join(ROOT_FILES))
        if len(path) >= 75:
            report.add(path, 1, f"path has {len(path)} characters; the limit is 75")
        if DRAWER.search(name):
            report.add(path, 1, "a file is named for what it holds, not as a drawer")
        if not path.endswith((".cpp", ".h", ".td", ".py", ".mlir", ".c", ".txt", ".md")):
            continue
        if path.startswith("test/goldens/") and not path.endswith(".md"):
            continue  # recorded data, and scripts that hold strings to record
        content = lines_of(path)
        if path.endswith((".cpp", ".h", ".td", ".py")) and len(content) > 600:
            report.add(path, 1, f"has {len(content)} lines; split it at 600")
        if path == "tools/check_tree.py":
            continue
        for number, line in enumerate(content, 1):
            if UNFINISHED.search(line):
                report.add(path, number, "notes unfinished work")


def check_goldens(report):
    """A family's case: 150 KB, 48 tokens, a vocabulary of 256 and 64 channels. All goldens: 80 MB."""
    sizes = {}
    for path in tracked("test/goldens"):
        case = "/".join(path.split("/")[:5]) if path.startswith("test/goldens/families/") else ""
        sizes[case] = sizes.get(case, 0) + (ROOT / path).stat().st_size
    if sum(sizes.values()) > 80_000_000:
        report.add("test/goldens", 1, f"has {sum(sizes.values())} bytes; the limit is 80000000")
    for case in filter(None, sizes):
        config = json.loads((ROOT / case / "config.json").read_text())
        config = config.get("text_config", config)
        tokens = ROOT / case / "tokens.json"
        if not tokens.exists():
            report.add(case, 1, "has no tokens.json")
            continue
        longest = max(map(len, json.loads(tokens.read_text())))
        found = {"bytes": (sizes[case], 150_000), "tokens": (longest, 48)}
        for key, limit in (("vocab_size", 256), ("n_vocab", 256), ("hidden_size", 64), ("d_model", 64)):
            found[key] = (config.get(key) or 0, limit)
        for what, (value, limit) in found.items():
            if value > limit:
                report.add(case, 1, f"has {value} {what}; the limit is {limit}")


def check_markup(report, path):
    """A page that was given to clang-format has lost its title, and the lines under the heads of its tables."""
    fenced = False
    for number, line in enumerate(lines_of(path), 1):
        if number == 1 and not line.startswith("# "):
            report.add(path, 1, "does not begin with a title, '# ' and its words")
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and (re.match(r"\s*#+[^#\s]", line) or "| -- -|" in line):
            report.add(path, number, "is written like a source that was formatted, not like a page")


def check_file_tables(report):
    """A page with a table of files or folders names each of its own, or `Some*` of them, or the pass that a file has."""
    for page in tracked("*README.md"):
        text = (ROOT / page).read_text()
        if page in LISTED_ELSEWHERE or not re.search(r"^\| (other |folder or )?(file|path|module|folder) \|", text,
                                                    re.MULTILINE):
            continue
        folder = str(pathlib.Path(page).parent)
        below = [pathlib.Path(path).relative_to(folder).parts for path in tracked(folder)]
        for name in sorted({parts[0] for parts in below if len(parts) > 1 and not parts[0].startswith(".")}):
            if not re.search(rf"\b{re.escape(name)}\b", text):
                report.add(page, 1, f"its table of files lacks {name}/")
        stems = {pathlib.Path(path).stem for path in tracked(folder) if str(pathlib.Path(path).parent) == folder
                 and not path.endswith((".md", ".txt")) and pathlib.Path(path).stem not in ("Passes", "__init__")}
        for stem in sorted(stems):
            dashed = re.sub(r"(?<!^)(?=[A-Z])", "-", stem).lower()
            starts = re.findall(r"`(\w+)\*", text)
            if not re.search(rf"\b{re.escape(stem)}\b|-{dashed}`", text) and not stem.startswith(tuple(starts)):
                report.add(page, 1, f"its table of files lacks {stem}")


def check_readmes(report):
    text = (ROOT / "README.md").read_text() if (ROOT / "README.md").exists() else ""
    for command in ("tools/demo", "tools/check"):
        if command not in text:
            report.add("README.md", 1, f"does not name {command}")
    for path in tracked("*.md"):
        check_markup(report, path)
        limit = 80 if path == "README.md" else 120
        if (lines := len(lines_of(path))) > limit and path not in REFERENCE_PAGES:
            report.add(path, 1, f"has {lines} lines; the limit is {limit}")
    for path in REFERENCE_PAGES:
        if not (ROOT / path).exists() or len(lines_of(path)) <= 120:
            report.add("tools/check_tree.py", 1, f"REFERENCE_PAGES has {path}, which is no longer a long page")
    if (ROOT / published_models.PAGE).read_text() != published_models.page():
        report.add(published_models.PAGE, 1, "is not what is recorded: run tools/published_models.py")
    for path, number, reason in page_figures.breaches():
        report.add(path, number, reason)
    fuzzed = (ROOT / "test/fuzz/README.md").read_text()
    for path in tracked("test/fuzz/Fuzz*.cpp"):
        if f"| `{pathlib.Path(path).stem}` |" not in fuzzed:
            report.add("test/fuzz/README.md", 1, f"its tables lack `{pathlib.Path(path).stem}`")
    for folder in FOLDERS:
        if f"`{folder}/`" not in text:
            report.add("README.md", 1, f"its map lacks `{folder}/`")
    for folder in FOLDERS + ["dialects/seq", "dialects/tile", "dialects/plan", "passes/seq",
                             "passes/seq_to_tile", "passes/tile", "passes/plan", "codegen/host",
                             "codegen/nvptx", "codegen/artifact", "test/goldens"]:
        if not (ROOT / folder / "README.md").exists():
            report.add(folder, 1, "has no README.md")
    for found in re.finditer(r"^\| `([a-z_/-]+)/` ", text, re.MULTILINE):
        if not (ROOT / found.group(1)).is_dir():
            report.add("README.md", 1, f"maps {found.group(1)}/, which does not exist")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tblgen", default="/usr/lib/llvm-22/bin/llvm-tblgen", help="llvm-tblgen")
    parser.add_argument("--mlir-include", default="/usr/lib/llvm-22/include", help="folder of MLIR's .td files")
    arguments = parser.parse_args()
    report = Report()
    check_includes(report)
    check_circles(report)
    check_names(report)
    with mixers() as folder:
        check_descriptions(report, arguments.tblgen, [arguments.mlir_include, folder])
    check_tests(report)
    check_diagnostics(report)
    check_environment(report)
    check_files(report)
    check_goldens(report)
    check_file_tables(report)
    check_readmes(report)
    print("\n".join(report.breaches) or "the tree keeps its promises")
    return 1 if report.breaches else 0


if __name__ == "__main__":
    sys.exit(main())
