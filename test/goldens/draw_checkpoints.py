#!/usr/bin/env python3
"""Draws small random checkpoints, and GGUF files of them, and runs effc beside the public library.

Each seed has sizes, optional keys and weights of its own (drawn_families.py). The library's logits in f64 are what
effc's have to be. With --llama-cpp the folder is converted by llama.cpp's own converter; with --quantize the file is
stored in a type that is drawn, and effc's logits of it are held to those of the same numbers as f32, which the public
package `gguf` unpacks. Nothing is recorded. Needs the versions of requirements.txt; for files llama.cpp's source too.

examples:
  draw_checkpoints.py --effc build/release/bin/effc llama olmo3 --seeds 0:20
  draw_checkpoints.py --effc build/release/bin/effc --llama-cpp ~/llama.cpp --json drawn.json
  draw_checkpoints.py --effc build/release/bin/effc --llama-cpp ~/llama.cpp --quantize ~/llama.cpp/build/bin/llama-quantize
"""
import argparse
import contextlib
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import zlib

import numpy as np
import torch
import transformers
from drawn_families import FAMILIES
from family_goldens import public
from family_goldens.double import everything_in_double
from family_goldens.weights import drawn_buffers, randomise
from safetensors.numpy import load_file

TYPES = ("F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "IQ4_NL", "IQ4_XS", "Q2_K", "Q3_K_S", "Q3_K_M",
         "Q4_K_S", "Q4_K_M", "Q5_K_S", "Q5_K_M", "Q6_K", "MXFP4_MOE")
OTHERS = ("q8_0", "q6_k", "q5_1", "q4_0", "q3_k", "q2_k", "iq4_nl", "f16", "bf16")


class Refused(Exception):
    """A program, or the public library, does not take what was drawn; the first word says which."""


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300)
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines() or [f"status {done.returncode}"]
        raise Refused(f"{pathlib.Path(command[0]).name} {command[1]}: {lines[-1][:200]}")


def draw(family, seed, wide, gguf, folder):
    """Writes a checkpoint and tokens; returns the library's logits in f64."""
    drawn = random.Random(zlib.crc32(family.encode()) + seed)
    kind, config, more = FAMILIES[family](drawn, wide, gguf)
    case = public.case(family, str(seed), kind, config, **more)
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    try:
        model = case.build().eval()
    except Exception as error:  # whatever the library says of the configuration
        raise Refused(f"library: {type(error).__name__}: {str(error).splitlines()[-1][:200]}") from None
    randomise(model, case, generator)
    model.save_pretrained(folder)
    tokens = [torch.randint(config["vocab_size"], (count,), generator=generator).tolist() for count in (40, 13, 1)]
    (folder / "tokens.json").write_text(json.dumps(tokens))
    with everything_in_double():
        double = case.build().eval().double()
        weights = [*model.named_parameters(), *drawn_buffers(model, case).items()]
        double.load_state_dict({name: tensor.double() for name, tensor in weights}, strict=False)
        with torch.no_grad():
            return [double(torch.tensor([ids]), use_cache=False).logits[0].numpy() for ids in tokens]


def logits(effc, path, tokens, *options, split="all"):
    """What effc gives for each sequence."""
    with tempfile.TemporaryDirectory() as folder:
        compiled, out = f"{folder}/model.effc", f"{folder}/logits"
        run(effc, "compile", path, "-o", compiled, "--target", "host", "--prefill-rows", "16", "--max-batch", "2",
            "--no-optimise", *options)
        run(effc, "eval", compiled, "--tokens", tokens, "--logits", out, "--split", split)
        numbers = load_file(out)
        return [numbers[name] for name in sorted(numbers, key=lambda name: int(name.rpartition(".")[2]))]


def distance(a, b):
    """Of the sequence that is farthest off, by the norm of what is expected."""
    return max(float(np.linalg.norm(x.astype(np.float64) - y) / np.linalg.norm(y)) for x, y in zip(a, b, strict=True))


def convert(folder, out):
    """By llama.cpp's converter. No tokenizer is drawn, so the file has none."""
    import conversion
    import gguf
    from conversion.base import ModelBase, ModelType, get_model_architecture
    try:
        config = ModelBase.load_hparams(folder, False)
        kind = conversion.get_model_class(get_model_architecture(config, ModelType.TEXT))

        def without_tokenizer(self):
            self._set_vocab_none()
            self.gguf_writer.add_vocab_size(self.hparams["vocab_size"])

        made = type(kind.__name__, (kind,), {"set_vocab": without_tokenizer, "model_arch": kind.model_arch})
        with torch.inference_mode(), open(os.devnull, "w") as null, contextlib.redirect_stderr(null):
            made(folder, gguf.LlamaFileType.ALL_F32, out).write()
    except Exception as error:  # whatever the converter says
        raise Refused(f"converter: {type(error).__name__}: {str(error)[:200]}") from None


