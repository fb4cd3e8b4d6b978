// How tokens are drawn, as users say it.
#ifndef EFFC_TOOLS_EFFC_SAMPLINGCHOICE_H
#define EFFC_TOOLS_EFFC_SAMPLINGCHOICE_H

#include "runtime/include/effc/effc.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace effc::cli {

/// What is not given is what the model asks for.
struct SamplingChoice {
  std::optional<float> temperature, topP, minP, repeatPenalty;
  std::optional<uint32_t> topK;
  float typicalP = 1, presencePenalty = 0, frequencyPenalty = 0;
  std::vector<std::string> biases; // "15043=-1"
  uint64_t seed = 0;

  /// Declares the group "Sampling".
  void declare(CLI::App &command);

  /// Without the biases, which are biasesFor(). The two point into `model` alone.
  effc_sampler_options_t optionsFor(const Model &model) const;
  /// Says which options are given in vain: those that leave tokens out of a draw, where
  /// nothing is drawn.
  void noteIdle(const effc_sampler_options_t &sampling) const;
  /// Throws UsageError where a bias names no token.
  std::vector<effc_logit_bias_t> biasesFor(const Model &model) const;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_SAMPLINGCHOICE_H
