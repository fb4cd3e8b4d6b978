"""flash-linear-attention's models on the CPU.

Its layers call Triton kernels, which need a GPU. Each kernel gets a body in torch here: the
library's own naive function of the recurrence where it has one, and for norms, convolutions and
activations the one line of torch that it is documented as. Everything else (modules, names,
order, gates) stays the library's.
"""

import inspect
import textwrap
import warnings

import torch
from torch import nn
from torch.nn import functional

warnings.filterwarnings("ignore")

import fla.layers.attn  # noqa: E402
import fla.layers.comba  # noqa: E402
import fla.layers.delta_net  # noqa: E402
import fla.layers.forgetting_attn  # noqa: E402
import fla.layers.gated_deltanet  # noqa: E402
import fla.layers.gated_deltaproduct  # noqa: E402
import fla.layers.gla  # noqa: E402
import fla.layers.gsa  # noqa: E402
import fla.layers.hgrn  # noqa: E402
import fla.layers.hgrn2  # noqa: E402
import fla.layers.kda  # noqa: E402
import fla.layers.lightnet  # noqa: E402
import fla.layers.linear_attn  # noqa: E402
import fla.layers.log_linear_mamba2  # noqa: E402
import fla.layers.mamba2  # noqa: E402
import fla.layers.moba  # noqa: E402
import fla.layers.multiscale_retention  # noqa: E402
import fla.layers.nsa  # noqa: E402
import fla.layers.rodimus  # noqa: E402
import fla.layers.rwkv6  # noqa: E402
import fla.layers.rwkv7  # noqa: E402
import fla.layers.yoco  # noqa: E402
import fla.models.rwkv6.modeling_rwkv6  # noqa: E402
import fla.models.rwkv7.modeling_rwkv7  # noqa: E402
import fla.modules.feature_map  # noqa: E402
import fla.ops.moba.parallel  # noqa: E402
import fla.ops.nsa.naive  # noqa: E402
from fla.modules import mlp, norm, rotary  # noqa: E402
from fla.modules.activations import ACT2FN  # noqa: E402
from fla.modules.causal_conv1d import ShortConvolution  # noqa: E402
from fla.modules.norm import fused_norm_gate, layernorm, layernorm_gated  # noqa: E402
from fla.modules.rotary import RotaryEmbedding  # noqa: E402
from fla.modules.token_shift import token_shift_ref  # noqa: E402
from fla.ops.comba.naive import naive_chunk_comba  # noqa: E402
from fla.ops.delta_rule.naive import delta_rule_recurrence  # noqa: E402
from fla.ops.forgetting_attn.naive import naive_forgetting_attn  # noqa: E402
from fla.ops.gated_delta_rule.naive import naive_recurrent_gated_delta_rule  # noqa: E402
from fla.ops.generalized_delta_rule.dplr.naive import dplr_recurrence  # noqa: E402
from fla.ops.gla.naive import naive_recurrent_gla  # noqa: E402
from fla.ops.gsa.naive import naive_recurrent_gsa  # noqa: E402
from fla.ops.hgrn.naive import naive_recurrent_hgrn  # noqa: E402
from fla.ops.kda.gate import naive_kda_gate, naive_kda_lowerbound_gate  # noqa: E402
from fla.ops.kda.naive import naive_recurrent_kda  # noqa: E402
from fla.ops.linear_attn.naive import naive_recurrent_linear_attn  # noqa: E402
from fla.ops.log_linear_attn.naive import naive_log_linear_attn  # noqa: E402
from fla.ops.retention.naive import naive_retention  # noqa: E402
from fla.ops.rwkv6.recurrent_naive import naive_recurrent_rwkv6  # noqa: E402
from fla.ops.rwkv7.fused_addcmul import torch_addcmul_rwkv7  # noqa: E402
from fla.ops.rwkv7.fused_k_update import k_update_ref  # noqa: E402
from fla.ops.rwkv7.gate_output_correction import gate_output_correction_ref  # noqa: E402
from fla.ops.simple_gla.naive import naive_recurrent_simple_gla  # noqa: E402


