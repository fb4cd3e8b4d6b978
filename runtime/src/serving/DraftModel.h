//===- DraftModel.h - A small model that guesses how texts go on ----------===//
//
// Another engine, of which a sequence follows each text:
//
//   text         a b c d                  fed as it comes; d waits for a guess
//   guess        d -> e, e -> f, f -> g   each is fed the one before; e f g is a draft
//   text         a b c d e x              f was wrong: the sequence goes back behind
//                                         d, and is fed e x in front of the next guess
//
// What was wrong is seen when the text has gone on, whatever it went on by. A call that
// fails costs the sequences that it named, and so guesses; no text ends for it.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SERVING_DRAFTMODEL_H
#define EFFC_RUNTIME_SRC_SERVING_DRAFTMODEL_H

#include "runtime/src/Engine.h"
#include "runtime/src/serving/DraftLength.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace effc::rt {

class DraftModel {
public:
  /// A sequence that follows a text.
  struct Follower {
    effc_session session;
    uint64_t reserved;                 // bytes for its states
    DraftLength length;                // of guesses
    CopiedStates mark = {};            // of before `guessed` was fed
    std::vector<int32_t> guessed = {}; // fed behind what the text had
  };

  /// A text as far as it is known, and how far it is to be guessed.
  struct Text {
    Follower *follower;
    std::span<const int32_t> prompt, drawn;
    const Sampler *sampler; // that draws what follows
    uint64_t most = 0;      // guesses
    std::vector<int32_t> guesses = {};

    uint64_t size() const { return prompt.size() + drawn.size(); }
    int32_t at(uint64_t i) const {
      return i < prompt.size() ? prompt[i] : drawn[i - prompt.size()];
    }
  };

  /// Fails where `draft` cannot guess for `engine`: it is the same engine, its model
  /// has other tokens, or its sequences cannot go back.
  static Check fits(const Engine &draft, const Engine &engine);

  /// Guesses have at most `most` tokens.
  DraftModel(std::shared_ptr<Engine> engine, uint32_t most);

  /// What the sequence that follows a text of so many tokens fills.
  uint64_t bytesOf(uint64_t tokens) const;
  /// A sequence that has been fed nothing; none where all are taken, or its bytes do
  /// not fit beside those of the others.
  std::optional<Follower> follow(uint64_t bytes);
  void leave(const Follower &follower);
  /// Has `to` be fed what `from` was, of which both texts begin.
  Check copy(const Text &from, Follower &to);

  /// Feeds texts that are far ahead of their followers, or all where `all` says so, but
  /// for the last token of each: `room` tokens at most. Whether there were any.
  Result<bool> read(std::span<Text> texts, uint64_t room, bool all);
  /// Guesses what follows the texts that are not far ahead.
  Check guess(std::span<Text> texts);

  uint32_t mostRows() const { return engine->mostPrefillRows(); }

private:
  Check settle(Text &text);
  Check guessFirst(std::span<Text *const> texts);
  Check guessNext(std::span<Text *const> texts, uint64_t step);
  void draw(std::span<Text *const> texts, uint64_t step);

  std::shared_ptr<Engine> engine;
  uint32_t most;
  uint64_t context; // 0: without a bound
  uint64_t budget, reserved = 0;
  std::vector<float> logits;
  SamplingScratch scratch;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SERVING_DRAFTMODEL_H
