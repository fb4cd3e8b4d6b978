"""Runs a library in double, with whatever it computes in f32 by name."""

import contextlib

import torch


@contextlib.contextmanager
def everything_in_double():
    """`torch.float32`, `torch.float` and `Tensor.float()` mean double inside."""
    saved = torch.float32, torch.float, torch.Tensor.float, torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    torch.float32 = torch.float = torch.float64
    torch.Tensor.float = torch.Tensor.double
    try:
        yield
    finally:
        torch.float32, torch.float, torch.Tensor.float, default = saved
        torch.set_default_dtype(default)