def heads_first(*tensors):
    return [tensor.transpose(1, 2) for tensor in tensors]


def l2_norm(x, eps=1e-6, **unused):
    return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + eps)


# Norms.

def with_residual(forward):
    """The library's norms add a residual before and give the sum back, where they are asked to."""

    def norm(self, x, residual=None, prenorm=False, residual_in_fp32=False):
        x = x if residual is None else x + residual
        return (forward(self, x), x) if prenorm else forward(self, x)

    return norm


def affine(self, x):
    x = x if self.weight is None else x * self.weight
    return x if getattr(self, "bias", None) is None else x + self.bias


def rms(x, eps):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)


layernorm.RMSNorm.forward = with_residual(lambda self, x: affine(self, rms(x, self.eps)))
layernorm.LayerNorm.forward = with_residual(lambda self, x: affine(
    self, functional.layer_norm(x, x.shape[-1:], eps=self.eps)))


def group_norm(self, x):
    groups = x.unflatten(-1, (self.num_groups, -1))
    if self.is_rms_norm:
        return affine(self, rms(groups, self.eps).flatten(-2))
    return affine(self, functional.layer_norm(groups, groups.shape[-1:], eps=self.eps).flatten(-2))


layernorm.GroupNorm.forward = with_residual(group_norm)


def rms_gated(self, x, g, residual=None, prenorm=False, residual_in_fp32=False):
    gate = torch.sigmoid(g) if self.activation == "sigmoid" else functional.silu(g)
    return affine(self, rms(x, self.eps)) * gate


fused_norm_gate.FusedRMSNormGated.forward = rms_gated


# The library's own reference: the gate comes before or behind the norm, of groups of channels.
layernorm_gated.RMSNormGated.forward = lambda self, x, z=None: layernorm_gated.rms_norm_ref(
    x, self.weight, None, z, self.eps, self.group_size, self.norm_before_gate)


def rms_norm_linear(x, norm_weight, norm_bias, weight, bias, eps=1e-5):
    x = rms(x, eps)
    return functional.linear(x if norm_weight is None else x * norm_weight, weight, bias)


fla.layers.hgrn2.rms_norm_linear = fla.layers.gsa.rms_norm_linear = rms_norm_linear


def rms_norm_swish_gate_linear(x, gate, norm_weight, norm_bias, weight, bias, eps=1e-6):
    x = rms(x, eps)
    return functional.linear((x if norm_weight is None else x * norm_weight) * functional.silu(gate), weight, bias)


fla.layers.lightnet.rms_norm_swish_gate_linear = rms_norm_swish_gate_linear

# Activations.

ACT2FN.update(sigmoid=torch.sigmoid, logsigmoid=functional.logsigmoid, silu=functional.silu,
              swish=functional.silu, sqrelu=lambda x: functional.relu(x).square(),
              gelu=lambda x: functional.gelu(x, approximate="tanh"))
fla.layers.hgrn2.swish = fla.modules.feature_map.swish = functional.silu
fla.layers.hgrn.swiglu = lambda gate, x: functional.silu(gate) * x
fla.layers.yoco.swiglu = lambda gate, x: functional.silu(gate) * x
mlp.swiglu = lambda gate, x: functional.silu(gate) * x
mlp.SwiGLULinear.forward = lambda self, x, y, weight, bias: functional.linear(
    functional.silu(x) * y, weight, bias)

# Convolutions, shifts and rotations.


def short_convolution(x, weight, bias=None, activation=None, **unused):
    width = weight.shape[-1]
    y = functional.conv1d(functional.pad(x.transpose(1, 2), (width - 1, 0)), weight.unsqueeze(1),
                          bias, groups=x.shape[-1]).transpose(1, 2)
    return (y if activation is None else functional.silu(y)), None


ShortConvolution.forward = lambda self, x, **unused: short_convolution(
    x, self.weight.squeeze(1), self.bias, self.activation)
fla.layers.gated_deltanet.causal_conv1d = short_convolution


def token_shift(x, cu_seqlens=None, cache=None, output_cache=False, **unused):
    delta = token_shift_ref(x)
    return (delta, x[:, -1]) if output_cache else delta


