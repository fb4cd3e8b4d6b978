#!/usr/bin/env python3
"""Compares the scores that lm-eval got from a server with a model of this script's own.

    HF_HUB_OFFLINE=1 lm_eval --model local-completions --batch_size 4 --tasks effc_mc,effc_gen \\
        --include_path tasks --log_samples -o OUT --model_args \\
        base_url=http://127.0.0.1:PORT/v1/completions,model=NAME,num_concurrent=4,tokenizer_backend=remote
    python check_scores.py --samples OUT --gguf MODEL.gguf --url http://127.0.0.1:PORT

The model is Llama's as its paper has it, in double precision over the weights of the GGUF file as
the package gguf reads them, so nothing of effc computes here but the cutting into tokens and back.
Each log-probability has to be within 1e-3, and each choice greedy in both or in neither. Each text
has to be the one of the likeliest tokens. And lm-eval's acc, acc_norm and exact_match have to be
those that follow from this model's own scores and texts.
"""
import argparse
import json
import pathlib
import re
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
        end = reader.fields.get("tokenizer.ggml.eos_token_id")
        self.end = end.contents() if end else None

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


def ask(url, path, body):
    request = urllib.request.Request(url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))


def tokenize(url, text):
    return ask(url, "/tokenize", {"prompt": text, "add_special_tokens": False})["tokens"]


def likeliest(model, url, context, guess, most):
    """The text of the likeliest tokens up to the end of a line, `most` of them at most.

    `guess` is what it should be: where it is right, one pass finds all tokens, and another one the end.
    """
    before, whole = tokenize(url, context), tokenize(url, context + guess)
    guessed = whole[len(before):] if whole[:len(before)] == before else []
    own, text = [], ""
    while True:
        assumed = guessed if guessed[:len(own)] == own else own
        rows = model.logprobs(np.array(before + assumed))[len(before) - 1:]
        for i in range(len(own), len(assumed) + 1):
            own.append(int(rows[i].argmax()))
            text = ask(url, "/detokenize", {"tokens": own[:-1] if own[-1] == model.end else own})["prompt"]
            if "\n" in text or len(own) == most or own[-1] == model.end:
                return text.split("\n")[0]
            if own[:i + 1] != assumed[:i + 1]:
                break


def last_of(folder, pattern):
    return sorted(pathlib.Path(folder).rglob(pattern))[-1]


def samples_of(folder, task, limit):
    lines = last_of(folder, f"samples_{task}_*.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines[:limit or None]]


def check_choices(model, arguments):
    """What is wrong with the scores, and this model's own (acc, acc_norm)."""
    worst, compared, differing, right, right_by_length = 0.0, 0, 0, 0, 0
    samples = samples_of(arguments.samples, "effc_mc", arguments.limit)
    for sample in samples:
        own = []
        for asked, answered in zip(sample["arguments"].values(), sample["resps"]):
            context, continuation = asked["arg_0"], asked["arg_1"]
            whole, length = tokenize(arguments.url, context + continuation), len(tokenize(arguments.url, context))
            rows = model.logprobs(np.array(whole))[length - 1:-1]
            new = np.array(whole[length:])
            own.append(rows[np.arange(len(new)), new].sum())
            score, greedy = float(answered[0][0]), answered[0][1] in (True, "True")
            worst = max(worst, abs(score - own[-1]))
            differing += greedy != bool((rows.argmax(-1) == new).all())
            compared += 1
        choices, answer = sample["doc"]["choices"], sample["doc"]["answer"]
        right += int(np.argmax(own)) == answer
        right_by_length += int(np.argmax([score / len(choice) for score, choice in zip(own, choices)])) == answer
    print(f"{compared} scores compared: the largest difference is {worst:.2e}; {differing} differ in being greedy")
    wrong = [] if compared and worst <= 1e-3 and differing == 0 else ["the scores differ"]
    return wrong, {"acc,none": right / len(samples), "acc_norm,none": right_by_length / len(samples)}


def check_texts(model, arguments):
    """What is wrong with the texts, and this model's own exact_match."""
    differing, right = 0, 0
    samples = samples_of(arguments.samples, "effc_gen", arguments.limit)
    for sample in samples:
        (asked,), ((answered,),) = sample["arguments"].values(), sample["resps"]
        text = likeliest(model, arguments.url, asked["arg_0"], answered, asked["arg_1"]["max_gen_toks"])
        if text != answered:
            differing += 1
            print(f"a text is {answered!r}, the likeliest {text!r}")
        words = re.findall(r"(\w+)", text)  # as effc_gen.yaml has it
        right += bool(words) and words[0].lower() == sample["doc"]["target"].lower()
    print(f"{len(samples)} texts compared: {differing} differ")
    wrong = [] if samples and differing == 0 else ["the texts differ"]
    return wrong, {"exact_match,stripped": right / len(samples)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", required=True, help="the folder that lm_eval -o wrote")
    parser.add_argument("--gguf", required=True, help="the model's weights")
    parser.add_argument("--url", required=True, help="the server, which cuts texts into tokens")
    parser.add_argument("--limit", type=int, default=0, help="questions and texts that are compared; 0: all, and the results")
    arguments = parser.parse_args()
    model = Llama(arguments.gguf)
    results = json.loads(last_of(arguments.samples, "results_*.json").read_text())["results"]
    wrong = []
    for task, check in (("effc_mc", check_choices), ("effc_gen", check_texts)):
        found, own = check(model, arguments)
        wrong += found
        for name, value in own.items():
            told = results[task][name]
            print(f"{task}: {name} {told:.4f}, by this model {value:.4f}")
            if not arguments.limit and abs(told - value) > 1e-9:
                wrong.append(f"{task}'s {name} differs")
    print("wrong:", ", ".join(wrong) or "nothing")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
