//===- Adjustments.h - What is done to logits before anything else --------===//
//
// In this order: biases of single tokens, the repeat penalty over the prompt and
// what was drawn, frequency and presence penalties over what was drawn alone, and
// ends of the text excluded while it is too short.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SAMPLING_ADJUSTMENTS_H
#define EFFC_RUNTIME_SRC_SAMPLING_ADJUSTMENTS_H

#include "runtime/src/Error.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

namespace effc::rt {

/// A set of tokens that can be gone through in the time of its words.
class TokenSet {
public:
  explicit TokenSet(uint32_t vocabulary) : words((vocabulary + 63) / 64) {}
  void add(int32_t token) {
    words[static_cast<uint32_t>(token) / 64] |= uint64_t(1) << (token % 64);
  }
  template <typename Body> void forEach(Body body) const {
    for (size_t i = 0; i < words.size(); ++i)
      for (uint64_t rest = words[i]; rest != 0; rest &= rest - 1)
        body(static_cast<size_t>(i * 64 +
                                 static_cast<size_t>(__builtin_ctzll(rest))));
  }

private:
  std::vector<uint64_t> words;
};

class Adjustments {
public:
  /// The options as they must be; `vocabulary` is not 0.
  static Check check(const effc_sampler_options_t &options,
                     uint32_t vocabulary);
  Adjustments(const effc_sampler_options_t &options, uint32_t vocabulary);

  /// Whether the next row is changed.
  bool areActive() const;
  void read(int32_t token); // of a prompt
  void drew(int32_t token);
  /// Changes a row of logits in place.
  void apply(std::span<float> logits) const;

private:
  struct Free {
    void operator()(uint32_t *counts) const { std::free(counts); }
  };

  bool countsDrawn() const { return frequency != 0 || presence != 0; }

  float repeat, frequency, presence;
  std::vector<effc_logit_bias_t> biases;
  std::vector<int32_t> ends;
  uint64_t minTokens, tokensDrawn = 0;
  TokenSet seen, drawn;
  /// How often each was drawn, where that counts. The system's zeros: committed
  /// for tokens that come.
  std::unique_ptr<uint32_t[], Free> counts;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SAMPLING_ADJUSTMENTS_H
