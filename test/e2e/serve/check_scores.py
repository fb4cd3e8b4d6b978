#!/usr/bin/env python3
"""Compares the scores that lm-eval got from a server with a model of this script's own.

    HF_HUB_OFFLINE=1 lm_eval --model local-completions --batch_size 4 --tasks effc_mc,effc_gen \\
        --include_path tasks --log_samples -o OUT --model_args \\
        base_url=http://127.0.0.1:PORT/v1/completions,model=NAME,num_concurrent=4,tokenizer_backend=remote
    python check_scores.py --samples OUT --gguf MODEL.gguf --url http://127.0.0.1:PORT

The model is Llama's as its paper has it, in double precision over the weights of the GGUF file as
the package gguf reads them, so nothing of effc computes here but the cutting into tokens. Each
log-probability has to be within 1e-3, and each choice greedy in both or in neither.
"""
import argparse
import json
import pathlib
import sys
import urllib.request

import gguf
import numpy as np


class Llama:
    def __init__(self, path):
        reader = gguf.GGUFReader(path)
        field = lambda name: reader.fields["llama." + name].contents()
        self.heads, self.kv = field("attention.head_count"), field("attention.head_count_kv")
        self.eps, self.base = field("attention.layer_norm_rms_epsilon"), field("rope.freq_base")
        self.layers = field("block_count")
        self.weights = {t.name: gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float64)
                        for t in reader.tensors}
        self.head = self.weights.get("output.weight", self.weights["token_embd.weight"])

    def norm(self, x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.eps) * self.weights[name]

    def rotate(self, x):
        """Pairs of neighbours, which is how GGUF files of this architecture lie."""
        tokens, _, width = x.shape
        angle = np.arange(tokens)[:, None] * self.base ** (-np.arange(0, width, 2) / width)
        cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
        out = np.empty_like(x)
        out[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., ::2] * sin + x[..., 1::2] * cos
        return out

    def layer(self, x, prefix):
        weight = lambda name: self.weights[prefix + name + ".weight"].T
        tokens, width = x.shape
        normed = self.norm(x, prefix + "attn_norm.weight")
        q = self.rotate((normed @ weight("attn_q")).reshape(tokens, self.heads, -1))
        k = self.rotate((normed @ weight("attn_k")).reshape(tokens, self.kv, -1))
        v = (normed @ weight("attn_v")).reshape(tokens, self.kv, -1)
        k, v = (np.repeat(each, self.heads // self.kv, axis=1) for each in (k, v))
        scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(q.shape[-1])
        scores = np.where(np.tril(np.ones((tokens, tokens), bool)), scores, -np.inf)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        x = x + np.einsum("hqk,khd->qhd", scores, v).reshape(tokens, width) @ weight("attn_output")
        normed = self.norm(x, prefix + "ffn_norm.weight")
        gate = normed @ weight("ffn_gate")
        return x + (gate / (1 + np.exp(-gate)) * (normed @ weight("ffn_up"))) @ weight("ffn_down")

    def logprobs(self, tokens):
        x = self.weights["token_embd.weight"][tokens]
        for i in range(self.layers):
            x = self.layer(x, f"blk.{i}.")
        logits = self.norm(x, "output_norm.weight") @ self.head.T
        most = logits.max(-1, keepdims=True)
        return logits - most - np.log(np.exp(logits - most).sum(-1, keepdims=True))


def tokenize(url, text):
    body = json.dumps({"prompt": text, "add_special_tokens": False}).encode()
    request = urllib.request.Request(url + "/tokenize", body, {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))["tokens"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", required=True, help="the folder that lm_eval -o wrote")
    parser.add_argument("--gguf", required=True, help="the model's weights")
    parser.add_argument("--url", required=True, help="the server, which cuts texts into tokens")
    parser.add_argument("--limit", type=int, default=0, help="questions that are compared; 0: all")
    arguments = parser.parse_args()
    model = Llama(arguments.gguf)
    files = sorted(pathlib.Path(arguments.samples).rglob("samples_effc_mc_*.jsonl"))
    samples = [json.loads(line) for line in files[-1].read_text().splitlines()]
    worst, compared, differing = 0.0, 0, 0
    for sample in samples[:arguments.limit or None]:
        for asked, answered in zip(sample["arguments"].values(), sample["resps"]):
            context, continuation = asked["arg_0"], asked["arg_1"]
            whole, length = tokenize(arguments.url, context + continuation), len(tokenize(arguments.url, context))
            rows = model.logprobs(np.array(whole))[length - 1:-1]
            new = np.array(whole[length:])
            expected = rows[np.arange(len(new)), new].sum()
            score, greedy = float(answered[0][0]), answered[0][1] in (True, "True")
            worst = max(worst, abs(score - expected))
            differing += greedy != bool((rows.argmax(-1) == new).all())
            compared += 1
    print(f"{compared} scores compared: the largest difference is {worst:.2e}; {differing} differ in being greedy")
    return 0 if compared and worst <= 1e-3 and differing == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
