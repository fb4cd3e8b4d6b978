//===- Grammar.h - Rules for the tokens of a vocabulary -------------------===//
//
//   GBNF, JSON Schema ──> Rules ──> Automaton ──> States ──> Mask of a state
//                                                 bytes of tokens ──^
//
// Grammar is shared by the texts that follow it, and so are the states and masks
// that one of them has come to. Matcher is where one text stands.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_GRAMMAR_GRAMMAR_H
#define EFFC_RUNTIME_SRC_GRAMMAR_GRAMMAR_H

#include "runtime/src/grammar/States.h"
#include "runtime/src/tokenizer/TokenTexts.h"

#include <mutex>

namespace effc::rt::grammar {

/// Any number of threads may use one.
class Grammar {
public:
  /// What states and masks may take before new ones begin with none.
  static constexpr size_t kMostTableBytes = size_t(32) << 20;
  /// What one mask may need on the way: one that needs more is refused.
  static constexpr size_t kMostMaskBytes = size_t(64) << 20;

  /// Masks are of `vocabulary` tokens, whose texts are `tokens` or, beyond these,
  /// none. `tokens` belong to what `owner` keeps alive.
  static Result<std::shared_ptr<const Grammar>>
  create(const Rules &rules, std::shared_ptr<const void> owner,
         const TokenTexts &tokens, uint32_t vocabulary);

  /// Whether it was made for tokens of `owner`.
  bool isFor(const void *other) const { return owner.get() == other; }
  uint32_t vocabularySize() const { return vocabulary; }
  const TokenTexts &tokenTexts() const { return tokens; }

private:
  friend class Matcher;
  struct Table {
    explicit Table(std::shared_ptr<const Automaton> automaton)
        : states(std::move(automaton)) {}
    States states;
    size_t maskBytes = 0;
  };

  Grammar(Automaton automaton, std::shared_ptr<const void> owner,
          const TokenTexts &tokens, uint32_t vocabulary);

  /// The table that is in use, with the state of another in it. The lock is held.
  StateId enter(std::shared_ptr<Table> &table, StateId state) const;
  Result<std::shared_ptr<const Mask>> maskOf(Table &table, StateId state,
                                             bool isFirst) const;
  Check walk(Table &table, StateId state, size_t begin, size_t end,
             Mask &mask) const;

  std::shared_ptr<const Automaton> automaton;
  std::shared_ptr<const void> owner;
  const TokenTexts &tokens;
  uint32_t vocabulary;
  mutable std::mutex lock;
  mutable std::shared_ptr<Table> current;
};

/// Where a text stands in its grammar. Copies are cheap, and go on by themselves.
/// Used by one thread at a time.
class Matcher {
public:
  /// `ends` are the tokens that end a text, where it may end.
  Matcher(std::shared_ptr<const Grammar> grammar, std::vector<int32_t> ends);

  /// Which tokens can come next, a bit for each; until the next call.
  /// EFFC_EXHAUSTED: too many ways to read the text, or no token can come.
  Result<std::span<const uint64_t>> mask();
  /// EFFC_INVALID_ARGUMENT: the token cannot come here; nothing has changed.
  Check accept(int32_t token);
  /// Whether the text may end here.
  bool canEnd() const;
  /// Whether it has to: it has ended by a token, or nothing else can follow.
  bool isComplete() const;

private:
  bool isEnd(int32_t token) const;

  std::shared_ptr<const Grammar> grammar;
  std::vector<int32_t> ends;
  std::shared_ptr<Grammar::Table> table;
  StateId state = 0;
  bool isFirst = true, hasEnded = false, mayEnd = false, mayGoOn = false;
  Mask allowed;
};

} // namespace effc::rt::grammar

#endif // EFFC_RUNTIME_SRC_GRAMMAR_GRAMMAR_H
