"""How the cases of recurrence/ are written: an op, its attributes, its operands in order
(shape and elements; `i32` for positions) and its results."""
import torch


def numbers(generator, *shape):
    """Multiples of 1/64 from -2 to 2, which print short and are exact in any type."""
    return torch.randint(-128, 129, shape, generator=generator).double() / 64


def datum(tensor, shape=None):
    tensor = tensor.reshape(shape) if shape else tensor
    integers = {} if tensor.is_floating_point() else {"element": "i32"}
    return {"shape": list(tensor.shape), **integers, "elements": tensor.reshape(-1).tolist()}


def case(name, op, operands, results, attributes=""):
    return {"name": name, "op": op, "attributes": attributes, "operands": operands, "results": results}
