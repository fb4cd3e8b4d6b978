"""The explicit layout's parts that are no recurrences, one function each.

`view(name, *shape)` is a parameter, `config` the part's object, `x` [T, D] the normalised tokens.
"""

import math

import torch
from torch.nn import functional

ACTIVATIONS = {
    "identity": lambda x: x,
    "silu": functional.silu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "relu": functional.relu,
    "squared_relu": lambda x: functional.relu(x).square(),
    "sigmoid": torch.sigmoid,
    "exp": torch.exp,
    "softplus": functional.softplus,
    "tanh": torch.tanh,
    "elu_plus_one": lambda x: functional.elu(x) + 1,
}


def linear(view, name, x, rows, bias=False):
    y = x @ view(f"{name}.weight", rows, x.shape[-1]).T
    return y + view(f"{name}.bias", rows) if bias else y


def norm(view, name, x, config, groups=1):
    if config is None:
        return x
    kind, eps = config.get("kind", "rms"), config.get("eps", 1e-5)
    width = x.shape[-1]
    y = x.unflatten(-1, (groups, width // groups))
    if kind == "layer":
        y = y - y.mean(-1, keepdim=True)
    y = (y / torch.sqrt(y.square().mean(-1, keepdim=True) + eps)).flatten(-2)
    if kind == "rms_unscaled":
        return y
    weight = view(f"{name}.weight", width)
    y = y * (1 + weight if kind == "rms_plus_one" else weight)
    if kind == "layer" and config.get("bias", True):
        y = y + view(f"{name}.bias", width)
    return y


def rotate(x, theta, interleaved=False):
    """x [T, H, K], turned by its position."""
    tokens, keys = x.shape[0], x.shape[-1]
    angles = (torch.arange(tokens, dtype=x.dtype)[:, None]
              * theta ** (-torch.arange(0, keys, 2, dtype=x.dtype) / keys))[:, None]
    if interleaved:
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * angles.cos() - b * angles.sin(),
                            b * angles.cos() + a * angles.sin()], -1).flatten(-2)
    a, b = x.chunk(2, -1)
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)


def positions(view, config, x):
    if config is None:
        return x
    if config["kind"] == "rotary":
        return rotate(x, config["rope_theta"], config.get("interleaved", False))
    angles = torch.arange(x.shape[0], dtype=x.dtype)[:, None, None] * view("theta", *x.shape[1:])
    return torch.cat([x * angles.cos(), x * angles.sin()], -1)


