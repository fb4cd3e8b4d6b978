#!/usr/bin/env python3
"""Trains the sample checkpoint of `test/goldens/sample/`: a small Mamba-2 with its own tokenizer.

The text is the King James Bible, printed by the program of the Debian package `bible-kjv`
(with `bible-kjv-text`); the translation is of 1611 and in the public domain, and it is not
committed. A verse is a line, a chapter ends with an empty line, a book with <|endoftext|>.

The model is written here in its quadratic form: a mixer is one masked product over the whole
of a short sequence,

    Y = ((C B^T) o L) (dt x) + D x,    L[i, j] = exp(sum of dt_k A over j < k <= i),  j <= i

which needs no scan and no library kernel. Its parameters carry the names of the library's
Mamba2ForCausalLM, so that one `load_state_dict` moves the result there; the library then
writes the checkpoint. The logits of the two are compared before and after the training.

Stages, each started by its own flag, all by default:

    --tokenizer   byte-level BPE, written to OUT/tokenizer.json
    --train       the training loop; publishes OUT every --publish-minutes
    --expected    the greedy continuation and its logit gaps, written to OUT/expected.json
"""

import argparse
import json
import math
import re
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import nn

END_OF_TEXT = "<|endoftext|>"
SEED = 20240607

# The prompt of expected.json: of about a hundred tried on the committed weights, the one whose
# greedy continuation does not repeat itself and has the widest gaps between the best two logits.
PROMPT = "The LORD that made heaven"

# The configuration of the sample, in the library's keys. The ids are those of END_OF_TEXT.
CONFIG = {
    "vocab_size": 2048,
    "hidden_size": 256,
    "num_hidden_layers": 6,
    "expand": 2,
    "num_heads": 8,
    "head_dim": 64,
    "state_size": 64,
    "n_groups": 1,
    "conv_kernel": 4,
    "chunk_size": 64,
    "use_bias": False,
    "use_conv_bias": True,
    "tie_word_embeddings": True,
    "layer_norm_epsilon": 1e-5,
    "time_step_limit": (0.0, float("inf")),
    "bos_token_id": 0,
    "eos_token_id": 0,
    "pad_token_id": 0,
}


def read_chapters():
    """The text as a list of (book, chapter text), printed by the `bible` program."""
    if shutil.which("bible") is None:
        raise SystemExit("expects the program 'bible': apt-get install bible-kjv bible-kjv-text")
    printed = subprocess.run(
        ["bible", "-f", "gen1:1-rev22:21"], check=True, capture_output=True, text=True
    ).stdout
    chapters, current = [], None
    for line in printed.splitlines():
        found = re.fullmatch(r"([1-3]?[A-Za-z]+)(\d+):(\d+) (.*)", line)
        if found is None:
            raise SystemExit(f"expects 'Book1:1 text', but got {line!r}")
        book, chapter, _, verse = found.groups()
        if current != (book, chapter):
            current = (book, chapter)
            chapters.append((book, []))
        chapters[-1][1].append(verse.strip())
    return [(book, "\n".join(verses) + "\n\n") for book, verses in chapters]


def train_tokenizer(chapters, path):
    """A byte-level BPE with the GPT-2 split; END_OF_TEXT is id 0, the 256 bytes come next."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        [text for _, text in chapters],
        trainers.BpeTrainer(
            vocab_size=CONFIG["vocab_size"],
            special_tokens=[AddedToken(END_OF_TEXT, special=True, normalized=False)],
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        ),
    )
    assert tokenizer.get_vocab_size() == CONFIG["vocab_size"]
    assert tokenizer.token_to_id(END_OF_TEXT) == 0
    tokenizer.save(str(path))


def encode_text(chapters, tokenizer, holdout):
    """Token ids of the training text and of the held-out chapters (every holdout-th one)."""
    parts = {False: [0], True: [0]}
    last_book = {False: None, True: None}
    for index, (book, text) in enumerate(chapters):
        held = index % holdout == holdout - 1
        if last_book[held] not in (None, book):
            parts[held].append(0)
        last_book[held] = book
        parts[held].extend(tokenizer.encode(text).ids)
    return torch.tensor(parts[False]), torch.tensor(parts[True])


class RootMeanSquareNorm(nn.Module):
    """weight * x / sqrt(mean(x^2) + eps), in f32."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        x = x.float()
        return self.weight * (x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5))


