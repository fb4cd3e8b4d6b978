// A Mamba-2 checkpoint of the smallest kind, to be spoiled one part at a time.
#ifndef EFFC_TEST_UNIT_FRONTEND_TINYMAMBA2_H
#define EFFC_TEST_UNIT_FRONTEND_TINYMAMBA2_H

#include "test/unit/frontend/SafetensorsImage.h"
#include "test/unit/frontend/TemporaryDirectory.h"

#include <map>

namespace effc::test {

/// D = 6, H = 4, V = 3 (so 12 inner channels), K = 5, G = 2, W = 3, one layer,
/// 7 tokens: 12 + 2 * 2 * 5 = 32 convolved channels, 12 + 32 + 4 = 48 rows of
/// in_proj. All dimensions that could be exchanged differ.
class TinyMamba2 {
public:
  struct Tensor {
    std::string type;
    std::vector<uint64_t> shape;
    char fill = 1;
  };

  std::map<std::string, std::string> config = {
      {"architectures", R"(["Mamba2ForCausalLM"])"},
      {"model_type", R"("mamba2")"},
      {"vocab_size", "7"},
      {"hidden_size", "6"},
      {"num_hidden_layers", "1"},
      {"num_heads", "4"},
      {"head_dim", "3"},
      {"state_size", "5"},
      {"expand", "2"},
      {"n_groups", "2"},
      {"conv_kernel", "3"},
      {"use_bias", "false"},
      {"use_conv_bias", "true"},
      {"hidden_act", R"("silu")"},
      {"layer_norm_epsilon", "1e-05"},
      {"time_step_limit", "[0.0, Infinity]"},
      {"tie_word_embeddings", "false"},
  };

  std::map<std::string, Tensor> tensors = {
      {"backbone.embeddings.weight", {"F32", {7, 6}}},
      {"backbone.layers.0.norm.weight", {"F32", {6}}},
      {"backbone.layers.0.mixer.in_proj.weight", {"F32", {48, 6}}},
      {"backbone.layers.0.mixer.conv1d.weight", {"F32", {32, 1, 3}}},
      {"backbone.layers.0.mixer.conv1d.bias", {"F32", {32}}},
      {"backbone.layers.0.mixer.dt_bias", {"F32", {4}}},
      {"backbone.layers.0.mixer.A_log", {"F32", {4}}},
      {"backbone.layers.0.mixer.D", {"F32", {4}}},
      {"backbone.layers.0.mixer.norm.weight", {"F32", {12}}},
      {"backbone.layers.0.mixer.out_proj.weight", {"F32", {6, 12}}},
      {"backbone.norm_f.weight", {"F32", {6}}},
      {"lm_head.weight", {"F32", {7, 6}, 2}},
  };

  /// Writes config.json and model.safetensors.
  void write(const TemporaryDirectory &directory) const {
    std::string text;
    for (const auto &[key, value] : config)
      text += (text.empty() ? "{\"" : ",\n\"") + key + "\": " + value;
    directory.write("config.json", text + "}");
    SafetensorsBuilder builder;
    for (const auto &[name, tensor] : tensors) {
      uint64_t bytes = tensor.type == "F64" ? 8 : tensor.type == "F32" ? 4 : 2;
      for (uint64_t extent : tensor.shape)
        bytes *= extent;
      builder.add(name, tensor.type, tensor.shape,
                  std::string(bytes, tensor.fill));
    }
    directory.write("model.safetensors", builder.build());
  }
};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_FRONTEND_TINYMAMBA2_H
