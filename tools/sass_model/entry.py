"""A whole call: its launches one after another, with the gaps between them."""
import dataclasses

from . import artifact as artifacts
from .kernel import Prediction, Predictor


@dataclasses.dataclass
class EntryPrediction:
    """`launches` pairs a launch's prediction with how often the call has it, in the order of first occurrence. Seconds are of the call."""
    entry: str
    rows: int
    segments: int
    position: int
    launches: list
    seconds: float
    gap_seconds: float
    chip: str

    @property
    def rows_per_second(self) -> float:
        return self.rows / self.seconds


def predict(artifact, predictor: Predictor, name: str, call) -> EntryPrediction:
    """The call of an entry. Launches that differ in their layer alone are one line."""
    found: dict[tuple, list] = {}
    launches = artifacts.launches(artifact, artifact.entry(name), call, predictor.p.l2_kept_bytes)
    total = 0.0
    for launch in launches:
        prediction = predictor.predict(launch)
        total += prediction.seconds
        held = found.setdefault((prediction.kernel, prediction.blocks, prediction.seconds), [prediction, 0])
        held[1] += 1
    gaps = len(launches) * predictor.p.launch_gap
    return EntryPrediction(name, call.rows, call.segments, call.position, [tuple(pair) for pair in found.values()], total + gaps, gaps,
                           predictor.p.chip)


__all__ = ["EntryPrediction", "Prediction", "predict"]
