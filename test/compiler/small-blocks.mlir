// Kernels of exact products fit the blocks of GA102, AD102 and GB202, which have 99 KiB
// of shared memory: steps of products, keys and queries of heads with 256 channels,
// states and halvings of heads with 256 keys.
// RUN: rm -rf %t && mkdir -p %t/gla %t/gemma
// RUN: echo '{"model_type": "gla", "architectures": ["GLAForCausalLM"], "hidden_size": 2048, "intermediate_size": 512, "num_heads": 4, "expand_k": 0.5, "expand_v": 1, "hidden_act": "swish", "norm_eps": 1e-06, "num_hidden_layers": 1, "use_short_conv": false, "tie_word_embeddings": false, "vocab_size": 256}' >%t/gla/config.json
// RUN: echo '{"model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"], "hidden_size": 512, "intermediate_size": 512, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 256, "query_pre_attn_scalar": 256, "hidden_activation": "gelu_pytorch_tanh", "num_hidden_layers": 2, "sliding_window": 512, "max_position_embeddings": 1024, "rms_norm_eps": 1e-06, "rope_theta": 10000.0, "vocab_size": 256}' >%t/gemma/config.json
// RUN: effc-compile %t/gla --weights none --no-tokenizer --products f32 --target sm_86 --prefill-rows 64,2048 --compile-to tile | FileCheck %s --check-prefix=GLA
// RUN: effc-compile %t/gemma --weights none --no-tokenizer --products f32 --target sm_86 --prefill-rows 64,2048 --compile-to tile | FileCheck %s --check-prefix=GEMMA
// RUN: effc-compile %t/gemma --weights none --no-tokenizer --products f32 --target sm_80 --prefill-rows 64,2048 --compile-to tile | FileCheck %s --check-prefix=WHOLE

// Two steps of 64 x 64 f32 are under way, not three.
// GLA: block = <threads = 256, shared_bytes = 101376>
// GLA: tile.kernel @linear_2(
// GLA: tile.fetch {{.*}}<64x64xf32, operand, {{.*}}slots = 2>>
// GLA: tile.kernel @gated_linear_attention_
// GEMMA: tile.kernel @linear_2(
// GEMMA: tile.fetch {{.*}}<64x64xf32, operand, {{.*}}slots = 2>>
// GEMMA: tile.kernel @attention_6(
// WHOLE: block = <threads = 256, shared_bytes = 166912>
// WHOLE: tile.kernel @linear_2(
// WHOLE: tile.fetch {{.*}}<64x64xf32, operand, {{.*}}slots = 3>>