def unpack(path, out):
    """The same file with its numbers as f32."""
    import gguf
    reader = gguf.GGUFReader(path)
    writer = gguf.GGUFWriter(out, reader.fields["general.architecture"].contents())
    for name, field in reader.fields.items():
        if not name.startswith("GGUF.") and name != "general.architecture":
            kind = field.types[0]
            writer.add_key_value(name, field.contents(), kind, field.types[-1] if kind.name == "ARRAY" else None)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def store(program, path, out, seed):
    """Stores the file in a type that is drawn; returns what was drawn."""
    drawn = random.Random(seed)
    options = [] if drawn.random() < 0.5 else ["--pure"]
    for option in ("--output-tensor-type", "--token-embedding-type"):
        if drawn.random() < 0.4:
            options += [option, drawn.choice(OTHERS)]
    kind = drawn.choice(TYPES)
    run(program, "--allow-requantize", *options, path, out, kind, "1")
    return " ".join([kind, *options])


def judge(options, family, seed):
    """One row of the table: what was run, and how far it is from what is expected."""
    row = {"family": family, "seed": seed}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tokens, checkpoint = folder / "tokens.json", folder
        try:
            expected = draw(family, seed, options.quantize is not None, options.llama_cpp is not None, folder)
            if options.llama_cpp:
                checkpoint = folder / "model.gguf"
                convert(folder, checkpoint)
            whole = logits(options.effc, checkpoint, tokens, "--dtype", "f32")
            row["error"] = distance(whole, expected)
            row["one by one"] = distance(logits(options.effc, checkpoint, tokens, "--dtype", "f32", split="1"), whole)
            if options.quantize:
                stored, plain = folder / "stored.gguf", folder / "plain.gguf"
                row["stored"] = store(options.quantize, checkpoint, stored, f"{family}/{seed}")
                unpack(stored, plain)
                numbers = logits(options.effc, plain, tokens, "--dtype", "f32")
                row["unpacked"] = distance(logits(options.effc, stored, tokens, "--products", "f32"), numbers)
                row["exact"] = distance(logits(options.effc, stored, tokens), numbers)
            if options.given:
                last = stored if options.quantize else checkpoint
                row["with"] = distance(logits(options.effc, last, tokens, *options.given.split()),
                                       numbers if options.quantize else whole)
        except Refused as refusal:
            row["refused"] = str(refusal)
    wrong = any(not row.get(key, 0) < options.bound for key in ("error", "one by one", "unpacked"))
    row["status"] = "wrong" if wrong else "refused" if "refused" in row else "ok"
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help="of " + ", ".join(FAMILIES) + "; all without any")
    parser.add_argument("--effc", required=True, help="the program")
    parser.add_argument("--seeds", default="0:4", metavar="FIRST:END", help="default: %(default)s")
    parser.add_argument("--llama-cpp", type=pathlib.Path, metavar="DIR", help="its source; draws GGUF files")
    parser.add_argument("--quantize", metavar="PROGRAM", help="llama-quantize; draws types of tensors too")
    parser.add_argument("--with", dest="given", metavar="OPTIONS", help="of effc compile, for one more column that is "
                        "not judged, such as '--products=int8'")
    parser.add_argument("--bound", type=float, default=2e-5, help="on relative errors; default: %(default)s")
    parser.add_argument("--json", metavar="FILE", help="the table's rows as JSON")
    options = parser.parse_args()
    unknown = sorted(set(options.families) - set(FAMILIES))
    if unknown:
        parser.error(f"no family {', '.join(unknown)}; there are {', '.join(FAMILIES)}")
    if options.quantize and not options.llama_cpp:
        parser.error("--quantize needs --llama-cpp")
    if options.llama_cpp:
        sys.path[:0] = [str(options.llama_cpp), str(options.llama_cpp / "gguf-py")]
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    first, end = map(int, options.seeds.split(":"))
    rows = []
    for family in options.families or FAMILIES:
        for seed in range(first, end):
            row = judge(options, family, seed)
            rows.append(row)
            cells = [f"{key} {row[key]:.1e}" for key in ("error", "one by one", "unpacked", "exact", "with") if key in row]
            cells += [row[key] for key in ("stored", "refused") if key in row]
            print(f"{row['status']:8}{family}/{seed}  " + "  ".join(cells), flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    counts = {status: sum(row["status"] == status for row in rows) for status in ("ok", "refused", "wrong")}
    print(", ".join(f"{count} {status}" for status, count in counts.items()))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
