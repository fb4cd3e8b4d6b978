// The ways in which a compiled model can be fed the same tokens.
#ifndef EFFC_TOOLS_EFFC_VERIFY_FEEDING_H
#define EFFC_TOOLS_EFFC_VERIFY_FEEDING_H

#include "runtime/include/effc/effc.hpp"

#include <cstdint>
#include <vector>

namespace effc::verify {

using Tokens = std::vector<int32_t>;
using Logits = std::vector<float>; // [tokens, vocabulary], or hidden states

/// `count` tokens of the vocabulary, the same for the same seed.
Tokens pickTokens(uint32_t vocabulary, size_t count, uint64_t seed);

/// Lengths that add up to `count`, each up to 17, the same for the same seed.
std::vector<size_t> pickSplit(size_t count, uint64_t seed);

/// Feeds sequences from their start. Every function gives the logits of all
/// tokens, where it says no other; throws effc::Error where the runtime
/// refuses.
class Feeding {
public:
  /// `engine` is the model's and has room for kMostSequences.
  Feeding(const Model &model, Engine engine);
  Feeding(const Model &model, const Device &device);

  Logits inOnePrefill(const Tokens &tokens);
  Logits inSteps(const Tokens &tokens);
  /// Pieces of one token are decode steps every other time.
  Logits inPieces(const Tokens &tokens, const std::vector<size_t> &lengths);
  /// All sequences together: packed into one prefill up to their last eight
  /// tokens, which are decoded side by side.
  std::vector<Logits> inBatch(const std::vector<Tokens> &sequences);
  /// Half of the tokens, then the state through its bytes into another session.
  Logits throughASavedState(const Tokens &tokens);
  /// As a prompt is fed: the logits of the last token.
  Logits lastRowAlone(const Tokens &tokens);
  /// All but the last token, whose logits a decode step gives.
  Logits withoutLogitsThenAStep(const Tokens &tokens);

  static constexpr uint32_t kMostSequences = 8;

private:
  Engine engine;
  size_t columns; // of a row
};

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_FEEDING_H
