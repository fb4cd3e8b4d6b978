//===- Evaluation.h - Feeds sequences and scores what the model expects ---===//
#ifndef EFFC_TOOLS_EFFC_EVALUATION_H
#define EFFC_TOOLS_EFFC_EVALUATION_H

#include "tools/effc/Divergence.h"
#include "tools/effc/Inputs.h"
#include "tools/effc/SafetensorsWriter.h"
#include "tools/effc/Split.h"
#include "tools/terminal/Progress.h"
#include "tools/terminal/Terminal.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace effc::cli {

/// -log of the probability that `logits` give to `token`, in nats and double.
double negativeLogLikelihood(std::span<const float> logits, int32_t token);

/// The longest part of a prompt that one call takes whole. A prompt fed in
/// parts that end on multiples of this position has the results of one fed at
/// once: the runtime would cut it there anyway.
uint64_t callStride(const Model &model);

/// What a sequence scored.
struct Score {
  uint64_t tokens = 0;
  uint64_t predicted = 0;  // those that count
  double sumNll = 0;       // over those
  uint64_t targets = 0;    // positions at which a token is expected
  uint64_t right = 0;      // those at which it has the largest logit
  Divergence against = {}; // over all tokens; none without another model
  Drift drift = {};        // the same by position
};

/// Feeds sequences to a model in pieces, several at a time. Memory is bounded
/// whatever their lengths: a long piece is fed in parts that end where the
/// runtime would cut it anyway, so that nothing of this shows in the results.
class Evaluation {
public:
  /// `writer` may be null; `batch` sequences go together, for which `engine`
  /// has room.
  Evaluation(const Model &model, Engine engine, Split split, uint32_t batch,
             SafetensorsWriter *writer);

  /// Has a second model, of the same vocabulary, take the same tokens in the same
  /// calls, and scores compare its logits. `engine` is of `model` and has as much
  /// room as the first.
  void compareWith(const Model &model, Engine engine);

  /// Reports tokens fed to `progress`. `targets` is empty, or has one element
  /// for each sequence; `firsts` likewise: from this token of it on predictions
  /// count, from 1 on where it is empty.
  std::vector<Score> run(const std::vector<Tokens> &sequences,
                         const std::vector<Targets> &targets,
                         const std::vector<uint64_t> &firsts,
                         Progress &progress);

private:
  struct Running; // a sequence on its way
  void feedRound(std::vector<Running> &group);
  void feedTogether(std::vector<Running *> &running, bool decode);
  /// `others` are the other model's; null where there is none.
  void takeLogits(Running &running, const float *logits, const float *others,
                  uint64_t count);

  uint32_t vocabulary;
  Split split;
  uint32_t batch;
  SafetensorsWriter *writer;
  Engine engine;
  std::optional<Engine> otherEngine;
  uint64_t grid; // parts of long pieces end on multiples of this position
  std::vector<std::vector<float>> buffers, otherBuffers;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_EVALUATION_H
