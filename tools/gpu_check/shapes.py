"""What is timed: mixers alone at the shapes that public kernels are known by, and whole models of random weights."""
import json
import pathlib

from .console import say
from .mixer_models import Mixer

PRODUCTS = "bf16"  # what is timed multiplies what public kernels multiply
# The first call of each is its main shape: (decode, sequences, tokens).
MIXERS = [
    (Mixer("ssd", 64, 1, 128, 64), [(False, 1, 4096), (True, 128, 1), (False, 1, 1024)]),
    (Mixer("gated_retention", 32, 32, 128, 128), [(False, 1, 4096), (True, 128, 1), (False, 1, 1024)]),
    (Mixer("gated_linear_attention", 16, 16, 128, 128), [(False, 1, 4096), (True, 128, 1), (False, 1, 1024)]),
    (Mixer("rwkv6", 32, 32, 64, 64), [(False, 1, 4096), (True, 128, 1), (False, 1, 1024)]),
    (Mixer("gated_delta_rule", 32, 16, 128, 128), [(False, 1, 4096), (True, 128, 1), (False, 1, 1024)]),
    (Mixer("kimi_delta_attention", 32, 32, 128, 128), [(False, 1, 4096), (True, 128, 1), (False, 1, 1024)]),
]
SMALL_MIXERS = [(Mixer("ssd", 4, 1, 16, 8), [(False, 1, 48), (True, 4, 1)]),
                (Mixer("gated_retention", 4, 2, 16, 8), [(False, 1, 48)]),
                (Mixer("gated_linear_attention", 4, 4, 16, 8), [(False, 1, 48)]),
                (Mixer("rwkv6", 4, 4, 16, 16), [(False, 1, 48)]),
                (Mixer("gated_delta_rule", 4, 2, 16, 16), [(False, 2, 24)]),
                (Mixer("kimi_delta_attention", 4, 4, 16, 16), [(False, 1, 48)])]


def mamba2(width: int, layers: int, vocabulary: int, head: int = 64, state: int = 128) -> dict:
    """A configuration as released models have it."""
    return {"architectures": ["Mamba2ForCausalLM"], "model_type": "mamba2", "hidden_size": width, "num_hidden_layers": layers,
            "state_size": state, "head_dim": head, "num_heads": 2 * width // head, "expand": 2, "n_groups": 1, "conv_kernel": 4,
            "chunk_size": 256, "use_bias": False, "use_conv_bias": True, "hidden_act": "silu", "layer_norm_epsilon": 1e-5,
            "tie_word_embeddings": True, "vocab_size": vocabulary, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}


# Names of configurations: a dictionary, or a file of test/goldens/configs.
MODELS = {"mamba2_130m": mamba2(768, 24, 50288), "mamba2_1_3b": mamba2(2048, 48, 50288), "gla_1_3b": "gla_1_3b.json",
          "gated_deltanet_1_3b": "gated_deltanet_1_3b.json", "hgrn2_1_3b": "hgrn2_1_3b.json", "mamba_130m": "mamba_130m.json",
          "recurrentgemma_2b": "recurrentgemma_2b.json", "rodimus_1_4b": "papers/rodimus_1_4b.json"}
SMALL_MODELS = {"mamba2_tiny": mamba2(64, 2, 97, head=16, state=16)}
CONFIGS = pathlib.Path(__file__).resolve().parent.parent.parent / "test/goldens/configs"


def prepare(folder: pathlib.Path, compiler, chips: list[str], small: bool) -> list[str]:
    """Compiles them from shapes alone, for the chips (and the simulated ones where they are small), with products of bf16, as public kernels have."""
    folder.mkdir(parents=True)
    targets = compiler.targets if small else chips
    jobs = []

    def compile_mixer(mixer: Mixer, calls: list) -> None:
        rows = max(sequences * tokens for _, sequences, tokens in calls)
        prefill = sorted({sequences * tokens for decode, sequences, tokens in calls if not decode})
        batch = max([sequences for decode, sequences, _ in calls if decode], default=1)
        model = folder / f"{mixer.name}.mlir"
        model.write_text(mixer.text(rows))
        compiler.compile(model, folder / f"{mixer.name}.effc", "--weights", "none", "--products", PRODUCTS, "--prefill-rows",
                         ",".join(map(str, prefill)), "--max-batch", batch, targets=targets)
        model.unlink()

    def compile_model(name: str, config) -> None:
        if isinstance(config, str):
            config = json.loads((CONFIGS / config).read_text())["config"]
        place = folder / name
        place.mkdir()
        (place / "config.json").write_text(json.dumps(config))
        rows, batch = ("64", 2) if small else ("512,4096", 128)
        compiler.compile(place, folder / f"{name}.effc", "--weights", "none", "--dtype", "bf16", "--products", PRODUCTS,
                         "--prefill-rows", rows, "--max-batch", batch, targets=targets)
        (place / "config.json").unlink()
        place.rmdir()

    for mixer, calls in SMALL_MIXERS if small else MIXERS:
        jobs.append(lambda mixer=mixer, calls=calls: compile_mixer(mixer, calls))
    for name, config in (SMALL_MODELS if small else MODELS).items():
        jobs.append(lambda name=name, config=config: compile_model(name, config))
    say(f"compiling {len(jobs)} models to time")
    compiler.all(jobs)
    return sorted(path.stem for path in folder.glob("*.effc"))
