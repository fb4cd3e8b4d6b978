"""Predictions as tables for people and as one JSON document."""
import dataclasses

from .entry import EntryPrediction
from .kernel import Prediction

COLUMNS = ("times", "kernel", "note", "grid", "thr", "regs", "smem", "b/SM", "waves", "iter", "cyc/iter", "us", "TFLOP/s", "GB/s", "bound")


def share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def row_of(prediction: Prediction, times: int) -> tuple:
    q = prediction
    return (str(times), q.kernel, q.note.rpartition(".")[2], str(q.blocks), str(q.threads), str(q.registers), f"{q.shared_bytes // 1024}K", str(q.blocks_per_core),
            f"{q.waves:.2f}", str(q.iterations), f"{q.cycles_per_iteration:.0f}" if q.iterations > 1 else "", f"{q.seconds * 1e6:.1f}",
            f"{q.flops / q.seconds / 1e12:.0f}" if q.flops else "", f"{q.dram_bytes / q.seconds / 1e9:.0f}", q.bound)


def table(rows: list) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    left = {1, 2, len(rows[0]) - 1}
    return "\n".join("  ".join(text.ljust(width) if column in left else text.rjust(width)
                               for column, (text, width) in enumerate(zip(row, widths))).rstrip() for row in rows)


def kernels_text(pairs: list) -> str:
    lines = [table([COLUMNS] + [row_of(prediction, times) for prediction, times in pairs])]
    for prediction, _ in pairs:
        if prediction.assumed:
            lines.append(f"{prediction.kernel}: taken to fall through, since they depend on data: {'; '.join(prediction.assumed)}")
        if prediction.unknown_addresses:
            lines.append(f"{prediction.kernel}: {prediction.unknown_addresses} accesses of a warp have addresses that depend on data; they count as whole lines of L2")
    return "\n".join(lines)


def entry_text(entry: EntryPrediction) -> str:
    launches = sum(times for _, times in entry.launches)
    return (f"{entry.entry}: {entry.rows} rows of {entry.segments} sequence{'s' * (entry.segments > 1)}, {launches} launches: predicted for {entry.chip} {entry.seconds * 1e3:.3f} ms, "
            f"{entry.rows_per_second:,.0f} rows/s; {entry.gap_seconds * 1e3:.3f} ms of it between launches\n{kernels_text(entry.launches)}")


def mix_text(prediction: Prediction) -> str:
    total = sum(prediction.mix.values())
    return f"{prediction.kernel}: {total} instructions a warp: " + ", ".join(
        f"{kind} {100 * count / total:.0f} %" for kind, count in sorted(prediction.mix.items(), key=lambda pair: -pair[1]))


def kernel_json(prediction: Prediction) -> dict:
    return dataclasses.asdict(prediction)


def entry_json(entry: EntryPrediction) -> dict:
    return {"chip": entry.chip, "entry": entry.entry, "rows": entry.rows, "segments": entry.segments, "position": entry.position, "seconds": entry.seconds,
            "gap_seconds": entry.gap_seconds, "rows_per_second": entry.rows_per_second,
            "launches": [kernel_json(prediction) | {"times": times} for prediction, times in entry.launches]}
