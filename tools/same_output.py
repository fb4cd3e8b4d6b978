#!/usr/bin/env python3
"""Shows that a change of the compiler changes nothing of what it writes.

usage: tools/same_output.py record FILE [options]     before the change
       tools/same_output.py compare FILE [options]    after it

  --build DIR      the build whose programs compile (default: build/release)
  --only TEXT,...  checkpoints whose path holds one of the texts
  --variants V,... of those below (default: all)
  --jobs N         compilations side by side (default: the processors that it may use)

Every golden checkpoint is compiled in each variant: a target, and for GPUs the
type of products. Compared are the plan (the file's program, without its
provenance and the places of its segments) and every segment: host code, PTX,
cubins, weights, tokenizer. The module of the phase seq, which the artifact holds
as well, is not: its spelling may change where its meaning does not. FILE keeps a
digest of each. `compare` names what differs and ends with status 1.

examples: tools/same_output.py record build/before.json
          tools/same_output.py compare build/before.json --only families/mamba
          tools/same_output.py record build/h.json --variants host
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "runtime/schema/program.fbs"
GOLDENS = ROOT / "test/goldens"

# Options of `effc compile` for each variant.
VARIANTS = {
    "host": ["--target", "host"],
    "host-states-bf16": ["--target", "host", "--state-dtype", "bf16"],
    "host-chunks": ["--target", "host", "--force-form", "chunkwise:16"],
    "sm_80": ["--target", "sm_80", "--products", "f32"],
    "sm_80-tf32": ["--target", "sm_80", "--products", "tf32"],
    "sm_80-f16": ["--target", "sm_80", "--products", "f16"],
    "sm_90a": ["--target", "sm_90a", "--products", "f32"],
    "sm_90a-usual": ["--target", "sm_90a"],
    "sm_90a-bf16": ["--target", "sm_90a", "--products", "bf16"],
    "sim_90a": ["--target", "sim_90a", "--products", "f32"],
}


def checkpoints():
    """Folders with a model, from the root of the goldens."""
    return sorted(
        str(path.parent.relative_to(GOLDENS)) for path in GOLDENS.rglob("config.json")
    )


def digest(data):
    return hashlib.sha256(data).hexdigest()[:24]


def program_of(artifact, folder):
    """The program of an artifact, as flatc writes it in JSON."""
    offset, size = struct.unpack_from("<QQ", artifact, 16)
    binary = folder / "program.bin"
    binary.write_bytes(artifact[offset : offset + size])
    subprocess.run(
        ["flatc", "--json", "--strict-json", "--raw-binary", "-o", folder, SCHEMA, "--", binary],
        check=True,
        capture_output=True,
    )
    return json.loads((folder / "program.json").read_text())


def without_defaults(value):
    """The program without what is 0, so that a field added to the schema is no change."""
    if isinstance(value, dict):
        return {key: without_defaults(part) for key, part in value.items()
                if part not in (0, False)}
    return [without_defaults(part) for part in value] if isinstance(value, list) else value


def describe(path, folder):
    """Digests of the parts of an artifact, by name."""
    artifact = path.read_bytes()
    program = program_of(artifact, folder)
    parts = {}
    kept = []
    for number, segment in enumerate(program["segments"]):
        kind = segment["kind"]
        if kind == "SeqModule":
            continue
        kept.append(number)
        start = segment.get("offset", 0)
        parts[f"{number} {kind}"] = digest(artifact[start : start + segment.get("size", 0)])
    # A change of length moves segments, and each commit has its provenance.
    program["segments"] = [program["segments"][number]["kind"] for number in kept]
    program.pop("provenance", None)
    plan = json.dumps(without_defaults(program), sort_keys=True)
    parts["plan"] = digest(plan.encode())
    return parts


def compile_case(effc, case, variant):
    """The parts of one artifact, or the message that it cannot be compiled."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        artifact = folder / "model.effc"
        done = subprocess.run(
            [effc, "compile", case, "-o", artifact, "--strip-ir", "--no-sync", *VARIANTS[variant]],
            cwd=GOLDENS,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            return {"error": done.stderr.replace(name, "")}
        return describe(artifact, folder)


def compile_all(options):
    effc = (ROOT / options.build / "bin/effc").resolve()
    wanted = options.only.split(",") if options.only else [""]
    cases = [c for c in checkpoints() if any(text in c for text in wanted)]
    variants = options.variants.split(",") if options.variants else list(VARIANTS)
    for variant in variants:
        if variant not in VARIANTS:
            sys.exit(f"same_output: no variant '{variant}'; there are {', '.join(VARIANTS)}")
    if not cases:
        sys.exit(f"same_output: no checkpoint's path holds '{options.only}'")
    pairs = [(variant, case) for variant in variants for case in cases]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = [pool.submit(compile_case, effc, case, variant) for variant, case in pairs]
        found = {}
        for number, (pair, future) in enumerate(zip(pairs, futures)):
            found[" ".join(pair)] = future.result()
            if sys.stderr.isatty():
                print(f"\r{number + 1} of {len(pairs)}", end="", file=sys.stderr)
    return found


def compare(before, after):
    """Lines that say what differs. What was not compiled now is left out."""
    lines = []
    for name, parts in after.items():
        if name not in before:
            lines.append(f"{name}: not recorded")
            continue
        for part in sorted(set(parts) | set(before[name])):
            if parts.get(part) != before[name].get(part):
                lines.append(f"{name}: {part} differs")
    return lines


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("action", choices=["record", "compare"])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--only", default="")
    parser.add_argument("--variants", default="")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    if options.action == "compare":
        before = json.loads(options.file.read_text())
    found = compile_all(options)
    errors = sum("error" in parts for parts in found.values())
    print(f"{len(found)} compilations, {errors} of them refused")
    if options.action == "record":
        options.file.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        return 0
    lines = compare(before, found)
    print("\n".join(lines) if lines else "nothing differs")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