for module in (fla.layers.rwkv6, fla.layers.rwkv7, fla.models.rwkv6.modeling_rwkv6,
               fla.models.rwkv7.modeling_rwkv7):
    if hasattr(module, "token_shift"):
        module.token_shift = token_shift


def rotate(self, q, k, **unused):
    exponents = torch.arange(0, self.dim, 2, dtype=torch.float32) / self.dim
    angles = torch.arange(q.shape[1], dtype=torch.float32)[:, None] / self.base ** exponents
    cos, sin = angles.cos()[:, None], angles.sin()[:, None]

    def turn(x):
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    return turn(q), turn(k)


RotaryEmbedding.forward = rotate


def rotate_pairs(self, x, **unused):
    """Neighbours turn together; the last pair turns 1 / base per position by the rule `yoco`."""
    pairs = self.dim // 2
    exponents = (torch.linspace(0, 1, pairs, dtype=torch.float32) if self.rope_inv_freq == "yoco"
                 else torch.arange(pairs, dtype=torch.float32) / pairs)
    angles = torch.arange(x.shape[1], dtype=torch.float32)[:, None] / self.base ** exponents
    cos, sin = angles.cos()[:, None], angles.sin()[:, None]
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)


fla.layers.yoco.YOCORotaryEmbedding.forward = rotate_pairs