class Mixer(nn.Module):
    """One Mamba-2 mixer in its quadratic form; the parameters are named as the library's."""

    def __init__(self):
        super().__init__()
        width, heads, state = CONFIG["hidden_size"], CONFIG["num_heads"], CONFIG["state_size"]
        self.heads, self.state, self.inner = heads, state, heads * CONFIG["head_dim"]
        channels = self.inner + 2 * state
        self.in_proj = nn.Linear(width, self.inner + channels + heads, bias=False)
        self.conv1d = nn.Conv1d(channels, channels, CONFIG["conv_kernel"], groups=channels)
        step = torch.exp(torch.empty(heads).uniform_(math.log(1e-3), math.log(1e-1)))
        self.dt_bias = nn.Parameter(step + torch.log(-torch.expm1(-step)))  # softplus inverse
        self.A_log = nn.Parameter(torch.empty(heads).uniform_(1, 16).log())
        self.D = nn.Parameter(torch.ones(heads))
        self.norm = RootMeanSquareNorm(self.inner)
        self.out_proj = nn.Linear(self.inner, width, bias=False)
        with torch.no_grad():
            self.out_proj.weight /= math.sqrt(CONFIG["num_hidden_layers"])
            self.conv1d.bias.zero_()

    def convolve(self, x):
        """Causal depthwise convolution as one shifted product per tap; x is [b, T, channels]."""
        taps = self.conv1d.weight[:, 0].t()
        padded = F.pad(x, (0, 0, len(taps) - 1, 0))
        out = self.conv1d.bias + sum(
            padded[:, i : i + x.shape[1]] * tap for i, tap in enumerate(taps.to(x.dtype))
        )
        return F.silu(out)

    def forward(self, u):
        batch, length, _ = u.shape
        z, xbc, dt = self.in_proj(u).split(
            [self.inner, self.inner + 2 * self.state, self.heads], dim=-1
        )
        x, b, c = self.convolve(xbc).split([self.inner, self.state, self.state], dim=-1)
        dt = F.softplus(dt.float() + self.dt_bias)                        # [b, T, H]
        # Over 128 tokens the difference of two running sums keeps five digits; longer
        # sequences would need the sums taken per segment.
        total = (dt * -self.A_log.exp()).cumsum(1).transpose(1, 2)        # [b, H, T]
        decay = total[..., :, None] - total[..., None, :]                 # [b, H, T, T]
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        decay = decay.masked_fill(later, -math.inf).exp()
        heads = x.view(batch, length, self.heads, -1)
        scaled = (heads * dt[..., None].to(x.dtype)).transpose(1, 2)      # [b, H, T, P]
        scores = (c @ b.transpose(1, 2))[:, None] * decay.to(c.dtype)
        y = (scores.to(scaled.dtype) @ scaled).transpose(1, 2) + heads * self.D[:, None].to(x.dtype)
        y = y.reshape(batch, length, self.inner)
        return self.out_proj(self.norm(y * F.silu(z)))


class Block(nn.Module):
    """x + mixer(norm(x)), with the residual in f32."""

    def __init__(self):
        super().__init__()
        self.norm = RootMeanSquareNorm(CONFIG["hidden_size"])
        self.mixer = Mixer()

    def forward(self, x, dropout):
        out = self.mixer(self.norm(x)).float()
        return x + F.dropout(out, dropout, self.training)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = nn.Embedding(CONFIG["vocab_size"], CONFIG["hidden_size"])
        self.layers = nn.ModuleList([Block() for _ in range(CONFIG["num_hidden_layers"])])
        self.norm_f = RootMeanSquareNorm(CONFIG["hidden_size"])
        nn.init.normal_(self.embeddings.weight, std=0.05)


class Model(nn.Module):
    """The language model; the head is the embedding."""

    def __init__(self):
        super().__init__()
        self.backbone = Backbone()

    def forward(self, ids, dropout=0.0):
        table = self.backbone.embeddings.weight
        x = F.dropout(F.embedding(ids, table), dropout, self.training)
        for layer in self.backbone.layers:
            x = layer(x, dropout)
        return F.linear(self.backbone.norm_f(x), table)


