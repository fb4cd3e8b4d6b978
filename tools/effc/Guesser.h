//===- Guesser.h - A second model that guesses how one text goes on -------===//
#ifndef EFFC_TOOLS_EFFC_GUESSER_H
#define EFFC_TOOLS_EFFC_GUESSER_H

#include "runtime/src/serving/DraftLength.h"
#include "tools/effc/DraftChoice.h"
#include "tools/effc/Inputs.h"

#include <optional>

namespace effc::cli {

/// A sequence of a smaller model that follows a text. Where the text turns out
/// otherwise than it was guessed, the sequence goes back.
class Guesser {
public:
  /// `drafter` outlives it, and has a sequence left. At most `most` tokens at a time.
  Guesser(Drafter &drafter, uint32_t most);

  /// Up to `most` tokens that may follow `text`, as `sampler` would draw them. None
  /// while guesses pause since they were wrong, and from a failure on, which is told.
  Tokens guess(const Tokens &text, const Sampler &sampler, size_t most);
  /// So many of the last guesses were right.
  void learn(size_t guessed, size_t right) { length.learn(guessed, right); }

private:
  Tokens guessNow(const Tokens &text, const Sampler &sampler, size_t count);
  void goBack(const Tokens &text);

  Model &model;
  Engine &engine;
  Session session;
  bool needsMark; // to go back
  std::optional<Checkpoint> mark;
  Tokens fed;
  rt::DraftLength length;
  bool hasFailed = false;
};

/// The guesser that a command was asked for, with the model that it needs.
class GuessingPlace {
public:
  /// Throws Failure, which names the option, where it cannot guess for `engine`.
  GuessingPlace(const DraftChoice &choice, const DeviceChoice &device,
                const ModelAccess &access, const Engine &engine);
  /// Null where none was asked for.
  Guesser *guesser() { return made ? &*made : nullptr; }

private:
  std::optional<Drafter> drafter;
  std::optional<Guesser> made;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_GUESSER_H
