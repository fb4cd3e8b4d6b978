"""Circles of folders: folders that include one another, over any number of steps.

A file is understood together with all of its circle, so there is none but where a folder
names its own children. Such arrows stand in EXCEPTIONS, each with its reason.
"""
import pathlib
import re

INCLUDE = re.compile(r'^\s*(?:#\s*)?include\s+["<]([^">]+)[">]')

# (from, to): why this arrow may close a circle.
EXCEPTIONS = {
    ("codegen/nvptx", "codegen/nvptx/units"):
        "The lowering of an op of a product unit is a row of the unit's own folder.",
    ("codegen/sim", "codegen/sim/units"):
        "The rewriting of an op of a product unit is a row of the unit's own folder.",
    ("dialects/seq", "dialects/seq/mixers"):
        "A dialect registers all of its ops, and each op uses its types and interfaces.",
    ("dialects/seq", "dialects/seq/ops"):
        "A dialect registers all of its ops, and each op uses its types and interfaces.",
    ("dialects/seq", "dialects/seq/reference"):
        "An interface of ops is given a frame to evaluate them in, and the frame holds ops.",
    ("dialects/storage", "dialects/storage/rounding"):
        "An encoder asks for a storage's rule, and a rule reads the type that the dialect declares.",
    ("dialects/tile", "dialects/tile/units"):
        "A dialect registers all of its ops, and those of a product unit use its types.",
    ("frontend/gguf", "frontend/gguf/architectures"):
        "The table of architectures names a row of each file there, and a row is made of a configuration.",
    ("passes/seq_to_tile", "passes/seq_to_tile/builders"):
        "The pass looks a kernel's builder up in a table, and each builder is given the kernel.",
    ("passes/seq_to_tile", "passes/seq_to_tile/builders/convolution"):
        "The sizes of kernels that hold state across rows are those of their builders.",
    ("passes/seq_to_tile", "passes/seq_to_tile/builders/linear"):
        "The sizes of kernels that hold state across rows are those of their builders.",
    ("passes/seq_to_tile", "passes/seq_to_tile/builders/window"):
        "The sizes of kernels that hold state across rows are those of their builders.",
    ("runtime/src", "runtime/src/devices"):
        "A model's checks name the chips there, and devices run the plan that the checks let in.",
    ("runtime/src", "runtime/src/sampling"):
        "A sampler is made of the steps there, which report with the library's Error.h.",
    ("runtime/src", "runtime/src/tokenizer"):
        "A model holds its tokenizer, which reports with the library's Error.h.",
    ("runtime/src/tokenizer", "runtime/src/tokenizer/models"):
        "A tokenizer holds its model, which spends the tokenizer's budget.",
    ("runtime/src/tokenizer", "runtime/src/tokenizer/pattern"):
        "Steps of a tokenizer search by patterns, which spend the tokenizer's budget.",
    ("runtime/src/devices/sim", "runtime/src/devices/sim/units"):
        "A block of the simulator holds what each product unit keeps, and the units act on a block.",
}


def folder_of(path):
    return str(pathlib.PurePosixPath(path).parent)


def arrows(texts):
    """(folder, folder) -> (path, line, header) of the first include that makes the arrow.

    `texts` holds each file's lines by its path from the root of the tree. An include counts if
    it names one of them: from the root, or, as `effc/...` does, from runtime/include.
    """
    found = {}
    for path, lines in texts.items():
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            header = match.group(1)
            target = header if header in texts else f"runtime/include/{header}"
            arrow = folder_of(path), folder_of(target)
            if target in texts and arrow[0] != arrow[1]:
                found.setdefault(arrow, (path, number, header))
    return found


def components(pairs):
    """Sets of two or more folders of which each reaches every other one (Tarjan 1972)."""
    following = {}
    for source, target in pairs:
        following.setdefault(source, []).append(target)
        following.setdefault(target, [])
    index, lowest, stack, result = {}, {}, [], []

    def visit(folder):
        index[folder] = lowest[folder] = len(index)
        stack.append(folder)
        for other in following[folder]:
            if other not in index:
                visit(other)
            if other in stack:
                lowest[folder] = min(lowest[folder], lowest[other])
        if lowest[folder] == index[folder]:
            place = stack.index(folder)
            if len(stack) - place > 1:
                result.append(set(stack[place:]))
            del stack[place:]

    for folder in sorted(following):
        if folder not in index:
            visit(folder)
    return result


def breaches(texts, exceptions=EXCEPTIONS):
    """(path, line, reason) of each include that is an arrow of a circle, and of idle exceptions."""
    every = arrows(texts)
    for circle in components(set(every) - set(exceptions)):
        for arrow, (path, number, header) in sorted(every.items()):
            if circle.issuperset(arrow) and arrow not in exceptions:
                yield path, number, f"includes {header}: {' -> '.join(arrow)} is an arrow of a circle of folders"
    for arrow in exceptions:
        closes = arrow in every and any(circle.issuperset(arrow) for circle in components(every))
        if not closes:
            yield "tools/folder_circles.py", 1, f"excepts {' -> '.join(arrow)}, which closes no circle"