def attention(view, config, x):
    tokens, heads, keys = len(x), config["heads"], config["keys"]
    key_heads = config.get("key_heads", heads)
    value_heads, values = config.get("value_heads", key_heads), config.get("values", keys)
    bias = config.get("bias", False)
    q = linear(view, "q", x, heads * keys, bias).unflatten(-1, (heads, keys))
    k = linear(view, "k", x, key_heads * keys, bias).unflatten(-1, (key_heads, keys))
    v = linear(view, "v", x, value_heads * values, bias).unflatten(-1, (value_heads, values))
    q, k = (positions(view, config.get("positions"), each) for each in (q, k))
    flat = v.flatten(-2)
    k, v = (each.repeat_interleave(heads // each.shape[1], 1) for each in (k, v))
    scores = torch.einsum("thk,shk->hts", q, k) * config.get("scale", keys ** -0.5)
    distance = torch.arange(tokens)[:, None] - torch.arange(tokens)
    seen = (distance >= 0).expand(heads, tokens, tokens).clone()
    if config.get("window"):
        seen &= distance < config["window"]
    mask = config.get("mask")
    if mask:
        count = mask.get("heads", heads)
        delta = torch.exp(view("a", count) * functional.softplus(linear(view, "dt", flat, count)))
        d = delta.T.repeat_interleave(heads // count, 0)[:, None]
        if mask["kind"] == "bias":
            scores = scores + d
        elif mask["kind"] == "scale":
            scores = scores * d
        else:
            seen &= d >= 1
        if mask.get("keep"):
            visible = d.expand_as(scores).masked_fill(~seen, -math.inf)
            order = visible.argsort(dim=-1, descending=True, stable=True)
            rank = order.argsort(dim=-1)
            seen &= rank < mask["keep"]
    weights = scores.masked_fill(~seen, -math.inf).softmax(-1).nan_to_num(0.0)  # none in sight: 0
    y = torch.einsum("hts,shv->thv", weights, v).flatten(-2)
    return linear(view, "o", y, x.shape[-1], config.get("output_bias", False))


def mlp(view, config, x, prefix="", gated=False):
    act, bias = ACTIVATIONS[config.get("activation", "silu")], config.get("bias", False)
    up = linear(view, prefix + "up", x, config["hidden"], bias)
    if gated:
        up = act(linear(view, prefix + "gate", x, config["hidden"], bias)) * up
    else:
        up = act(up)
    return linear(view, prefix + "down", up, x.shape[-1], bias)


def glu(view, config, x, prefix=""):
    return mlp(view, config, x, prefix, gated=True)


def experts(view, config, x):
    logits = linear(view, "router", x, config["experts"])
    chosen = logits.topk(config["taken"], -1).indices
    every = logits.softmax(-1)
    weights = torch.zeros_like(logits).scatter(-1, chosen, every.gather(-1, chosen))
    if config.get("normalised", True):
        weights = weights / weights.sum(-1, keepdim=True)
    y = sum(weights[:, [e]] * glu(view, config, x, f"experts.{e}.") for e in range(config["experts"]))
    return y + glu(view, config["shared"], x, "shared.") if "shared" in config else y


def product_keys(view, config, x, half_first):
    """For each head the `taken` best of all pairs of keys: their scores and numbers."""
    heads, keys, side = config["heads"], config["keys"], math.isqrt(config["experts"])
    query = linear(view, "q", x, 2 * heads * keys, config.get("query_bias", False))
    if half_first:
        query = query.unflatten(-1, (2, heads, keys))
        table = view("k", heads * side, 2 * keys).view(heads, side, 2, keys)
        scores = torch.einsum("tphc,hnpc->tphn", query, table)
    else:
        query = query.unflatten(-1, (heads, 2, keys))
        table = view("k", heads * 2 * side, keys).view(heads, 2, side, keys)
        scores = torch.einsum("thpc,hpnc->tphn", query, table)
    pairs = (scores[:, 0, :, :, None] + scores[:, 1, :, None, :]).flatten(-2)
    best = pairs.topk(config["taken"], -1)
    weights = {"softmax": lambda s: s.softmax(-1), "relu": functional.relu,
               "score": lambda s: s, "sigmoid": torch.sigmoid}[config.get("weighting", "softmax")]
    return weights(best.values), best.indices


def pkm(view, config, x):
    weights, rows = product_keys(view, config, x, half_first=False)
    return torch.einsum("thk,thkd->td", weights, view("v", config["experts"], x.shape[-1])[rows])


def neurons(view, config, x):
    """PEER and CDMoE: experts of one hidden unit, and a dense layer beside them."""
    weights, rows = product_keys(view, config, x, half_first=True)
    down = view("experts.down", config["experts"], x.shape[-1])[rows]
    up = view("experts.up", config["experts"], x.shape[-1])[rows]
    act = ACTIVATIONS[config.get("activation", "gelu")]
    hidden = torch.einsum("td,thkd->thk", x, down)
    hidden = act(weights * hidden) if config.get("weight_inside") else act(hidden) * weights
    y = torch.einsum("thk,thkd->td", hidden, up)
    shared = config.get("shared")
    return y + mlp(view, shared, x, "shared.", shared.get("gated", True)) if shared else y


def srm(view, config, x):
    """The matrix of every head, written out: y_j = sum_i x_i M_ij + b_j."""
    tokens, width = x.shape
    limit = view.config["max_position_embeddings"]
    heads, kernel = config.get("heads", 1), config.get("kernel", 1)
    root = max(limit // (256 if kernel > 1 else 512), 1)
    kind = config.get("repeat_kind", "mixed")
    if config.get("projections", True):
        x = linear(view, "x", x, width, True)
    distance = torch.arange(tokens) - torch.arange(tokens)[:, None]  # [i, j] = j - i

    def decays(prefix, count):
        if not config.get("decay", True):
            return torch.ones(count, dtype=x.dtype)
        return view(prefix + "decay", count).clamp(0.9, 1) ** (1 / root)

    def run(prefix, x, count, row, has_bias):
        x = x.unflatten(-1, (count, -1))
        w = view(prefix + "w", count, limit)[:, :tokens]
        matrix = decays(prefix, count)[:, None, None] ** distance.clamp(min=0)
        matrix = matrix * (w[:, :, None] if row else w[:, None, :])
        if config.get("diagonal"):
            own = view(prefix + "diagonal", count, limit)[:, :tokens]
            matrix = torch.where(distance == 0, own[:, None, :], matrix)
        y = torch.einsum("hij,ihe->jhe", matrix * (distance >= 0), x)
        if has_bias:
            y = y + view(prefix + "b", count, limit)[:, :tokens].T[..., None]
        return y.flatten(-2)

    if kernel > 1:
        matrix = decays("", 1) ** distance.clamp(min=0) * (distance >= 0)
        sums = torch.einsum("ij,ie->je", matrix, x)
        w, b = view("w", kernel, limit)[:, :tokens], view("b", 1, limit)[0, :tokens]
        y = b[:, None].expand(tokens, width)
        for m in range(kernel):
            shift = m - (kernel - 1)  # only channels below take part
            y = y + w[m][:, None] * functional.pad(sums, (-shift, 0))[:, :width]
    elif kind == "mixed":
        columns, rows = x.chunk(2, -1)
        y = torch.cat([run("column.", columns, heads // 2, False, True),
                       run("row.", rows, heads // 2, True, True)], -1)
    elif kind == "combined":
        y = run("row.", x, heads, True, False) + run("column.", x, heads, False, True)
    else:
        y = run("", x, heads, kind == "row", True)
    return linear(view, "o", y, width, True) if config.get("projections", True) else y


def masked_mixer(view, config, x):
    """A convolution with tokens as channels, whose weights look back alone."""
    limit, kernel = view.config["max_position_embeddings"], config.get("kernel", 1)

    def mix(name, x):
        shape = (limit, limit) if kernel == 1 else (limit, limit, kernel)
        weight = view(f"{name}.weight", *shape).view(limit, limit, kernel)
        weight = (weight * torch.ones(limit, limit, dtype=x.dtype).tril()[..., None])
        padded = functional.pad(x, (0, 0, 0, limit - len(x)))
        y = functional.conv1d(padded[None], weight, view(f"{name}.bias", limit), padding="same")
        return y[0, :len(x)]

    if not config.get("expanded"):
        return mix("mixer", x)
    return mix("mixer.2", functional.gelu(mix("mixer.0", x)))


PARTS = {"attention": attention, "mlp": mlp, "glu": glu, "experts": experts, "pkm": pkm,
         "peer": neurons, "cdmoe": neurons, "srm": srm, "masked_mixer": masked_mixer}