def softmax_attention(q, k, v, causal=True, window_size=(-1, -1), **unused):
    heads, tokens = q.shape[2], q.shape[1]
    k, v = (x.repeat_interleave(heads // x.shape[2], 2) for x in (k, v))
    scores = torch.einsum("bthd,bshd->bhts", q, k) * q.shape[-1] ** -0.5
    distance = torch.arange(tokens)[:, None] - torch.arange(tokens)
    seen = distance >= 0
    if window_size[0] >= 0:
        seen &= distance <= window_size[0]
    weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
    return torch.einsum("bhts,bshd->bthd", weights, v)


fla.layers.attn.flash_attn_func = fla.layers.rodimus.flash_attn_func = softmax_attention
fla.layers.yoco.parallel_attn = lambda q, k, v, **unused: softmax_attention(q, k, v)
# Which would round queries, keys and values.
fla.layers.rodimus.autocast_to_fp16 = lambda x: x

# Attention to chosen blocks of keys: the library's choice and its merging, around attention in torch.


def attend_in_turn(q, k, v, cu_seqlens_q, cu_seqlens_k, causal):
    """Sequences [T, H, K] one behind another: what they mix, and the logs of their sums of exponentials [H, T]."""
    mixed, logs = [], []
    ends = zip(cu_seqlens_q, cu_seqlens_q[1:], cu_seqlens_k, cu_seqlens_k[1:])
    for q_begin, q_end, k_begin, k_end in ends:
        scores = torch.einsum("thd,shd->hts", q[q_begin:q_end], k[k_begin:k_end]) * q.shape[-1] ** -0.5
        if causal:
            unseen = torch.ones(scores.shape[1:], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(unseen, float("-inf"))
        logs.append(scores.logsumexp(-1))
        mixed.append(torch.einsum("hts,shd->thd", scores.softmax(-1), v[k_begin:k_end]))
    return torch.cat(mixed), torch.cat(logs, 1)


def with_logs(q, k, v, cu_seqlens_q, cu_seqlens_k, causal, **unused):
    return (*attend_in_turn(q, k, v, cu_seqlens_q, cu_seqlens_k, causal), None, None)


def without_logs(q, k, v, cu_seqlens_q, cu_seqlens_k, *lengths, causal):
    return attend_in_turn(q, k, v, cu_seqlens_q, cu_seqlens_k, causal)[0]


fla.ops.moba.parallel._flash_attn_varlen_forward = with_logs
fla.ops.moba.parallel.flash_attn_varlen_func = without_logs
choose_for_each_head = fla.ops.moba.parallel.parallel_moba


def moba(q, k, v, **more):
    """The library's function takes as many heads of keys as of queries; shared ones are repeated."""
    k, v = (x.repeat_interleave(q.shape[2] // x.shape[2], 2) for x in (k, v))
    return choose_for_each_head(q, k, v, **more)


fla.layers.moba.parallel_moba = moba


def mean_pooling(x, size, cu_seqlens=None):
    return torch.stack([part.mean(1) for part in x.split(size, 1)], 1)


fla.ops.nsa.naive.mean_pooling = mean_pooling
fla.ops.nsa.naive.flash_attn_func = softmax_attention
fla.layers.nsa.parallel_nsa = fla.ops.nsa.naive.naive_nsa

# Recurrences.


def gla(q, k, v, gk, **unused):
    return naive_recurrent_gla(q, k, v, gk)


fla.layers.gla.fused_recurrent_gla = fla.layers.hgrn2.fused_recurrent_gla = gla


def lightnet(q, k, v, initial_state=None, **unused):
    """The library's kernel makes gates and keys in one pass; its documentation says that they follow from the
    cumulative log of the sum of exponentials."""
    z = k.logcumsumexp(1)
    before = torch.cat([z[:, :1], z[:, :-1]], 1)
    o, state = naive_recurrent_gla(q, torch.exp(k - z), v, before - z)
    return o, (state, z[:, -1:])


fla.layers.lightnet.fused_recurrent_lightnet = lightnet


def rodimus_gla(q, k, v, g, **unused):
    return naive_recurrent_gla(q, k, v, g)


fla.layers.rodimus.chunk_gla = rodimus_gla
fla.layers.rodimus.fused_recurrent_gla = gla


def hgrn(x, g, **unused):
    return naive_recurrent_hgrn(x, g)


fla.layers.hgrn.fused_recurrent_hgrn = hgrn


def linear_attention(q, k, v, normalize=False, **unused):
    return naive_recurrent_linear_attn(q, k, v, normalize=normalize)


fla.layers.linear_attn.fused_recurrent_linear_attn = linear_attention


def retention(q, k, v, **unused):
    return naive_retention(*heads_first(q, k, v)).transpose(1, 2), None


fla.layers.multiscale_retention.fused_recurrent_retention = retention


def gated_retention(q, k, v, g, **unused):
    return naive_recurrent_simple_gla(q, k, v, g)


fla.layers.yoco.fused_recurrent_simple_gla = gated_retention


def delta_rule(q, k, v, beta, use_qk_l2norm_in_kernel, **unused):
    if use_qk_l2norm_in_kernel:
        q, k = l2_norm(q), l2_norm(k)
    o, _ = delta_rule_recurrence(*heads_first(q, k, v, beta))
    return o.transpose(1, 2), None


fla.layers.delta_net.fused_recurrent_delta_rule = delta_rule


def gated_delta_rule(q, k, v, g, beta, A_log, dt_bias, allow_neg_eigval, **unused):
    groups = v.shape[2] // q.shape[2]
    q, k = (l2_norm(x).repeat_interleave(groups, 2) for x in (q, k))
    decay = -A_log.exp() * functional.softplus(g + dt_bias)
    rate = torch.sigmoid(beta) * (2 if allow_neg_eigval else 1)
    return naive_recurrent_gated_delta_rule(q, k, v, rate, decay)


fla.layers.gated_deltanet.fused_recurrent_gated_delta_rule = gated_delta_rule


def delta_product(q, k, v, g, beta, **unused):
    """The layer gives each correction a token of its own."""
    return naive_recurrent_gated_delta_rule(l2_norm(q), l2_norm(k), v, beta, torch.zeros_like(beta) if g is None else g)


fla.layers.gated_deltaproduct.fused_recurrent_gated_delta_rule = delta_product


def kda(q, k, v, g, beta, A_log, dt_bias, allow_neg_eigval, lower_bound, **unused):
    if lower_bound is None:
        decay = naive_kda_gate(g, A_log, dt_bias, output_dtype=torch.float32)
    else:
        decay = naive_kda_lowerbound_gate(g, A_log, dt_bias, lower_bound, output_dtype=torch.float32)
    rate = torch.sigmoid(beta) * (2 if allow_neg_eigval else 1)
    return naive_recurrent_kda(l2_norm(q), l2_norm(k), v, decay, rate)


fla.layers.kda.fused_recurrent_kda = kda


def with_window(forward):
    """The layer of a configuration with a window drops it from prompts and keeps it in steps; here both have it."""

    def windowed(self, *given, **named):
        fla.layers.forgetting_attn.parallel_forgetting_attn = lambda q, k, v, f, **unused: naive_forgetting_attn(
            q, k, v, f, window_size=self.window_size)
        return forward(self, *given, **named)

    return windowed


fla.layers.forgetting_attn.ForgettingAttention.forward = with_window(
    fla.layers.forgetting_attn.ForgettingAttention.forward)


def comba(q, k, v, p, g, beta, **unused):
    """The library's kernels correct by what was kept before the decay, and so does its naive function in
    chunks; the naive one of a token at a time decays first."""
    groups = v.shape[2] // q.shape[2]
    q, k, p = (l2_norm(x).repeat_interleave(groups, 2) for x in (q, k, p))
    return naive_chunk_comba(q, k, v, p, g, beta, chunk_size=8)


fla.layers.comba.fused_recurrent_comba = comba


def slot_attention(q, k, v, s, g, scale, **unused):
    return naive_recurrent_gsa(q, k, v, s, g, scale)


fla.layers.gsa.fused_recurrent_gsa = slot_attention


def rwkv6(r, k, v, w, u, scale, **unused):
    o, _ = naive_recurrent_rwkv6(*heads_first(r, k, v, w), u, scale=scale)
    return o.transpose(1, 2), None


fla.layers.rwkv6.fused_recurrent_rwkv6 = rwkv6


def rwkv7(r, w, k, v, kk, a, scale, **unused):
    # The naive function scales its queries by K^-0.5.
    q = r * (scale * r.shape[-1] ** 0.5)
    o, _ = dplr_recurrence(*heads_first(q, k, v, -kk, kk * a, w))
    return o.transpose(1, 2), None


fla.layers.rwkv7.fused_mul_recurrent_rwkv7 = rwkv7
fla.layers.rwkv7.fused_addcmul_rwkv7 = torch_addcmul_rwkv7
fla.layers.rwkv7.fused_k_rwkv7 = k_update_ref
fla.layers.rwkv7.gate_output_correction = gate_output_correction_ref
fla.layers.rwkv7.l2_norm = l2_norm



def log_linear_attention(q, k, v, g, level_scales, scale, **unused):
    return naive_log_linear_attn(q, k, v, g, level_scales, scale), None


def convolve_channels(x, weight, bias=None, activation=None, **unused):
    return short_convolution(x.transpose(1, 2), weight, bias, activation)[0].transpose(1, 2)


def in_kernels(self, hidden_states, attention_mask=None, past_key_values=None, use_cache=False, **unused):
    """The layer refuses a CPU; what it calls has bodies here."""
    return self.cuda_kernels_forward(hidden_states)[0], None, None


fla.layers.log_linear_mamba2.chunk_log_linear_attn = log_linear_attention
fla.layers.log_linear_mamba2.causal_conv1d_fn = convolve_channels
fla.layers.log_linear_mamba2.LogLinearMamba2.forward = in_kernels

__all__ = ["fla", "nn", "norm", "rotary"]


def with_neighbours():
    """Mamba-2 of several groups: the fallback without kernels gives a group's keys to every so many heads of a
    whole sequence; the library's kernels, with which models are trained, and its own step give them to neighbours."""
    layer = fla.layers.mamba2.Mamba2
    source = textwrap.dedent(inspect.getsource(layer.torch_forward))
    for name in "BC":
        tiled = f"{name}.repeat(1, 1, self.num_heads // self.n_groups, 1)"
        assert source.count(tiled) == 1, "the library's fallback has changed"
        source = source.replace(tiled, f"{name}.repeat_interleave(self.num_heads // self.n_groups, 2)")
    space = dict(vars(fla.layers.mamba2))
    exec(source, space)
    layer.torch_forward = space["torch_forward"]


with_neighbours()
