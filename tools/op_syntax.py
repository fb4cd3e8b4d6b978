#!/usr/bin/env python3
"""Write dialects/seq/op_syntax.md: how each op of seq is spelled.

The text of an op is the example of its description, which a test parses. The
order and the headings are those of the table of ops in
dialects/seq/your_model.md. tools/check_tree.py holds the page to the .td files.

Examples:
  tools/op_syntax.py            write the page
  tools/op_syntax.py --print    print what it should be
"""
import argparse
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = "dialects/seq/op_syntax.md"

HEAD = """# How each op is spelled

One example of each op of `seq`, as its `.td` file has it; there stand the equation, the shapes and the constraints.
`your_model.md` has a whole model. Ops that nest, as `recurrence` does, show what stands inside.

<!-- tools/op_syntax.py writes this page, and tools/check_tree.py holds it to the .td files. -->
"""


def example_of(description):
    """The code under "Example:"; None where there is none."""
    found = re.search(r"Examples?:\s*```mlir\n(.*?)```", textwrap.dedent(description), re.DOTALL)
    return textwrap.dedent(found.group(1)).rstrip() if found else None


def page(every, table):
    """The page's text. `every` is llvm-tblgen's JSON of SeqOps.td, `table` the lines of your_model.md."""
    ops = {every[name]["opName"]: every[name] for name in every["!instanceof"]["Op"] if name.startswith("Seq_")}
    parts = [HEAD]
    for line in table:
        if heading := re.match(r"\| \*\*(.*)\*\* \| \|$", line):
            parts.append(f"\n## {heading.group(1)}\n")
        if (row := re.match(r"\| `(\w+)` \| ", line)) and row.group(1) in ops:
            example = example_of(ops[row.group(1)].get("description") or "")
            if example:
                parts.append(f"\n`{row.group(1)}`\n```mlir\n{example}\n```\n")
    return "".join(parts)


def main():
    import check_tree
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print", action="store_true", help="print the page and write nothing")
    parser.add_argument("--tblgen", default="/usr/lib/llvm-22/bin/llvm-tblgen", help="llvm-tblgen")
    parser.add_argument("--mlir-include", default="/usr/lib/llvm-22/include", help="folder of MLIR's .td files")
    arguments = parser.parse_args()
    with check_tree.mixers() as folder:
        every = check_tree.records(arguments.tblgen, [arguments.mlir_include, folder], "dialects/seq/SeqOps.td")
    text = page(every, check_tree.lines_of("dialects/seq/your_model.md"))
    if arguments.print:
        sys.stdout.write(text)
    else:
        (ROOT / PAGE).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
