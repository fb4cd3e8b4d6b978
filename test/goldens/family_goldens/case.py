"""What a case of the tables says."""

import json
from dataclasses import dataclass, field
from typing import Callable

import torch
from safetensors.torch import load_file, save_file

from .weights import drawn_buffers


@dataclass
class Case:
    family: str
    name: str
    build: Callable[[], torch.nn.Module]
    vocabulary: int
    dtype: str = "f32"
    lengths: tuple = (48, 13, 1)
    zero_centred: bool = False
    # The deviation of embeddings.
    embedding: float = 1.0
    draw: dict = field(default_factory=dict)
    # What is changed in config.json after the library wrote it: other spellings.
    rewrite: Callable[[dict], dict] | None = None

    # Whether the library is given one token a call, with its cache.
    stepwise: bool = False
    # Whether no token comes twice in a sequence: ties that the library breaks in any way.
    distinct: bool = False
    # What gives logits instead of the library, from its model's weights and token ids.
    forward: Callable | None = None
    # Options of the compilation, for options.json.
    options: dict | None = None
    # Buffers that old files hold too, by their names and shapes.
    buffers: dict = field(default_factory=dict)
    # What tensors are called in the file.
    rename: Callable[[str], str] | None = None
    # What is done to weights after they are drawn, and to the tensors of the file: storage in which few
    # numbers have a place.
    settle: Callable[[torch.nn.Module], None] | None = None
    pack: Callable[[dict], dict] | None = None
    # Whether tensors lie in the file as the library converts them on saving, and not as it holds them.
    converted: bool = True

    @property
    def path(self):
        return f"{self.family}/{self.name}"

    def save(self, model, folder):
        if self.dtype == "bf16":
            # Not the model itself, whose buffers would be rounded too.
            rounded = self.build().to(torch.bfloat16)
            rounded.load_state_dict(model.state_dict())
            for name, tensor in drawn_buffers(model, self).items():
                parent, _, leaf = name.rpartition(".")
                rounded.get_submodule(parent)._buffers[leaf] = tensor
            model = rounded
        model.save_pretrained(folder, save_original_format=self.converted)
        if self.rename or self.buffers or self.pack:
            weights = folder / "model.safetensors"
            rename = self.rename or (lambda name: name)
            tensors = {rename(name): tensor for name, tensor in load_file(weights).items()}
            tensors |= {name: torch.ones(shape) for name, shape in self.buffers.items()}
            if self.pack:
                tensors = self.pack(tensors)
            save_file(tensors, weights, metadata={"format": "pt"})
        path = folder / "config.json"
        config = json.loads(path.read_text())
        if self.rewrite:
            config = self.rewrite(config)
        path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
        if self.options:
            (folder / "options.json").write_text(json.dumps(self.options) + "\n")
