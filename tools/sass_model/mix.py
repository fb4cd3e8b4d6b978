"""What a kernel issues, by kind; the kinds that budgets are about."""
import collections

from .warp import OFF

KINDS = {
    "tensor": "HMMA IMMA HGMMA IGMMA QGMMA",
    "float": "FFMA FMUL FADD HADD2 HMUL2 HFMA2",
    "masks": "FSEL SEL USEL FSETP ISETP UISETP PLOP3 UPLOP3 P2R R2P FMNMX IMNMX VIMNMX",
    "special": "MUFU",
    "convert": "F2FP I2FP F2F F2I I2F",
    "integer": "IMAD IADD3 LOP3 LEA SHF VIADD PRMT UIADD3 UIMAD ULOP3 USHF ULEA UPRMT SGXT IABS MOV UMOV R2UR CS2R",
    "division": "FCHK CALL",
    "global": "LDG STG LDGSTS RED ATOMG UTMALDG UTMASTG",
    "shared": "LDS STS LDSM STSM SHFL",
    "synchronisation": "BAR WARPGROUP DEPBAR LDGDEPBAR SYNCS BSSY BSYNC FENCE MEMBAR"}
KIND_OF = {opcode: kind for kind, names in KINDS.items() for opcode in names.split()}


def mix_of(instructions, trace) -> dict:
    """Instructions of a warp by kind, those in no kind as "other"; those whose predicate is false as "off"."""
    counts = collections.Counter()
    for index, note in zip(trace.issued, trace.notes):
        counts["off" if note is OFF else KIND_OF.get(instructions[index].opcode, "other")] += 1
    return dict(sorted(counts.items()))