def mixed_precision(enabled):
    """bf16 for the matrix products, f32 for what torch's autocast keeps there."""
    return torch.autocast("cpu", torch.bfloat16, enabled=enabled)


def sequence_batch(ids, batch, length, generator):
    """`batch` windows of length + 1 tokens at random places."""
    starts = torch.randint(len(ids) - length, (batch,), generator=generator)
    return ids[starts[:, None] + torch.arange(length + 1)]


def loss_of(model, window, bf16, dropout=0.0):
    with mixed_precision(bf16):
        logits = model(window[:, :-1], dropout)
    return F.cross_entropy(logits.float().flatten(0, 1), window[:, 1:].flatten())


@torch.no_grad()
def held_out_loss(model, ids, length):
    """Mean loss in f32 over the held-out text, cut in sequences of `length`."""
    model.eval()
    count = (len(ids) - 1) // length
    windows = torch.stack([ids[i * length : i * length + length + 1] for i in range(count)])
    losses = [loss_of(model, part, False) * len(part) for part in windows.split(16)]
    model.train()
    return float(sum(losses) / count)


def learning_rate(step, args):
    """Linear warm-up, then a cosine down to 2 % of the peak."""
    if step < args.warmup:
        return args.rate * (step + 1) / args.warmup
    done = (step - args.warmup) / max(1, args.steps - args.warmup)
    return args.rate * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * done)))


def library_model(state):
    """The library's model with these weights, in f32."""
    from transformers import Mamba2Config, Mamba2ForCausalLM

    model = Mamba2ForCausalLM(Mamba2Config(**CONFIG))
    missing = model.load_state_dict(state, strict=False)
    assert missing.missing_keys == ["lm_head.weight"] and not missing.unexpected_keys
    model.tie_weights()
    return model.eval()


def publish(model, out):
    """Writes the checkpoint in bf16, each file under another name first, then renamed."""
    library = library_model(model.state_dict()).to(torch.bfloat16)
    library.config.use_cache = True
    partial = out / "partial"
    library.save_pretrained(partial)
    for path in partial.iterdir():
        path.chmod(0o644)
        path.rename(out / path.name)
    partial.rmdir()


def check_library(model, ids):
    """The quadratic form of this file and the library's chunked form must agree in f32."""
    model.eval()
    library = library_model(model.state_dict())
    window = ids[None, :100]
    with torch.no_grad():
        ours, theirs = model(window), library(window, use_cache=False).logits
    model.train()
    error = float((ours - theirs).norm() / theirs.norm())
    print(f"quadratic form against the library, f32, relative L2: {error:.2e}", flush=True)
    assert error < 1e-4


