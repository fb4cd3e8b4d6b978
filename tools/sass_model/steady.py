"""The loop in which a kernel spends its time. It is simulated for some iterations, and the rest is so many times one of them."""
import dataclasses

from .warp import Trace

MOST_SIMULATED = 60_000  # instructions of all warps of a block, in the longer of two runs
FEWEST = (2, 4)          # iterations of the shorter and the longer run
MOST = (6, 12)


@dataclasses.dataclass(frozen=True)
class Loop:
    """`branch`: index of the instruction that goes back; `iterations`: how often the body runs; `short`, `long`: how many are simulated."""
    branch: int
    iterations: int
    body: int
    short: int
    long: int


def main_loop(trace: Trace, warps: int):
    """The loop that is entered once and issues most; None where all of it is worth simulating."""
    positions = {}
    for place, index in enumerate(trace.issued):
        if index in trace.back_edges:
            positions.setdefault(index, []).append(place)
    best = None
    for branch, places in positions.items():
        taken = trace.back_edges[branch]
        if len(places) != taken + 1 or taken < FEWEST[1] + 1:  # left more than once: entered more than once
            continue
        span = places[-1] - places[0]
        if best is None or span > best[0]:
            best = (span, branch, taken)
    if best is None:
        return None
    span, branch, taken = best
    body = max(1, span // taken)
    longest = max(FEWEST[1], min(MOST[1], MOST_SIMULATED // (body * warps)))
    short = max(FEWEST[0], longest // 2)
    if taken + 1 <= longest + 1:
        return None
    return Loop(branch, taken + 1, body, short, longest)


def cut(trace: Trace, loop: Loop, kept: int, tail: Trace) -> Trace:
    """The first `kept` iterations of a loop, and what comes behind the loop in `tail`."""
    seen, end = 0, 0
    for place, index in enumerate(trace.issued):
        if index == loop.branch:
            seen += 1
            if seen == kept:
                end = place + 1
                break
    last = max(place for place, index in enumerate(tail.issued) if index == loop.branch)
    return Trace(trace.issued[:end] + tail.issued[last + 1:], trace.notes[:end] + tail.notes[last + 1:], trace.back_edges, trace.assumed,
                 trace.unknown_addresses)
