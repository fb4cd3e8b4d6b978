#!/usr/bin/env python3
"""Writes test/goldens/quantised/: a matrix in each public layout, as its library writes it, and what the library says
that its numbers are.

  python3 test/goldens/make_quantised.py AUTOGPTQ AUTOAWQ MODELOPT [KIND...]

Into a virtual environment: torch 2.11.0, transformers 5.24.0, compressed-tensors 0.20.0, bitsandbytes 0.50.2,
safetensors; AUTOGPTQ is the wheel auto-gptq 0.7.1, unpacked, AUTOAWQ the source of autoawq 0.2.9, MODELOPT the wheel
nvidia-modelopt 0.47.0, of which one file each is used. A folder of a kind has config.json (its quantization_config alone), model.safetensors and expected.safetensors,
in f32: libraries round a product to the type of the scales, so scales are made f32 first, and the product is exact or
rounded once.
"""
import importlib.util
import json
import math
import pathlib
import sys
import types

import torch
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).parent / "quantised"
NAME = "layers.0.proj"


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drawn(rows, columns, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, columns, generator=generator) * 0.1


# ---- compressed-tensors ----------------------------------------------------------------------------------------------
def compressed(form, rows, columns, dtype, global_scale=None, **arguments):
    from compressed_tensors.compressors.base import BaseCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
    from compressed_tensors.quantization.utils import calculate_qparams
    args = QuantizationArgs(**arguments)
    scheme = QuantizationScheme(targets=["Linear"], weights=args)
    weight = drawn(rows, columns, rows)
    if args.strategy == "group" or args.strategy == "tensor_group":
        parts = weight.reshape(rows, -1, args.group_size)
        low, high = parts.amin(-1), parts.amax(-1)
    elif args.strategy == "channel":
        low, high = weight.amin(-1, keepdim=True), weight.amax(-1, keepdim=True)
    elif args.strategy == "block":
        r, c = args.block_structure
        padded = torch.nn.functional.pad(weight, (0, -columns % c, 0, -rows % r))
        parts = padded.reshape(padded.shape[0] // r, r, padded.shape[1] // c, c)
        low, high = parts.amin((1, 3)), parts.amax((1, 3))
    else:
        low, high = weight.min().reshape(1), weight.max().reshape(1)
    scale, zero = calculate_qparams(low, high, args, global_scale=global_scale)
    scale = scale.to(dtype)
    state = {"weight": weight, "weight_scale": scale, "weight_zero_point": zero}
    if global_scale is not None:
        state["weight_global_scale"] = global_scale
    compressor = BaseCompressor.get_value_from_registry(form)
    state = {k: v for k, v in compressor.compress(state, scheme).items() if v is not None}
    wide = dict(state)
    if wide["weight_scale"].dtype in (torch.bfloat16, torch.float16):
        wide["weight_scale"] = wide["weight_scale"].float()
    if "fp4" in form:  # whose decompress() rounds to bf16
        from compressed_tensors.compressors.nvfp4.helpers import unpack_fp4_from_uint8
        from compressed_tensors.quantization import dequantize
        codes = unpack_fp4_from_uint8(state["weight_packed"], rows, columns).float()
        scale = compressor._decompress_scale(state["weight_scale"], torch.float32)
        expected = dequantize(codes, scale, args=args, dtype=torch.float32, global_scale=global_scale)
    else:
        expected = compressor.decompress(wide, scheme)["weight"]
    weights = args.model_dump()
    config = {"quant_method": "compressed-tensors", "format": form, "quantization_status": "compressed",
              "version": "0.20.0", "ignore": ["lm_head"], "global_compression_ratio": None, "kv_cache_scheme": None,
              "sparsity_config": {}, "transform_config": {},
              "config_groups": {"group_0": {"format": form, "input_activations": None, "output_activations": None,
                                            "targets": ["Linear"], "weights": json.loads(json.dumps(weights, default=str))}}}
    return config, {f"{NAME}.{k}": v for k, v in state.items()}, expected


def nvfp4():
    divisor = torch.tensor([448 * 6 / drawn(12, 64, 12).abs().max()])
    return compressed("nvfp4-pack-quantized", 12, 64, torch.float32, global_scale=divisor, num_bits=4,
                      type="float", strategy="tensor_group", group_size=16)


# ---- the other libraries ---------------------------------------------------------------------------------------------
def fp8(rows, columns, block, dtype, eighth=torch.float8_e4m3fn):
    from transformers.integrations.finegrained_fp8 import Fp8Dequantize
    weight, (r, c) = drawn(rows, columns, 7), block
    down, across = math.ceil(rows / r), math.ceil(columns / c)
    scales, codes = torch.empty(down, across), torch.empty(rows, columns, dtype=eighth)
    expected = torch.empty(rows, columns)
    for i in range(down):
        for j in range(across):
            part = weight[i * r:(i + 1) * r, j * c:(j + 1) * c]
            scale = (part.abs().max() / torch.finfo(eighth).max).to(dtype)
            q = (part / scale.float()).clamp(-448, 448).to(eighth)
            scales[i, j] = scale.float()
            codes[i * r:(i + 1) * r, j * c:(j + 1) * c] = q
            # Block by block: the library takes rows of equal blocks alone.
            expected[i * r:(i + 1) * r, j * c:(j + 1) * c] = Fp8Dequantize(None)._dequantize_one(
                q, scale.float().reshape(1, 1), torch.float32)
    config = {"quant_method": "fp8", "activation_scheme": "dynamic", "fmt": "e4m3", "weight_block_size": list(block),
              "modules_to_not_convert": ["lm_head"]}
    return config, {f"{NAME}.weight": codes, f"{NAME}.weight_scale_inv": scales.to(dtype)}, expected


def fp8_rows():
    """A scale for each row, as fbgemm_fp8 has them, [N, 1]."""
    config, tensors, expected = fp8(7, 40, (1, 40), torch.float32)
    tensors[f"{NAME}.weight_scale"] = tensors.pop(f"{NAME}.weight_scale_inv")
    return {"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0, "modules_to_not_convert": []}, tensors, expected


def fp8_one():
    """One scale, as Model Optimizer has them."""
    config, tensors, expected = fp8(7, 40, (7, 40), torch.float32)
    scale = tensors.pop(f"{NAME}.weight_scale_inv").reshape(())
    tensors[f"{NAME}.weight_scale"], tensors[f"{NAME}.input_scale"] = scale, torch.tensor(0.5)
    return {"quant_method": "modelopt", "quant_algo": "FP8"}, tensors, expected


def eight_bits(rows, columns):
    import bitsandbytes.functional as F
    weight = drawn(rows, columns, 4)
    scales = weight.abs().amax(1)
    codes = (weight * (127 / scales)[:, None]).round().to(torch.int8)
    expected = F.int8_vectorwise_dequant(codes, scales)
    config = {"quant_method": "bitsandbytes", "load_in_4bit": False, "load_in_8bit": True, "llm_int8_threshold": 6.0}
    return config, {f"{NAME}.weight": codes, f"{NAME}.SCB": scales,
                    f"{NAME}.weight_format": torch.tensor(0, dtype=torch.uint8)}, expected


def integers(weight, bits, group):
    """Scales and zeros [rows, groups] of a matrix, zeros of 1 and more."""
    parts = weight.reshape(weight.shape[0], -1, group)
    low, high = parts.amin(-1).clamp(max=0), parts.amax(-1).clamp(min=0)
    scale = ((high - low) / (2 ** bits - 1)).half().float()
    return scale, (-low / scale).round().clamp(1, 2 ** bits - 1)


def gptq(autogptq, bits, rows, columns, group, form="gptq", **settings):
    module = load(autogptq / "auto_gptq/nn_modules/qlinear/qlinear_cuda.py")
    layer = module.QuantLinear(bits, group, columns, rows, bias=False)
    linear = torch.nn.Linear(columns, rows, bias=False)
    linear.weight.data = drawn(rows, columns, bits)
    scale, zero = integers(linear.weight.data, bits, columns if group < 0 else group)
    order = None
    if settings.get("desc_act"):  # inputs in groups of their own
        generator = torch.Generator().manual_seed(3)
        order = (torch.randperm(columns, generator=generator) // group).to(torch.int32)
    layer.pack(linear, scale, zero.clone(), order)
    layer.scales = layer.scales.float()
    with torch.no_grad():
        expected = layer(torch.eye(columns)).t().contiguous()
    tensors = {"qweight": layer.qweight, "qzeros": layer.qzeros, "scales": layer.scales.half(), "g_idx": layer.g_idx}
    if form == "gptq_v2":  # what stores zeros as they are: one more in each field
        assert bits == 8
        tensors["qzeros"] = layer.qzeros + 0x01010101
    config = {"quant_method": "gptq", "bits": bits, "group_size": group, "desc_act": False, "sym": False,
              "checkpoint_format": form, "damp_percent": 0.01, "true_sequential": True, **settings}
    return config, {f"{NAME}.{k}": v for k, v in tensors.items()}, expected


def awq(autoawq, rows, columns, group):
    packing = load(autoawq / "awq/utils/packing_utils.py")
    weight = drawn(rows, columns, 5)
    scale, zero = integers(weight, 4, group)
    codes = (weight / scale.repeat_interleave(group, 1) + zero.repeat_interleave(group, 1)).round().clamp(0, 15)

    def packed(values):  # [x, rows] -> [x, rows / 8]
        values = values.to(torch.int32).reshape(values.shape[0], -1, 8)[:, :, packing.AWQ_ORDER]
        return (values << torch.arange(0, 32, 4, dtype=torch.int32)).sum(-1).to(torch.int32)
    tensors = {"qweight": packed(codes.t()), "qzeros": packed(zero.t()), "scales": scale.t().contiguous().half()}
    expected = packing.dequantize_gemm(tensors["qweight"], tensors["qzeros"], tensors["scales"].float(), 4, group)
    config = {"quant_method": "awq", "bits": 4, "group_size": group, "version": "gemm", "zero_point": True,
              "modules_to_not_convert": None}
    return config, {f"{NAME}.{k}": v for k, v in tensors.items()}, expected.t().contiguous()


def four_bits(kind, rows, columns, nested):
    import bitsandbytes.functional as F
    weight = drawn(rows, columns, 9)
    codes, state = F.quantize_4bit(weight, quant_type=kind, compress_statistics=nested, blocksize=64)
    # As on a GPU. The kernel for the CPU begins a block with each row, which is another matrix where 64 does not divide
    # columns; its companions' table of fp4 has four digits.
    from bitsandbytes.backends.default.ops import _dequantize_4bit_compute
    absmax = state.absmax if not nested else F.dequantize_blockwise(state.absmax, state.state2) + state.offset
    expected = _dequantize_4bit_compute(codes.reshape(-1), absmax, state.code, 64, weight.shape, torch.float32)
    tensors = {f"{NAME}.weight": codes}
    for key, value in state.as_dict(packed=True).items():
        tensors[f"{NAME}.weight.{key}"] = value
    config = {"quant_method": "bitsandbytes", "load_in_4bit": True, "load_in_8bit": False, "_load_in_4bit": True,
              "_load_in_8bit": False, "bnb_4bit_quant_type": kind, "bnb_4bit_use_double_quant": nested,
              "bnb_4bit_compute_dtype": "bfloat16", "bnb_4bit_quant_storage": "uint8", "llm_int8_threshold": 6.0,
              "llm_int8_skip_modules": None, "llm_int8_has_fp16_weight": False,
              "llm_int8_enable_fp32_cpu_offload": False}
    return config, tensors, expected


def modelopt(folder):
    """Any codes, as NVFP4QTensor takes them apart."""
    package = "modelopt.torch.quantization"  # without what its modules import
    for name in ("modelopt", "modelopt.torch", package, f"{package}.backends", f"{package}.qtensor"):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = []
    for name, names in (("backends.utils", ["fp4_compatible"]),
                        ("utils", ["reduce_amax", "reduce_block_amax", "reduce_block_padding"]),
                        ("utils.numeric_utils", ["E2M1_MAX", "E4M3_MAX", "fp8_max_for_normalization"]),
                        ("qtensor.base_qtensor", [])):
        module = sys.modules[f"{package}.{name}"] = types.ModuleType(name)
        module.__path__ = []
        for one in names:
            setattr(module, one, 448.0 if one == "E4M3_MAX" else None)

    class Tensor:
        def __init__(self, shape, dtype, data):
            self.metadata, self._quantized_data = {"shape": shape, "dtype": dtype}, data
    sys.modules[f"{package}.qtensor.base_qtensor"].BaseQuantizedTensor = Tensor
    path = folder / "modelopt/torch/quantization/qtensor/nvfp4_tensor.py"
    spec = importlib.util.spec_from_file_location(f"{package}.qtensor.nvfp4_tensor", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    generator = torch.Generator().manual_seed(11)
    rows, columns = 6, 48
    codes = torch.randint(0, 256, (rows, columns // 2), dtype=torch.uint8, generator=generator)
    scale = (torch.rand(rows, columns // 16, generator=generator) * 400 + 1).to(torch.float8_e4m3fn)
    factor = torch.tensor(0.000123)
    tensor = module.NVFP4QTensor((rows, columns), torch.float32, codes)
    expected = tensor.dequantize(torch.float32, scale=scale, double_scale=factor, block_sizes={-1: 16})
    config = {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"],
              "producer": {"name": "modelopt", "version": "0.47.0"},
              "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "float",
                                                                               "group_size": 16, "dynamic": False}}}}
    return config, {f"{NAME}.weight": codes, f"{NAME}.weight_scale": scale, f"{NAME}.weight_scale_2": factor,
                    f"{NAME}.input_scale": torch.tensor(0.01)}, expected


def kinds(autogptq, autoawq, modelopt_folder):
    group = {"strategy": "group", "group_size": 32}
    yield "ct_int4_group", lambda: compressed("pack-quantized", 12, 64, torch.bfloat16, num_bits=4, **group)
    yield "ct_int4_channel_zeros", lambda: compressed("pack-quantized", 20, 36, torch.float16, num_bits=4,
                                                      strategy="channel", symmetric=False)
    yield "ct_int3_group_zeros", lambda: compressed("pack-quantized", 10, 64, torch.float32, num_bits=3,
                                                    symmetric=False, **group)
    yield "ct_int8_packed", lambda: compressed("pack-quantized", 6, 64, torch.bfloat16, num_bits=8,
                                               strategy="channel")
    yield "ct_int8_channel", lambda: compressed("int-quantized", 6, 40, torch.bfloat16, num_bits=8,
                                                strategy="channel")
    yield "ct_int8_group_zeros", lambda: compressed("int-quantized", 6, 64, torch.bfloat16, num_bits=8,
                                                    symmetric=False, **group)
    yield "ct_float_tensor", lambda: compressed("float-quantized", 6, 40, torch.float32, num_bits=8, type="float",
                                                strategy="tensor")
    yield "ct_float_channel", lambda: compressed("float-quantized", 6, 64, torch.bfloat16, num_bits=8, type="float",
                                                 strategy="channel")
    yield "ct_float_block", lambda: compressed("float-quantized", 11, 40, torch.bfloat16, num_bits=8, type="float",
                                               strategy="block", block_structure=[4, 16])
    yield "ct_mxfp4", lambda: compressed("mxfp4-pack-quantized", 6, 64, torch.float32, num_bits=4, type="float",
                                         scale_dtype=torch.uint8, **group)
    yield "ct_nvfp4", nvfp4
    yield "fp8_blocks", lambda: fp8(9, 40, (4, 16), torch.float32)
    yield "fp8_blocks_bf16", lambda: fp8(5, 64, (4, 32), torch.bfloat16, torch.float8_e5m2)
    yield "fbgemm_fp8", fp8_rows
    yield "modelopt_fp8", fp8_one
    yield "bnb_int8", lambda: eight_bits(5, 48)
    yield "gptq4", lambda: gptq(autogptq, 4, 32, 64, 32)
    yield "gptq3", lambda: gptq(autogptq, 3, 32, 32, 16)
    yield "gptq2", lambda: gptq(autogptq, 2, 32, 64, -1, static_groups=False)
    yield "gptq4_ordered", lambda: gptq(autogptq, 4, 32, 64, 16, desc_act=True)
    yield "gptq8_v2", lambda: gptq(autogptq, 8, 32, 32, 32, form="gptq_v2")
    yield "awq", lambda: awq(autoawq, 24, 64, 32)
    yield "modelopt_nvfp4", lambda: modelopt(modelopt_folder)
    yield "bnb_nf4", lambda: four_bits("nf4", 6, 64, False)
    yield "bnb_nf4_nested", lambda: four_bits("nf4", 6, 96, True)
    yield "bnb_fp4_across_rows", lambda: four_bits("fp4", 4, 48, False)


def main():
    chosen = sys.argv[4:]
    for name, make in kinds(*map(pathlib.Path, sys.argv[1:4])):
        if chosen and name not in chosen:
            continue
        config, tensors, expected = make()
        assert expected.dtype == torch.float32, (name, expected.dtype)
        folder = HERE / name
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(json.dumps({"quantization_config": config}, indent=1) + "\n")
        save_file({k: v.contiguous() for k, v in tensors.items()}, folder / "model.safetensors")
        save_file({f"{NAME}.weight": expected.contiguous()}, folder / "expected.safetensors")
        print(name, tuple(expected.shape))


if __name__ == "__main__":
    main()
