//===- Generation.h - Samples that continue one prompt --------------------===//
#ifndef EFFC_TOOLS_EFFC_GENERATION_H
#define EFFC_TOOLS_EFFC_GENERATION_H

#include "tools/effc/Guesser.h"
#include "tools/effc/Inputs.h"
#include "tools/effc/Stops.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace effc::cli {

/// Tokens and the time they took.
struct Rate {
  uint64_t tokens = 0;
  double seconds = 0;
  /// "12 tokens, 345.6 tokens/s".
  std::string text() const;
};

/// Why a text is no longer than it is.
enum class Ending {
  EndToken,   // the model's own end
  Complete,   // the grammar allows nothing more
  Stop,       // a text or token that the user named
  Length,     // as many tokens as were asked for
  Context,    // the model takes no more
  Interrupted // the user's interrupt
};
/// "end", "grammar", "stop", "length", "context", "interrupted": what --json has.
const char *nameOf(Ending ending);

enum class Show { Text, Tokens, Nothing };

struct GenerationOptions {
  /// That of `newTokens` which sets no limit.
  static constexpr int64_t kUnlimited = INT64_MAX;

  uint32_t samples = 1;
  int64_t newTokens = 128;
  /// Sample i draws with the seed of these options + i, whatever `samples` is.
  effc_sampler_options_t sampling = {};
  std::vector<effc_logit_bias_t> biases;
  Stops stops;
  const Grammar *grammar = nullptr; // that samples follow; null: any text
  Tokens before; // what the session holds already, as penalties count it
  /// Guesses how a single sample goes on, which is then computed at once; null:
  /// nobody does. `before` is all that the session holds, and the file's bits are
  /// the same for several tokens of a call as for one after another.
  Guesser *guesser = nullptr;
  bool ignoreEnd = false; // go on behind the model's own end
  Show show = Show::Text;
  /// Told of the first sample's text, as it comes; null: nobody is.
  std::function<void(std::string_view)> onText;
};

/// A sample when it has ended. A stop is part of neither its text nor its
/// tokens.
struct SampleResult {
  uint64_t seed;
  Tokens tokens;
  std::string text; // empty without a tokenizer
  /// Of each token, where they are asked for: its own, then the likeliest.
  std::vector<std::vector<effc_logprob_t>> logprobs;
  Ending ending;
  std::string stop; // the text or token that stopped it; empty if none did
};

/// Generates several samples from one sequence: the prompt is fed once, its
/// state forked, and all samples advance together. Prints to standard output:
/// one sample streams as it comes; of several, the first that is not complete
/// does, and those after it follow as a whole, in order.
class Generation {
public:
  /// `engine` has room for all samples; `session` is the first of them.
  Generation(const Model &model, Engine &engine, Session session,
             GenerationOptions options);
  ~Generation();

  /// Feeds the prompt. Long ones show their progress. Throws Failure where the
  /// model's context has no room for it, before anything is computed, and where
  /// the user interrupts.
  void feed(const Tokens &prompt);
  /// Draws, prints and feeds tokens until every sample has ended.
  void run();
  /// Of every sample, behind run().
  std::vector<SampleResult> results() const;
  /// Makes sure that the first sample's state holds every token of its text:
  /// the last one drawn has no successor and so was not fed.
  void feedLastToken();

  const Session &session() const;
  /// The first sample's, when nothing else is to be done.
  Session takeSession();
  Rate prefill, decode;

private:
  struct Sample;
  std::optional<Ending> push(Sample &sample, int32_t token);
  void advance(const std::vector<Sample *> &running);
  void advanceByGuesses(Sample &sample);
  void goBack(Sample &sample);
  uint64_t position(const Sample &sample) const;
  int32_t draw(Sample &sample, size_t row);
  static void maskNextDraw(Sample &sample);
  void end(Sample &sample, Ending ending);
  void show(Sample &sample);
  void tell(const Sample &sample, std::string_view text) const;
  bool endsSequence(int32_t token) const;

  const Model &model;
  Engine &engine;
  GenerationOptions options;
  std::vector<std::unique_ptr<Sample>> samples;
  size_t shown = 0; // the sample that streams
  size_t vocabulary;
  std::vector<float> logits;   // of the prompt, a row for each sample
  std::optional<Tokens> drawn; // what comes next, once a token was fed
  // Where tokens are guessed: what was drawn and before, the last token drawn aside;
  // what was fed behind that, whose logits `logits` has from row `at` on; and the
  // place of before it was fed.
  Tokens text, guesses;
  size_t at = 0;
  std::optional<Checkpoint> mark;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_GENERATION_H
