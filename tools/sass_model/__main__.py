"""Predicts from machine code what kernels cost on a GPU. All times are predictions; nothing is measured.

  sass-model MODEL.effc                                      all entries, full
  sass-model MODEL.effc --call prefill_4096:4096:16          4,096 rows of 16 sequences
  sass-model MODEL.effc --call decode_1:1:1:4096 --mix       a step at a position of 4,096 tokens, with what it issues
  sass-model KERNELS.cubin --kernel NAME --launch launch.json
  sass-model --parameters                                    what the model takes as given, with sources

A launch of a cubin is {"grid": [64, 1, 1], "threads": 128, "arguments": [{"bytes": 8388608, "memory": "dram"}, 4096, ...],
"shared_bytes": 0}: an argument is an operand in memory, or a number with "size" bytes, {"value": 1, "size": 4}, at "offset" if given.
--fitted FILE takes parameters measured on a GPU (tools/gpu-check) in place of those that it names.
"""
import argparse
import json
import pathlib
import sys

from . import artifact, cubin, entry, launch, loading, parameters, report
from .call import Call
from .kernel import Predictor


def call_of(text: str, program) -> tuple:
    """(entry, Call) of "prefill_4096:4096:16:0"; what is left out is the entry's: all rows, one sequence (one a row in decoding)."""
    name, *numbers = text.split(":")
    try:
        values = [int(number) for number in numbers]
    except ValueError:
        raise artifact.ArtifactError(f"--call {text}: expected ENTRY:ROWS:SEQUENCES:POSITION, numbers behind the first colon") from None
    found = program.entry(name)
    rows = values[0] if values else found["rows"]
    segments = values[1] if len(values) > 1 else rows if found["kind"] == "Decode" else 1
    position = values[2] if len(values) > 2 else 128 if found["kind"] == "Decode" else 0
    return name, Call(rows, segments, position)


def predict_artifact(options, given) -> list:
    program = artifact.read(options.file, options.target)
    predictor = Predictor(loading.functions_of(program.cubin), given)
    calls = options.call or [one["name"] for one in program.target["entries"]]
    return [entry.predict(program, predictor, *call_of(text, program)) for text in calls]


def launch_of(options, kernels: list, data: bytes) -> launch.Launch:
    if not options.kernel or not options.launch:
        raise cubin.CubinError(f"a cubin needs --kernel and --launch; it has {', '.join(k.name for k in kernels)}")
    named = [kernel for kernel in kernels if kernel.name == options.kernel]
    if not named:
        raise cubin.CubinError(f"there is no kernel {options.kernel}; there are {', '.join(k.name for k in kernels)}")
    return launch.described(named[0], cubin.architecture_of(data), json.loads(options.launch.read_text()))


def main() -> int:
    parser = argparse.ArgumentParser(prog="sass-model", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=pathlib.Path, help="a compiled model (.effc) or a cubin")
    parser.add_argument("--call", action="append", metavar="ENTRY[:ROWS[:SEQUENCES[:POSITION]]]",
                        help="a call to predict; may be repeated (default: all entries)")
    parser.add_argument("--target", default="", help="the code to take, such as sm_90a (default: the first)")
    parser.add_argument("--kernel", help="a kernel of a cubin")
    parser.add_argument("--launch", type=pathlib.Path, help="JSON: how a cubin's kernel is launched")
    parser.add_argument("--fitted", type=pathlib.Path, default=parameters.FILE, help="parameters that were measured")
    parser.add_argument("--mix", action="store_true", help="show what kernels issue")
    parser.add_argument("--parameters", action="store_true", help="show the parameters and their sources")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    try:
        if options.parameters:
            print(options.fitted.read_text(), end="")
            return 0
        if options.file is None:
            parser.error("a file is missing: a compiled model (.effc) or a cubin")
        given = parameters.load(options.fitted)
        if options.file.suffix == ".effc":
            entries = predict_artifact(options, given)
            if options.json:
                print(json.dumps([report.entry_json(one) for one in entries], indent=1))
            else:
                print("\n\n".join(report.entry_text(one) for one in entries))
                if options.mix:
                    print("\n".join(report.mix_text(pair[0]) for one in entries for pair in one.launches))
            return 0
        data = options.file.read_bytes()
        prediction = Predictor(loading.functions_of(data), given).predict(launch_of(options, cubin.kernels_of(data), data))
        if options.json:
            print(json.dumps(report.kernel_json(prediction), indent=1))
        else:
            print(report.kernels_text([(prediction, 1)]))
            if options.mix:
                print(report.mix_text(prediction))
        return 0
    # Files that are not what they should be, and tools that are missing; all of the package's errors are of these.
    except (OSError, ValueError, RuntimeError) as error:
        print(f"sass-model: error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
