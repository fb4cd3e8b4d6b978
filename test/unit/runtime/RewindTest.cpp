// Sequences that go back: what follows has the bits that it would have had without the
// tokens that were taken back, whatever kinds of states there are.

#include "test/unit/runtime/serving/CachedToy.h"
#include "test/unit/runtime/toy/ToyOnDevice.h"

#include <random>

using namespace effc;
using namespace effc::test;
using Tokens = std::vector<int32_t>;

namespace {
struct Toy {
  explicit Toy(ToyStates states)
      : file(makeToyArtifact(toyOf(states))), model(file.path()),
        engine(model, Device::host(1), 2), session(engine) {}

  /// Feeds `tokens` behind `text`; the logits are those of all of it, never rewound.
  void feed(const Tokens &tokens) {
    text = joined(text, tokens);
    std::vector<float> all = ToyReference().feed(text);
    std::vector<float> expected(
        all.end() - ptrdiff_t(tokens.size() * kToyVocabulary), all.end());
    EXPECT_EQ(engine.prefill(session, tokens, EFFC_LOGITS_ALL), expected);
  }
  /// The session has gone back to `position`; the text, too.
  void wentBackTo(uint64_t position) {
    ASSERT_EQ(session.position(), position);
    text.resize(position);
  }

  TemporaryFile file;
  Model model;
  Engine engine;
  Session session;
  Tokens text;
};
} // namespace

TEST(Rewind, KeysGoBackByThemselves) {
  Toy toy(ToyStates::KeysAlone);
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    toy.feed(textOf(1 + random() % 7, 100 + uint32_t(round)));
    uint64_t count = random() % (toy.text.size() + 1);
    toy.session.rewind(count);
    toy.wentBackTo(toy.text.size() - count);
  }
  toy.session.rewind(toy.session.position());
  toy.wentBackTo(0);
  toy.feed({1, 2, 3});
}

// Up to 6 tokens are tried, and some are taken back: fixed states go back to the mark,
// and the tokens between are fed again. The hybrid's window is full before the
// end.
TEST(Rewind, FixedStatesGoBackToAMark) {
  for (ToyStates states : {ToyStates::Fixed, ToyStates::Hybrid}) {
    Toy toy(states);
    std::mt19937 random(7);
    toy.feed(textOf(3, 1));
    Checkpoint mark(toy.session);
    for (int round = 0; round < 120; ++round) {
      Tokens tried = textOf(1 + random() % 6, 100 + uint32_t(round));
      toy.feed(tried);
      uint64_t wrong = 1 + random() % tried.size();
      Tokens again(tried.begin(), tried.end() - ptrdiff_t(wrong));
      toy.session.rewind(wrong, mark);
      toy.wentBackTo(mark.position());
      if (!again.empty())
        toy.feed(again);
      mark = Checkpoint(toy.session, mark);
    }
    EXPECT_GT(toy.text.size(), 2 * kToyWindow);
  }
}

TEST(Rewind, TheBeginningNeedsNoMark) {
  for (ToyStates states : kToyStates) {
    Toy toy(states);
    toy.feed(textOf(20, 1));
    toy.session.rewind(20);
    toy.wentBackTo(0);
    toy.feed(textOf(5, 2));
  }
}

// Nothing is lost by what is refused.
TEST(Rewind, SaysWhatIsMissing) {
  Toy toy(ToyStates::Fixed);
  toy.feed(textOf(9, 1));
  Checkpoint mark(toy.session);
  toy.feed(textOf(4, 2));
  EXPECT_EQ(
      messageOf([&] { toy.session.rewind(1); }, EFFC_UNSUPPORTED),
      "the sequence cannot go back by itself: states of a fixed size hold "
      "all of its tokens at once; 'mark' is to be a checkpoint from "
      "before");
  EXPECT_EQ(
      messageOf([&] { toy.session.rewind(14, mark); }, EFFC_INVALID_ARGUMENT),
      "'count' is 14, but the sequence has 13 tokens");
  EXPECT_EQ(
      messageOf([&] { toy.session.rewind(5, mark); }, EFFC_INVALID_ARGUMENT),
      "'mark' is at position 9, but the sequence is to go back to 8");
  Toy other(ToyStates::Fixed);
  other.feed(textOf(3, 1));
  Checkpoint foreign(other.session);
  EXPECT_EQ(
      messageOf([&] { toy.session.rewind(1, foreign); }, EFFC_INVALID_ARGUMENT),
      "'mark' is of another model");
  toy.session.rewind(0);
  toy.feed({5});
}
