"""Parameters from what gpu_check.calibrate has measured on a GPU.

  python3 -m gpu_check.calibrate > measured.json            on the GPU
  python3 -m sass_model.fit measured.json > fitted.json     then: tools/sass-model --fitted fitted.json ...

What was not measured, or is no single measurement, keeps the value of parameters.json, and is named on standard error.
"""
import argparse
import json
import pathlib
import sys

from . import parameters

# The measurement that is a parameter, and how its number becomes the parameter's.
MEASURED = {
    "clock": ("sm_clock", lambda value: value * 1e9),
    "dram_bytes_per_second": ("dram.copy", lambda value: value * 1e12),
    "dram_latency": ("dram.latency", float),
    "tma_dram_latency": ("tma.8192.latency.dram", float),
    "l2_latency": ("l2.latency", float),
    "l2_bytes_per_cycle": ("l2.read.132_blocks", float),
    "l2_most_bytes_per_cycle": ("l2.read.1_blocks", float),
    "tma_latency": ("tma.8192.latency.l2", float),
    "l1_latency": ("l1.latency", float),
    "shared_latency": ("shared.latency", float),
    "shared_bytes_per_cycle": ("shared.lds128", float),
    "fma": ("ffma.issue", float),
    "fma_heavy": ("imad.issue", float),
    "alu": ("lop3.issue", float),
    "special": ("ex2.issue", float),
    "special_latency": ("ex2.latency", float),
    "warp_product": ("mma.m16n8k16_bf16.issue", float),
    "warp_product_latency": ("mma.m16n8k16_bf16.latency", float),
    "group_product_columns": ("wgmma.m64n128k16.ss.rate", lambda cycles: 128 / cycles),
    "shuffle_latency": ("shfl.latency", float),
    "launch_gap": ("launch.graph.programmatic.132", lambda value: value * 1e-6),
}


def fit(measured: list) -> tuple:
    """(entries as in parameters.json, names of parameters that were not measured) from calibrate's list of parameters."""
    values = {one["name"]: one for one in measured if one.get("value")}
    known = json.loads(parameters.FILE.read_text())
    entries = {}
    for name, (measurement, convert) in MEASURED.items():
        if measurement in values:
            entries[name] = {"value": convert(values[measurement]["value"]), "unit": known[name]["unit"],
                             "source": f"measured: {measurement}, {values[measurement]['how']}"}
    return entries, sorted(set(known) - set(entries))


def main() -> int:
    parser = argparse.ArgumentParser(prog="sass_model.fit", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", type=pathlib.Path, help="what gpu_check.calibrate has printed")
    options = parser.parse_args()
    try:
        entries, kept = fit(json.loads(options.measured.read_text())["parameters"])
    except (OSError, ValueError, KeyError) as error:
        print(f"sass_model.fit: error: {options.measured} is not what gpu_check.calibrate prints: {error}", file=sys.stderr)
        return 1
    print(f"kept from {parameters.FILE.name}: {', '.join(kept)}", file=sys.stderr)
    print(json.dumps(entries, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
