"""The numbers that the model takes as given. parameters.json has a source for each; what gpu_check.calibrate measures takes its place."""
import json
import pathlib
import types

FILE = pathlib.Path(__file__).with_name("parameters.json")


class ParameterError(ValueError):
    """A file of parameters that lacks one, or has one without a source."""


def load(path: pathlib.Path = FILE) -> types.SimpleNamespace:
    """Parameters by name. Other files may leave out what they do not change."""
    entries = json.loads(FILE.read_text()) | (json.loads(path.read_text()) if path != FILE else {})
    for name, entry in entries.items():
        if "value" not in entry or not entry.get("source") or not entry.get("unit"):
            raise ParameterError(f"{path}: {name} needs a value, a unit and a source")
    unknown = set(entries) - set(json.loads(FILE.read_text()))
    if unknown:
        raise ParameterError(f"{path}: no such parameter: {', '.join(sorted(unknown))}")
    return types.SimpleNamespace(**{name: entry["value"] for name, entry in entries.items()})
