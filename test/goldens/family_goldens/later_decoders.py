"""Cases of transformers' decoders of 2025 and 2026 whose experts, windows or heads differ from Llama's
(release 5.24): gpt-oss."""

import torch

from .public import LLAMA, case

E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])


@torch.no_grad()
def settle_mxfp4(model):
    """Experts as mxfp4 has them: groups of 32 inputs, which lie along the second axis, share a power of two."""
    for name, tensor in model.named_parameters():
        if name.endswith(("experts.gate_up_proj", "experts.down_proj")):
            codes, scales = codes_of(tensor)
            tensor.copy_(numbers_of(codes, scales).transpose(1, 2))


def codes_of(tensor):
    """Codes [E, N, K / 32, 32] and scales [E, N, K / 32] of a tensor [E, K, N]: the nearest ones."""
    groups = tensor.transpose(1, 2).unflatten(2, (-1, 32))
    scales = groups.abs().amax(3).log2().floor().clamp(min=-126) - 2
    scaled = groups / torch.exp2(scales)[..., None]
    codes = (scaled.abs()[..., None] - E2M1).abs().argmin(-1)
    return codes + 8 * (scaled < 0), scales


def numbers_of(codes, scales):
    signs = 1 - 2.0 * (codes >= 8)
    return (signs * E2M1[codes % 8] * torch.exp2(scales)[..., None]).flatten(2)


def pack_mxfp4(tensors):
    """Tensors of blocks and scales, as released."""
    packed = {}
    for name, tensor in tensors.items():
        if not name.endswith(("experts.gate_up_proj", "experts.down_proj")):
            packed[name] = tensor
            continue
        codes, scales = codes_of(tensor.float())
        packed[name + "_blocks"] = (codes[..., 0::2] + 16 * codes[..., 1::2]).to(torch.uint8)
        packed[name + "_scales"] = (scales + 127).to(torch.uint8)
    return packed


def gpt_oss_as_released(config):
    """The keys of released files."""
    rope = config.pop("rope_parameters")
    config.pop("swiglu_alpha")
    theta = rope.pop("rope_theta")
    return {**config, "rope_theta": theta, "rope_scaling": rope, "initial_context_length": 16,
            "experts_per_token": config["num_experts_per_tok"], "quantization_config": {
                "quant_method": "mxfp4", "modules_to_not_convert": [
                    "model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]}}


GPT_OSS = {**LLAMA, "hidden_size": 20, "intermediate_size": 14, "num_local_experts": 5, "num_experts_per_tok": 2,
           "sliding_window": 9}
# Gates and ups that their bounds hold.
CLAMPED = {r"gate_up_proj_bias$": (0.0, 1.5), r"sinks$": (0.0, 1.5)}
YARN = {"rope_type": "yarn", "rope_theta": 150000.0, "factor": 4.0, "original_max_position_embeddings": 16,
        "beta_fast": 8.0, "beta_slow": 1.0, "truncate": False}
CASES = [
    case("gpt_oss", "plain", "GptOss", {**GPT_OSS, "swiglu_limit": 1.5, "rope_parameters": YARN}, draw=CLAMPED),
    case("gpt_oss", "mxfp4_bf16", "GptOss", {
        **GPT_OSS, "hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 1, "intermediate_size": 32,
        "num_local_experts": 3, "swiglu_limit": 2.0, "rope_parameters": YARN}, draw=CLAMPED, dtype="bf16",
         settle=settle_mxfp4, pack=pack_mxfp4, rewrite=gpt_oss_as_released),
    case("gpt_oss", "no_biases_tied_bf16", "GptOss", {
        **GPT_OSS, "hidden_size": 24, "num_hidden_layers": 3, "num_experts_per_tok": 1, "attention_bias": False,
        "tie_word_embeddings": True, "swiglu_alpha": 1.2, "layer_types": [
            "full_attention", "sliding_attention", "sliding_attention"],
        "rope_parameters": {"rope_type": "default", "rope_theta": 300.0}}, draw=CLAMPED, dtype="bf16", embedding=0.3),
]
