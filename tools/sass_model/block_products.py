"""Predictions of one product of each kind of blocks: a weight of 14,336 x 4,096, sm_90a, rounded to bf16.

  python3 -m sass_model.block_products --effc build/release/bin/effc             the table of block_products.md, a minute
  python3 -m sass_model.block_products --effc build/release/bin/effc q4_0 nf4    some kinds alone
"""
import argparse
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile

from . import artifact, entry, loading, parameters
from .__main__ import call_of
from .kernel import Predictor

TERMS, OUTPUTS = 4096, 14336
CALLS = ("decode_1:1:1:0", "decode_2:2:2:0", "decode_8:4:4:0", "prefill_4096:4096:1:0")
OPTIONS = ("--weights", "none", "--products", "bf16", "--target", "sm_90a", "--prefill-rows", "4096", "--max-batch", "8")
FORMATS = pathlib.Path(__file__).resolve().parents[2] / "dialects" / "storage" / "Formats.cpp"


def published() -> dict:
    """{name: type} of the blocks of ggml, which the table of storages has."""
    return {name: " ".join(text.split()) for name, text in re.findall(r'\{"(\w+)",\s*R"\((.*?)\)"\}', FORMATS.read_text(), re.DOTALL)}


@dataclasses.dataclass
class Grouped:
    """Blocks of one scale each (dialects/storage/GroupedCodes.h)."""
    elements: int
    scale: str
    bits: int = 4
    code: str = "uint"
    rest: str = ""  # of the code: a bias or a table
    zero: bool = False

    def type(self, name: str) -> str:
        scale = 32 if self.scale == "f32" else 16
        start = scale + (8 if self.zero else 0)
        pairs = self.bits == 4
        digits, strides, shared = (f"[2, {self.elements // 2}]", "[4, 8]", "[0, 0]") if pairs else (f"[{self.elements}]", "[8]", "[0]")
        zero = f"zero = [uint [8 at {scale} {shared}]], " if self.zero else ""
        return (f'!storage.block<"{name}", elements = {self.elements}, bytes = {(start + self.elements * self.bits) // 8}, digits = {digits}, '
                f"code = {self.code} [{self.bits} at {start} {strides}]{self.rest}, {zero}scale = [{self.scale} [{scale} at 0 {shared}]]>")


NF4 = (" table [-134217728, -93441416, -70474112, -53004928, -38177076, -24799870, -12220529, 0, 10681087, 21599686, 33032634, 45354216, "
       "59151072, 75513176, 97033624, 134217728]")
GROUPED = {"int4z, 128, f16": Grouped(128, "f16", zero=True), "int4, 128, bf16": Grouped(128, "bf16", rest=" bias -8"),
           "e4m3, 128, f32": Grouped(128, "f32", bits=8, code="e4m3"), "nf4, 64, f32": Grouped(64, "f32", rest=NF4),
           "e2m1, 16, f32": Grouped(16, "f32", rest=" table [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12]")}
KINDS = {"bf16": "bf16"} | published() | {name: grouped.type(name.partition(",")[0]) for name, grouped in GROUPED.items()}


def bits_of_element(kind: str) -> float:
    if kind == "bf16":
        return 16
    return 8 * int(re.search(r"bytes = (\d+)", KINDS[kind])[1]) / int(re.search(r"elements = (\d+)", KINDS[kind])[1])


def text_of(kind: str) -> str:
    """A model whose product is "up"."""
    rows = {width: f"tensor<?x{width}xf32>" for width in (64, TERMS, OUTPUTS)}
    weights = {"table": (64, TERMS, "bf16"), "up": (OUTPUTS, TERMS, KINDS[kind]), "head": (64, OUTPUTS, "bf16")}
    types = {name: f"tensor<{a}x{b}x{element}>" for name, (a, b, element) in weights.items()}
    return "\n".join([
        f'module attributes {{seq.model = #seq.model<family = "product", vocabulary = 64, width = {TERMS}, max_context = 0>}} {{',
        *(f'seq.weight @{name} source("{name}") : {type_}' for name, type_ in types.items()),
        f"func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> {rows[64]} {{",
        *(f"  %{name} = seq.parameter @{name} : {type_}" for name, type_ in types.items()),
        f"  %x = seq.embedding %tokens, %table : (tensor<?xi32>, {types['table']}) -> {rows[TERMS]}",
        f'  %u = seq.linear %x, %up : ({rows[TERMS]}, {types["up"]}) -> {rows[OUTPUTS]} loc("up")',
        f"  %a = seq.silu %u : {rows[OUTPUTS]}",
        f"  %chosen = seq.select_rows %a, %rows : ({rows[OUTPUTS]}, tensor<?xi32>) -> {rows[OUTPUTS]}",
        f"  %out = seq.lm_head %chosen, %head : ({rows[OUTPUTS]}, {types['head']}) -> {rows[64]}",
        f"  return %out : {rows[64]}", "}", "}", ""])


def predict(effc: pathlib.Path, kind: str, given) -> dict:
    """{call: [predictions of the launches of "up"]}"""
    with tempfile.TemporaryDirectory() as folder:
        model, result = pathlib.Path(folder) / "model.mlir", pathlib.Path(folder) / "model.effc"
        model.write_text(text_of(kind))
        done = subprocess.run([str(effc), "compile", str(model), "-o", str(result), *OPTIONS], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise artifact.ArtifactError(f"effc compile, {kind}: {done.stderr.strip()}")
        program = artifact.read(result)
    predictor = Predictor(loading.functions_of(program.cubin), given)
    return {call: [made for made, _ in entry.predict(program, predictor, *call_of(call, program)).launches if made.note.startswith("up")]
            for call in CALLS}


def row_of(kind: str, predictions: dict) -> str:
    cells = []
    for launches in predictions.values():
        cells.append(" + ".join(f"{made.seconds * 1e6:.1f}" for made in launches))
    one = predictions[CALLS[0]][0]
    issued = one.instructions_per_warp * one.blocks * one.threads / (TERMS * OUTPUTS)
    rate = bits_of_element(kind) / 8 * TERMS * OUTPUTS / one.seconds / 1e12
    return f"| {kind} | {issued:.1f} | {rate:.2f} | {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(prog="sass_model.block_products", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {'; '.join(KINDS)} (default: all)")
    parser.add_argument("--effc", type=pathlib.Path, required=True, help="the built effc")
    options = parser.parse_args()
    given = parameters.load()
    for kind in options.kinds or KINDS:
        if kind not in KINDS:
            parser.error(f"{kind} is no kind; there are {'; '.join(KINDS)}")
        try:
            print(row_of(kind, predict(options.effc, kind, given)), flush=True)
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            print(f"sass_model: error: {kind}: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
