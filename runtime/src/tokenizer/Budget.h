//===- Budget.h - What one call of a tokenizer may take -------------------===//
//
// A tokenizer is data of a stranger: its steps may multiply a text, its patterns
// may backtrack, and a few bytes of a file may describe work without end. So a
// load, an encoding and a decoding each have one budget, which all their stages
// share and which grows with what the caller or the file brings. A step is about
// what looking at one byte takes; a call may take so many in all. The bytes are
// those of one text, list or table that a stage makes: what lies beside it is a
// small multiple.
//
// Honest work stays far below (Budget.cpp has measurements).
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_BUDGET_H
#define EFFC_RUNTIME_SRC_TOKENIZER_BUDGET_H

#include "runtime/src/Error.h"

#include <cstdint>

namespace effc::rt {

/// Where work is done.
enum class Stage : uint8_t {
  Vocabulary,
  AddedTokens,
  Normalizer,
  PreTokenizer,
  Model,
  Decoder
};

class Budget {
public:
  /// Reading a segment of `bytes`.
  static Budget ofLoad(uint64_t bytes);
  /// Cutting a text of `bytes` into tokens.
  static Budget ofEncoding(uint64_t bytes);
  /// Turning tokens into text; each has to be announced by grow().
  static Budget ofDecoding();

  /// What follows is the work of `stage`.
  void enter(Stage now) { stage = now; }
  Stage current() const { return stage; }
  /// There are `more` bytes or tokens to work on.
  void grow(uint64_t more);

  /// Takes `steps`. False when there are not so many left; from then on always.
  bool spend(uint64_t steps) {
    if (steps > left)
      exhaust(/*ofBytes=*/false);
    else
      left -= steps;
    return !isExhausted();
  }
  /// False when a text, list or table of `bytes` is more than may be; from then
  /// on always.
  bool admits(uint64_t bytes) {
    if (bytes > mostBytes)
      exhaust(/*ofBytes=*/true);
    return !isExhausted();
  }

  bool isExhausted() const { return exhausted; }
  /// What was exceeded where, and what it depends on. Only once exhausted.
  Error error() const;
  /// Empty until something is exceeded.
  Check check() const { return exhausted ? Check(error()) : std::nullopt; }

  uint64_t stepsLeft() const { return left; }
  /// How many steps have been taken so far.
  uint64_t spent() const { return allowed - left; }

private:
  /// What a call has whatever it is given, and for each byte or token of that.
  struct Rates {
    const char *what; // the call is about, before its size
    const char *unit;
    uint64_t steps, stepsEach;
    uint64_t bytes, bytesEach, bytesAtMost;
  };
  static const Rates kLoad, kEncoding, kDecoding;

  explicit Budget(const Rates &rates)
      : rates(&rates), allowed(rates.steps), left(rates.steps),
        mostBytes(rates.bytes) {}
  void exhaust(bool ofBytes);

  const Rates *rates;
  uint64_t units = 0;
  uint64_t allowed, left; // steps
  uint64_t mostBytes;
  Stage stage = Stage::Vocabulary;
  bool exhausted = false, exhaustedBytes = false;
  Stage exhaustedBy = Stage::Vocabulary;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_BUDGET_H
