"""Compiled models (.effc): their kernels' code, and the launches of an entry with grids, arguments and the bytes that each can reach.

The program is read by flatc with runtime/schema/program.fbs, so that this reader knows no field by its number."""
import dataclasses
import json
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

from .call import Call
from .launch import REGION, Launch, Operand, Tables

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "runtime" / "schema" / "program.fbs"
HEADER = struct.Struct("<4sHHQQQ")


class ArtifactError(ValueError):
    """A file that is no compiled model with code for a GPU, or an entry that it has not."""


class NoMachineCode(ArtifactError):
    """A compiled model with PTX alone, of which nothing can be replayed."""


@dataclasses.dataclass
class Artifact:
    program: dict
    target: dict
    cubin: bytes

    @property
    def architecture(self) -> int:
        return int(re.sub(r"\D", "", self.target["name"]))

    def entry(self, name: str) -> dict:
        for entry in self.target["entries"]:
            if entry["name"] == name:
                return entry
        raise ArtifactError(f"there is no entry {name}; there are {', '.join(e['name'] for e in self.target['entries'])}")


def read(path: pathlib.Path, target: str = "") -> Artifact:
    """The file's plan for `target` ("sm_90a"), the first one for a real GPU where none is named."""
    data = path.read_bytes()
    if len(data) < HEADER.size or data[:4] != b"EFFC":
        raise ArtifactError(f"{path} is no compiled model: it does not begin with EFFC")
    _, _, _, whole, offset, size = HEADER.unpack_from(data)
    if whole != len(data):
        raise ArtifactError(f"{path} is cut off: it has {len(data)} of {whole} bytes")
    program = to_json(data[offset:offset + size])
    plans = [plan for plan in program.get("targets", []) if plan["name"].startswith("sm_") and target in ("", plan["name"])]
    if not plans:
        raise ArtifactError(f"{path} has no code for {target or 'a GPU'}; compile with --target sm_90a")
    code = plans[0]["kernels"][0]["code"]
    segments = [program["segments"][one["segment"]] for one in code if program["segments"][one["segment"]]["kind"] == "Cubin"]
    if not segments:
        raise NoMachineCode(f"{path} has PTX only: it was compiled where there is no ptxas")
    return Artifact(program, plans[0], data[segments[0]["offset"]:segments[0]["offset"] + segments[0]["size"]])


def to_json(program: bytes) -> dict:
    flatc = shutil.which("flatc")
    if not flatc:
        raise ArtifactError("flatc reads the program, but is not on the PATH; install flatbuffers-compiler")
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "program.bin")
        source.write_bytes(program)
        done = subprocess.run([flatc, "--json", "--strict-json", "--defaults-json", "--raw-binary", "-o", folder, str(SCHEMA), "--", str(source)],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ArtifactError(f"flatc cannot read the program: {done.stdout}{done.stderr}")
        return json.loads(pathlib.Path(folder, "program.json").read_text())


def is_wanted(launch: dict, call: Call, chooses: bool) -> bool:
    """Whether a call that wants choices, or logits in an entry that gives no choices, has the launch."""
    wanted = "Choices" if call.choices and chooses else "Logits"
    return launch["only_for"] in ("Any", wanted)


def launches(artifact: Artifact, entry: dict, call: Call, l2_bytes: int) -> list:
    """The Launch of each launch of an entry, in order. An operand in the arena is in the second cache where all that the launch
    reaches of the arena fits into `l2_bytes`; weights and states come from DRAM."""
    if call.rows > entry["rows"]:
        raise ArtifactError(f"{entry['name']} takes {entry['rows']} rows at most, but the call has {call.rows}")
    chooses = any(launch["only_for"] == "Choices" for launch in entry["launches"])
    tables = {kind: call.table(kind) for kind in ("Segments", "RowSlots", "RowPositions", "OutputRows")}
    return [make(artifact, launch, call, tables, l2_bytes) for launch in entry["launches"] if is_wanted(launch, call, chooses)]


def make(artifact: Artifact, launch: dict, call: Call, tables: dict, l2_bytes: int) -> Launch:
    kernel = artifact.target["kernels"][launch["kernel"]]
    items, operands, known = launch["items"], [], Tables()
    for number, (operand, extent) in enumerate(zip(launch["operands"], kernel["extents"])):
        reached = extent["bytes"]
        if extent["stride"]:
            reached *= call.segments if operand["kind"] in ("State", "Segments") else call.outputs if items["count"] == "Outputs" and \
                operand["kind"] in ("Logits", "Choices", "Draws", "OutputRows") else call.rows
        operands.append(Operand(f"{operand['kind'].lower()} {operand['index']}", reached, "dram" if operand["kind"] in ("Weight", "State") else "l2"))
        if tables.get(operand["kind"]) is not None:
            known.add((number + 1) * REGION, tables[operand["kind"]])
    arena = [operand for operand, one in zip(operands, launch["operands"]) if one["kind"] in ("Arena", "Logits")]
    if sum(operand.bytes for operand in arena) > l2_bytes:
        for operand in arena:
            operand.memory = "dram"
    count = call.count(items["count"])
    grid = -(-count // items["tile"]) * items["times"]
    arguments = [(number + 1) * REGION for number in range(len(operands))] + [call.rows, call.segments, call.outputs]
    return Launch(kernel["name"], (grid, 1, 1), (kernel["threads"], 1, 1), kernel["shared_bytes"], kernel["registers"], artifact.architecture,
                  arguments, operands, known, [box["operand"] for box in kernel.get("box_maps") or []], note=launch.get("note") or "",
                  flops=launch["flops_per_row"] * (call.outputs if items["count"] == "Outputs" else call.rows))