def train(args, chapters, tokenizer):
    torch.manual_seed(SEED)
    generator = torch.Generator().manual_seed(SEED)
    train_ids, held_ids = encode_text(chapters, tokenizer, args.holdout)
    model = Model()
    check_library(model, held_ids)
    print(
        f"{sum(p.numel() for p in model.parameters())} parameters, "
        f"{len(train_ids)} training tokens, {len(held_ids)} held out, "
        f"{args.steps * args.batch * args.length / len(train_ids):.1f} epochs", flush=True,
    )
    decayed = [p for p in model.parameters() if p.dim() == 2]
    others = [p for p in model.parameters() if p.dim() != 2]
    optimizer = torch.optim.AdamW(
        [
            {"params": decayed, "weight_decay": args.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ],
        lr=args.rate, betas=(0.9, 0.98), eps=1e-9,
    )
    training_loss = torch.compile(loss_of) if args.compile else loss_of
    start = published = time.time()
    smooth = None
    for step in range(args.steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, args)
        window = sequence_batch(train_ids, args.batch, args.length, generator)
        loss = training_loss(model, window, args.bf16, args.dropout)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        value = float(loss.detach())
        smooth = value if smooth is None else 0.98 * smooth + 0.02 * value
        now = time.time()
        if step % 50 == 0:
            print(f"step {step} loss {smooth:.3f} seconds {now - start:.0f}", flush=True)
        if now - published > 60 * args.publish_minutes or step == args.steps - 1:
            published = now
            held = held_out_loss(model, held_ids, args.length)
            minutes = (now - start) / 60
            print(f"step {step} held-out loss {held:.3f} minutes {minutes:.1f}", flush=True)
            publish(model, args.out)
            print_samples(args.out, tokenizer)
    check_library(model, held_ids)


def load_rounded(out):
    """The published checkpoint: bf16 weights, computed in f32."""
    from transformers import Mamba2ForCausalLM

    return Mamba2ForCausalLM.from_pretrained(out, dtype=torch.float32).eval()


@torch.no_grad()
def continue_greedily(model, ids, count):
    """`count` further tokens, each by a whole forward pass (no cache); the lowest id wins a tie."""
    ids = list(ids)
    for _ in range(count):
        logits = model(torch.tensor([ids]), use_cache=False).logits[0, -1]
        ids.append(int(logits.argmax()))
    return ids


@torch.no_grad()
def print_samples(out, tokenizer):
    model = load_rounded(out)
    torch.manual_seed(1)
    for prompt in ("In the beginning God created", "And Jesus said unto them,", "The king of"):
        ids = tokenizer.encode(prompt).ids
        for _ in range(60):
            logits = model(torch.tensor([ids]), use_cache=False).logits[0, -1]
            best, index = (logits / 0.7).topk(40)
            ids.append(int(index[torch.multinomial(best.softmax(0), 1)]))
        print(f"sample: {tokenizer.decode(ids)!r}", flush=True)


def write_expected(out, tokenizer, count):
    """The greedy continuation of PROMPT, with the f64 gaps that say how safe each choice is."""
    from mamba2_float64 import Mamba2Float64

    prompt = tokenizer.encode(PROMPT).ids
    ids = continue_greedily(load_rounded(out), prompt, count)
    logits = Mamba2Float64.load(out).logits(ids[:-1])[len(prompt) - 1 :]
    ordered = np.sort(logits, axis=-1)
    gaps = ordered[:, -1] - ordered[:, -2]
    assert logits.argmax(-1).tolist() == ids[len(prompt) :], "f32 and f64 choose different tokens"
    print(f"continuation: {tokenizer.decode(ids)!r}\nsmallest gap {gaps.min():.4f}", flush=True)
    expected = {
        "prompt": PROMPT,
        "prompt_ids": prompt,
        "continuation_ids": ids[len(prompt) :],
        "continuation": tokenizer.decode(ids[len(prompt) :]),
        "top1_logits_f64": ordered[:, -1].tolist(),
        "top2_logits_f64": ordered[:, -2].tolist(),
        "gaps_f64": gaps.tolist(),
        "smallest_gap_f64": float(gaps.min()),
    }
    (out / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    here = Path(__file__).resolve().parent
    only = "only this stage, or those named"
    parser.add_argument("--out", type=Path, default=here / "sample", help="the checkpoint's folder")
    parser.add_argument("--tokenizer", action="store_true", help=only)
    parser.add_argument("--train", action="store_true", help=only)
    parser.add_argument("--expected", action="store_true", help=only)
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--batch", type=int, default=16, help="sequences of a step")
    parser.add_argument("--length", type=int, default=128, help="tokens of a sequence")
    parser.add_argument("--rate", type=float, default=2.5e-3, help="peak learning rate")
    parser.add_argument("--warmup", type=int, default=300, help="steps")
    parser.add_argument("--weight-decay", type=float, default=0.1)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--holdout", type=int, default=40, help="every n-th chapter is held out")
    parser.add_argument("--no-bf16", dest="bf16", action="store_false", help="train in f32")
    parser.add_argument("--no-compile", dest="compile", action="store_false", help="train eagerly")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--publish-minutes", type=float, default=8)
    parser.add_argument("--continuation", type=int, default=48, help="tokens of expected.json")
    args = parser.parse_args()
    if not (args.tokenizer or args.train or args.expected):
        args.tokenizer = args.train = args.expected = True
    return args


def main():
    args = parse_arguments()
    torch.set_num_threads(args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    chapters = read_chapters()
    if args.tokenizer:
        train_tokenizer(chapters, args.out / "tokenizer.json")
        print("wrote tokenizer.json", flush=True)
    tokenizer = Tokenizer.from_file(str(args.out / "tokenizer.json"))
    if args.train:
        train(args, chapters, tokenizer)
    if args.expected:
        write_expected(args.out, tokenizer, args.continuation)


if __name__ == "__main__":
    main()
