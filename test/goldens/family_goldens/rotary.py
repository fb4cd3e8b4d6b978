"""Cases of rotary positions that few configurations have."""

from .public import LLAMA, case

CASES = [
    # One token a call: in longer ones the library turns all of them for the length of the last.
    case("llama", "dynamic_steps", "Llama", {
        **LLAMA, "num_attention_heads": 5, "num_key_value_heads": 1, "max_position_embeddings": 20,
        "rope_parameters": {"rope_type": "dynamic", "rope_theta": 200.0, "factor": 2.5}},
         stepwise=True, options={"max-context": 64}),
    case("llama", "yarn_mscale", "Llama", {
        **LLAMA, "hidden_size": 24, "num_key_value_heads": 1, "rope_parameters": {
            "rope_type": "yarn", "rope_theta": 150.0, "factor": 4.0, "mscale": 0.8, "mscale_all_dim": 0.4,
            "beta_fast": 8.0, "beta_slow": 2.0, "original_max_position_embeddings": 16}}),
]
