"""Which unit of a sub-core an instruction takes, for how long, and when its result is there."""
import dataclasses
import re

# The names are those of parameters.json; "none": an issue slot alone.
ALU = ("IADD3 LOP3 ISETP SHF SEL LEA IABS IMNMX PRMT VIADD VIADDMNMX VOTE PLOP3 POPC FLO BMSK P2R R2P SGXT I2FP F2FP VIMNMX FSEL FSETP FMNMX "
       "FCHK MOV CS2R BREV HADD2 HMUL2 HFMA2 HSETP2 HMNMX2").split()
PIPES = {name: "alu" for name in ALU} | {name: "fma" for name in ("FFMA", "FMUL", "FADD")} | {
    "IMAD": "fma_heavy", "MUFU": "special", "F2F": "special", "F2I": "special", "I2F": "special", "FRND": "special"}
# Results that scoreboards announce though no memory is involved.
SLOW = {"LDC": "constant_latency", "LDCU": "constant_latency", "S2R": "constant_latency", "S2UR": "constant_latency", "ULDC": "constant_latency",
        "R2UR": "constant_latency", "REDUX": "shuffle_latency", "MUFU": "special_latency", "F2F": "special_latency", "F2I": "special_latency",
        "I2F": "special_latency", "FRND": "special_latency", "SHFL": "shuffle_latency", "HMMA": "warp_product_latency",
        "IMMA": "warp_product_latency"}


@dataclasses.dataclass(slots=True)
class Cost:
    """`pipe`: the unit; `busy`: cycles for which it takes nothing else; `latency`: to the result, where a scoreboard is set."""
    pipe: str
    busy: float
    latency: float


def cost_of(i, p) -> Cost:
    """`p`: the parameters."""
    if i.opcode in ("HMMA", "IMMA"):
        shape = next((m for m in i.modifiers if m.isdigit()), "16816")
        return Cost("tensor", p.warp_product * {"1688": 0.5, "1684": 0.25}.get(shape, 1), p.warp_product_latency)
    if i.opcode.endswith("GMMA"):
        columns = int(re.search(r"64x(\d+)x", i.name)[1])
        depth = int(re.search(r"64x\d+x(\d+)", i.name)[1])
        return Cost("tensor", columns / p.group_product_columns * (0.5 if i.opcode == "QGMMA" and depth == 16 else 1), p.group_product_latency)
    if i.opcode == "SHFL":
        return Cost("memory", 1, p.shuffle_latency)
    pipe = PIPES.get(i.opcode, "none")
    return Cost(pipe, getattr(p, pipe) if pipe != "none" else 0, getattr(p, SLOW[i.opcode]) if i.opcode in SLOW else 20)
