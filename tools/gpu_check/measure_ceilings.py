"""Prints what the GPU reaches today as JSON: a large copy on the device, and an 8192 x 8192 x 8192 product of random bf16.

Started as a program, so that a torch that fails takes nothing else with it.
"""
import json
import statistics

import torch


def seconds_of(function, runs: int) -> float:
    """The median by events, after three runs that are not timed."""
    times = []
    for run in range(runs + 3):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        function()
        end.record()
        torch.cuda.synchronize()
        if run >= 3:
            times.append(start.elapsed_time(end) / 1e3)
    return statistics.median(times)


def main() -> None:
    source = torch.randn(1 << 30, device="cuda", dtype=torch.bfloat16)
    target = torch.empty_like(source)
    copied = seconds_of(lambda: target.copy_(source), 20)
    del target
    a, b = source[:1 << 26].view(8192, 8192), source[1 << 26:1 << 27].view(8192, 8192)
    multiplied = seconds_of(lambda: torch.mm(a, b), 10)
    print(json.dumps({"bytes_per_second": 2 * source.numel() * 2 / copied, "flops_per_second": 2 * 8192 ** 3 / multiplied,
                      "source": "measured in this run by torch: a copy of 2 GiB, an 8192 x 8192 x 8192 product of random bf16"}))


if __name__ == "__main__":
    main()
