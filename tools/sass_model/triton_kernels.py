"""Triton kernels, compiled here without a GPU, as launches of the model. Needs Triton (PyPI), and no torch.

A launch is described as Triton is called: a function, arguments by name, block sizes, warps, stages. Tensors are `Tensor`s, numbers are ints or
floats, and an argument None is a pointer that is left out."""
import dataclasses
import importlib.util
import pathlib
import sys
import types

from . import cubin, lanes, launch, loading

POINTERS = {"bf16": 2, "fp16": 2, "fp32": 4, "i32": 4, "i64": 8}


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A dense tensor: `type` in Triton's words, elements of each dimension, and whether it comes from "dram" or is in "l2"."""
    type: str
    shape: tuple
    memory: str = "dram"

    @property
    def bytes(self) -> int:
        count = POINTERS[self.type]
        for size in self.shape:
            count *= size
        return count

    def strides(self) -> tuple:
        """Elements from one place of each dimension to the next, rows last."""
        result, step = [], 1
        for size in reversed(self.shape):
            result.append(step)
            step *= size
        return tuple(reversed(result))


class Missing(types.ModuleType):
    """Stands for a package that kernels' files import and their kernels do not use."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name[0].isupper():  # a class, from which others are made
            return type(name, (), {})
        return Missing(f"{self.__name__}.{name}")

    def __call__(self, *arguments, **_):
        return arguments[0] if len(arguments) == 1 and callable(arguments[0]) else self


def load(path: pathlib.Path, package_root: pathlib.Path):
    """A file with Triton kernels, as a module; what it imports beside Triton is left out where it is not installed."""
    for root, names in (("torch", ("torch", "torch.nn", "torch.nn.functional")), ("einops", ("einops",))):
        if root not in sys.modules and importlib.util.find_spec(root) is None:
            sys.modules |= {name: Missing(name) for name in names}
    parts = path.resolve().relative_to(package_root.resolve()).with_suffix("").parts
    for depth in range(1, len(parts)):  # packages without their __init__.py, which import extensions
        name = ".".join(parts[:depth])
        package = sys.modules.setdefault(name, types.ModuleType(name))
        package.__path__ = [str(package_root.joinpath(*parts[:depth]))]
    # mamba_ssm tunes over what this gives back: all that it is given.
    determinism = sys.modules.setdefault("mamba_ssm.utils.determinism", Missing("mamba_ssm.utils.determinism"))
    determinism.autotune_configs = lambda configs: configs
    sys.modules.setdefault("mamba_ssm.utils", Missing("mamba_ssm.utils"))
    if str(package_root) not in sys.path:
        sys.path.insert(0, str(package_root))
    return importlib.import_module(".".join(parts))


def tuned(function) -> list:
    """The (block sizes, warps, stages) that a function is tuned over; one that says nothing where it is not."""
    while function is not None:
        if hasattr(function, "configs"):
            return [(config.kwargs, config.num_warps, config.num_stages) for config in function.configs]
        function = getattr(function, "fn", None) if not hasattr(function, "arg_names") or hasattr(function, "configs") else None
    return [({}, 4, 3)]


def compiled(function, arguments: dict, grid: tuple, warps: int, stages: int, architecture: int = 90):
    """(functions of the cubin, Launch). `arguments` has Tensors, ints, None and constants by name; names not in it are constants None."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    while not hasattr(function, "params"):
        function = function.fn
    signature, constants, attributes, passed, operands = {}, {}, {}, [], []
    for index, parameter in enumerate(function.params):
        value = arguments.get(parameter.name)
        if parameter.is_constexpr or value is None or (isinstance(value, int) and value == 1):
            signature[parameter.name] = "constexpr"
            constants[(index,)] = value
        elif isinstance(value, Tensor):
            signature[parameter.name] = f"*{value.type}"
            attributes[(index,)] = [["tt.divisibility", 16]]
            operands.append(launch.Operand(parameter.name, value.bytes, value.memory))
            passed.append(len(operands) * launch.REGION)
        elif isinstance(value, float):
            signature[parameter.name] = "fp32"
            passed.append(lanes.bits_of(value))
        else:
            signature[parameter.name] = "i32"
            if value % 16 == 0:
                attributes[(index,)] = [["tt.divisibility", 16]]
            passed.append(value)
    made = triton.compile(ASTSource(function, signature, constants, attributes), target=GPUTarget("cuda", architecture, 32),
                          options={"num_warps": warps, "num_stages": stages})
    data = made.asm["cubin"]
    kernel, = [one for one in cubin.kernels_of(data) if one.name == made.metadata.name]
    # Triton passes pointers to scratch memory, which these kernels do not use, behind the arguments.
    passed += [0] * (len(kernel.parameters) - len(passed))
    placed = [(offset, size, value) for (offset, size), value in zip(kernel.parameters, passed)]
    return loading.functions_of(data), launch.Launch(kernel.name, grid, (32 * warps, 1, 1), made.metadata.shared, kernel.registers, architecture, placed, operands)
