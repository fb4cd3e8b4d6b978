"""How many blocks of a kernel an SM holds at a time."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Occupancy:
    blocks: int
    limit: str  # what allows no more: registers, shared memory, threads, blocks


def of(registers: int, shared_bytes: int, threads: int, p) -> Occupancy:
    """Registers are those of a thread; shared memory is that of a block, without what the driver keeps."""
    warps = -(-threads // 32)
    a_warp = -(-max(registers, 1) * 32 // p.register_unit) * p.register_unit
    # Each sub-core has a quarter of the registers.
    most = {"threads": p.threads_per_sm // (warps * 32), "registers": p.registers_per_sm // 4 // a_warp * 4 // warps,
            "shared memory": p.shared_per_sm // (shared_bytes + p.shared_reserved), "blocks": p.blocks_per_sm}
    limit = min(most, key=most.get)
    return Occupancy(max(1, most[limit]), limit)
