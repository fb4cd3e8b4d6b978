// What a part of the explicit layout cannot be is said by its place.
// RUN: split-file %s %t

// A tensor for all tokens is an operand of its own; a gate or a feed is made of
// tokens.
// RUN: not effc-compile %t/gate --weights none --compile-to seq 2>&1 | FileCheck %s --check-prefix=GATE
// GATE: effc: error: config.json.blocks[0].parts[0]: expects 'from' to be "token", "inner" or "convolved" for what is made of 'v', but got "tensor"{{$}}
// RUN: not effc-compile %t/feed --weights none --compile-to seq 2>&1 | FileCheck %s --check-prefix=FEED
// FEED: effc: error: config.json.blocks[0].parts[0]: expects 'from' to be "token", "inner" or "convolved" for what is made of 'feed', but got "tensor"{{$}}

//--- gate/config.json
{"model_type": "effc", "architectures": ["EffcForCausalLM"], "vocab_size": 61, "hidden_size": 24, "num_hidden_layers": 1,
 "max_position_embeddings": 64, "eos_token_id": 2, "blocks": [{"parts": [
 {"part": "linear_attention", "heads": 2, "keys": 4, "values": 6, "v": {"gate": {"from": "tensor"}}}]}]}

//--- feed/config.json
{"model_type": "effc", "architectures": ["EffcForCausalLM"], "vocab_size": 61, "hidden_size": 24, "num_hidden_layers": 1,
 "max_position_embeddings": 64, "eos_token_id": 2, "blocks": [{"parts": [
 {"part": "linear_attention", "heads": 2, "keys": 4, "values": 6, "output": {"feed": {"from": "tensor"}}}]}]}
