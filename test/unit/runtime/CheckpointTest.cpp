// Checkpoints: sequences that go on from copies have the bits of those that were
// never copied, whatever kinds of states they keep.

#include "test/unit/runtime/toy/ToyArtifact.h"
#include "test/unit/runtime/toy/ToyOnDevice.h"

#include <gtest/gtest.h>
#include <new>
#include <optional>
#include <random>
#include <sys/resource.h>

using namespace effc;
using namespace effc::test;
using Tokens = std::vector<int32_t>;

namespace {
/// The toy with states of a fixed size, with keys and a window besides, or with
/// keys alone.
struct Kind {
  const char *name;
  ToyOptions options;
  uint64_t fixedBytes;
  uint64_t rowBytes(uint64_t tokens) const {
    uint64_t window = options.withKeys ? std::min(tokens, kToyWindow) : 0;
    uint64_t keys = options.withKeys || options.keysAlone ? tokens : 0;
    return (keys + window) * kToyRowBytes;
  }
};
std::vector<Kind> kinds() {
  Kind fixed = {"fixed", {}, 12 + 8}, keys = {"keys and window", {}, 16 + 8},
       alone = {"keys alone", {}, 0};
  keys.options.withKeys = true;
  alone.options.keysAlone = true;
  return {fixed, keys, alone};
}

struct Toy {
  explicit Toy(const ToyOptions &options = {}, uint32_t sessions = 3)
      : file(makeToyArtifact(options)), model(file.path()),
        engine(model, Device::host(1), sessions) {}
  TemporaryFile file;
  Model model;
  Engine engine;
};
} // namespace

static Tokens part(const Tokens &tokens, size_t begin, size_t end) {
  return {tokens.begin() + ptrdiff_t(begin), tokens.begin() + ptrdiff_t(end)};
}
static std::vector<float> rowsFrom(const std::vector<float> &all, size_t row) {
  return {all.begin() + ptrdiff_t(row * kToyVocabulary), all.end()};
}

// At places before and behind the window's end, a chain of checkpoints; sequences go
// on from each of them, in any order, in a slot that others have used.
TEST(Checkpoint, GoesOnAsIfItHadNeverStopped) {
  const Tokens tokens = toyTokens(200);
  const std::vector<float> expected = ToyReference().feed(tokens);
  for (const Kind &kind : kinds()) {
    Toy toy(kind.options);
    std::vector<Checkpoint> chain;
    {
      Session session(toy.engine);
      size_t fed = 0;
      for (size_t place : {1, 9, 63, 64, 65, 130, 131, 190}) {
        toy.engine.prefill(session, part(tokens, fed, place));
        fed = place;
        if (chain.empty())
          chain.emplace_back(session);
        else
          chain.emplace_back(session, chain.back());
      }
      EXPECT_EQ(
          toy.engine.prefill(session, part(tokens, fed, 200), EFFC_LOGITS_ALL),
          rowsFrom(expected, fed));
    }
    std::mt19937 random(1);
    Session session(toy.engine);
    for (int round = 0; round < 40; ++round) {
      const Checkpoint &checkpoint = chain[random() % chain.size()];
      size_t from = checkpoint.position();
      session.restore(checkpoint);
      ASSERT_EQ(session.position(), from);
      ASSERT_EQ(session.isas(), toy.engine.isa());
      size_t end = from + 1 + random() % (200 - from);
      std::vector<float> logits =
          toy.engine.prefill(session, part(tokens, from, end), EFFC_LOGITS_ALL);
      ASSERT_EQ(logits,
                rowsFrom(ToyReference().feed(part(tokens, 0, end)), from))
          << kind.name << " from " << from;
    }
  }
}

// It costs what is new: fixed states, and the rows behind its parent.
TEST(Checkpoint, CostsWhatIsNew) {
  const Tokens tokens = toyTokens(150);
  for (const Kind &kind : kinds()) {
    Toy toy(kind.options);
    Session session(toy.engine);
    Checkpoint nothing(session);
    EXPECT_EQ(nothing.bytes(), 0u);
    toy.engine.prefill(session, part(tokens, 0, 100));
    uint64_t before = toy.engine.counters().copied_bytes;
    Checkpoint first(session);
    EXPECT_EQ(first.bytes(), kind.fixedBytes + kind.rowBytes(100));
    EXPECT_EQ(toy.engine.counters().copied_bytes - before, first.bytes());
    toy.engine.prefill(session, part(tokens, 100, 110));
    Checkpoint second(session, first);
    EXPECT_EQ(second.bytes(), kind.fixedBytes + kind.rowBytes(10));
    // What both need stays, whoever goes first.
    first = Checkpoint(session, second);
    EXPECT_EQ(first.bytes(), kind.fixedBytes);
    toy.engine.prefill(session, part(tokens, 110, 150));
    session.restore(second);
    EXPECT_EQ(toy.engine.prefill(session, part(tokens, 110, 150)),
              rowsFrom(ToyReference().feed(tokens), 149));
    session.restore(nothing);
    EXPECT_EQ(session.position(), 0u);
    EXPECT_EQ(session.isas(), "");
  }
}

// The engine, its sessions and its model's handle may go; another engine of the
// model takes it up.
TEST(Checkpoint, OutlivesItsEngine) {
  const Tokens tokens = toyTokens(40);
  ToyOptions keys;
  keys.withKeys = true;
  TemporaryFile file(makeToyArtifact(keys));
  Model model(file.path());
  std::optional<Checkpoint> kept;
  {
    Engine engine(model, Device::host(1));
    Session session(engine);
    engine.prefill(session, part(tokens, 0, 30));
    kept.emplace(session);
  }
  Engine other(model, Device::host(2), 2);
  Session session(other);
  session.restore(*kept);
  EXPECT_EQ(other.prefill(session, part(tokens, 30, 40)),
            rowsFrom(ToyReference().feed(tokens), 39));
}

TEST(Checkpoint, RefusesWhatDoesNotFit) {
  Toy toy, other;
  Session session(toy.engine), later(toy.engine), foreign(other.engine);
  toy.engine.prefill(session, {1, 2});
  toy.engine.prefill(later, {1, 2, 3});
  Checkpoint checkpoint(later);
  EXPECT_EQ(messageOf([&] { Checkpoint(session, checkpoint); },
                      EFFC_INVALID_ARGUMENT),
            "'parent' is at position 3, but the sequence has taken 2 tokens");
  EXPECT_EQ(messageOf([&] { Checkpoint(foreign, checkpoint); },
                      EFFC_INVALID_ARGUMENT),
            "'parent' is of another model");
  EXPECT_EQ(
      messageOf([&] { foreign.restore(checkpoint); }, EFFC_INVALID_ARGUMENT),
      "'checkpoint' is of another model");
  EXPECT_EQ(foreign.position(), 0u);
}
