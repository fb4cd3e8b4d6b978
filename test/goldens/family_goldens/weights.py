"""Draws weights of which none is neutral."""

import re
import zlib

import torch


def seed_of(path):
    return zlib.crc32(path.encode())


@torch.no_grad()
def randomise(model, case, generator):
    """Matrices keep the size of what they multiply, weights of norms lie around 1 (around 0
    where `case.zero_centred`), other vectors around 0. `case.draw` maps patterns of names to
    (mean, deviation); the first that fits counts. Buffers are drawn where a pattern fits."""

    def normal(tensor, mean, deviation):
        tensor.copy_(mean + deviation * torch.randn(tensor.shape, generator=generator))

    for name, tensor in model.named_parameters():
        for pattern, (mean, deviation) in case.draw.items():
            if re.search(pattern, name):
                normal(tensor, mean, deviation)
                break
        else:
            if re.search(r"(norm|ln)[^.]*\.weight$", name) and tensor.dim() == 1:
                normal(tensor, 0 if case.zero_centred else 1, 0.3)
            elif re.search(r"(embed[^.]*|wte|wpe)\.weight$", name):
                normal(tensor, 0, case.embedding)
            elif tensor.dim() >= 2:
                normal(tensor, 0, tensor.shape[-1] ** -0.5)
            else:
                normal(tensor, 0, 0.3)
    for name, tensor in drawn_buffers(model, case).items():
        normal(tensor, *next(case.draw[pattern] for pattern in case.draw if re.search(pattern, name)))


def drawn_buffers(model, case):
    """Those that are no consequence of the configuration, such as what balances experts."""
    return {name: tensor for name, tensor in model.named_buffers()
            if any(re.search(pattern, name) for pattern in case.draw)}
