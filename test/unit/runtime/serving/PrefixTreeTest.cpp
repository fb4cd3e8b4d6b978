// The tree of prefixes against a list of all texts that were put into it: what is
// found, what its states are, and what is given up.

#include "runtime/src/serving/PrefixTree.h"
#include "test/unit/runtime/serving/CopiedText.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace effc;
using namespace effc::rt;
using namespace effc::test;

static constexpr Exactness kAnywhere = {Exactness::Kind::Anywhere, 1};
static constexpr uint64_t kMost = UINT64_MAX;

namespace {
/// A tree over the texts of a model of these states.
struct Texts {
  explicit Texts(const TextModel &model, uint64_t budget = uint64_t(1) << 40)
      : model(model), tree(model.layout, budget) {}

  /// Whether there was room.
  bool put(const Text &text, bool byPrefill = true, uint64_t uses = 1,
           const char *salt = "") {
    PrefixTree::Gap gap = tree.gapOf(salt, text);
    if (gap.isKept)
      return true;
    uint64_t before = tree.bytes();
    if (!tree.makeRoom(salt, text, gap.bytes))
      return false;
    EXPECT_LE(tree.bytes(), before);
    before = tree.bytes();
    tree.put(salt, text, model.copy(text, gap.firstRow), byPrefill, uses);
    EXPECT_LE(tree.bytes(), before + gap.bytes);
    EXPECT_TRUE(tree.isSound());
    return true;
  }
  /// Its states are those of the text, as far as the tree has it.
  PrefixMatch find(const Text &text, uint64_t most = kMost,
                   const char *salt = "") {
    PrefixMatch match = tree.find(salt, text, most, kAnywhere);
    EXPECT_LE(match.position, std::min<uint64_t>(match.matched, most));
    if (match.position > 0)
      model.expectStates(
          match.states,
          Text(text.begin(), text.begin() + ptrdiff_t(match.position)));
    return match;
  }

  const TextModel &model;
  PrefixTree tree;
};
} // namespace

static Text of(const char *text) {
  return Text(text, text + std::char_traits<char>::length(text));
}

static uint64_t shared(const Text &a, const Text &b) {
  return static_cast<uint64_t>(
      std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

TEST(PrefixTree, FixedStatesAreFoundWhereTheyWereCopied) {
  TextModel model = TextModel::recurrent();
  Texts texts(model);
  texts.put(of("abcdef"));
  EXPECT_EQ(texts.find(of("abcdefgh")).position, 6u);
  EXPECT_EQ(texts.find(of("abcdef"), 5).position, 0u);
  PrefixMatch inside = texts.find(of("abcxyz"));
  EXPECT_EQ(inside.matched, 3u);
  EXPECT_EQ(inside.position, 0u);
  texts.put(of("abc")); // cuts the edge
  EXPECT_EQ(texts.find(of("abcxyz")).position, 3u);
  EXPECT_EQ(texts.find(of("abcdefgh")).position, 6u);
  EXPECT_EQ(texts.tree.places(), 2u);
}

TEST(PrefixTree, RowsAloneAreFoundAnywhere) {
  TextModel model = TextModel::attention();
  Texts texts(model);
  Text text = of("abcdef");
  texts.put(text);
  for (uint64_t most = 1; most <= 6; ++most)
    EXPECT_EQ(texts.find(text, most).position, most);
  EXPECT_EQ(texts.find(of("abcx")).position, 3u);
}

// What two texts share is there once.
TEST(PrefixTree, SharesRows) {
  TextModel model = TextModel::hybrid();
  Texts texts(model);
  Text text(300, 7), other(300, 7);
  texts.put(text);
  uint64_t first = texts.tree.bytes();
  other.resize(310, 8);
  texts.put(other);
  EXPECT_LT(texts.tree.bytes() - first,
            model.layout.sizeOfFixed() + 12 * model.rowBytes() + 1000);
}

TEST(PrefixTree, SaltsSeeNothingOfEachOther) {
  TextModel model = TextModel::attention();
  Texts texts(model);
  texts.put(of("abc"), true, 1, "one");
  EXPECT_EQ(texts.find(of("abcd"), kMost, "one").position, 3u);
  PrefixMatch other = texts.find(of("abcd"), kMost, "two");
  EXPECT_EQ(other.matched, 0u);
  EXPECT_TRUE(other.isNewSalt);
  texts.put(of("x"), true, 1, "two");
  EXPECT_FALSE(texts.find(of("abcd"), kMost, "two").isNewSalt);
}

// On a grid of 4, of tokens that were all taken by prefill.
TEST(PrefixTree, SaysWhereOtherBitsWouldFollow) {
  Exactness grid = {Exactness::Kind::OnGrid, 4};
  TextModel recurrent = TextModel::recurrent(),
            attention = TextModel::attention();
  Texts fixed(recurrent), rows(attention);
  Text text = of("abcdefghij");
  for (size_t length : {4, 6, 8})
    fixed.put(Text(text.begin(), text.begin() + ptrdiff_t(length)),
              length != 8);
  PrefixMatch match = fixed.tree.find("", text, kMost, grid);
  EXPECT_EQ(match.position, 4u);
  EXPECT_EQ(match.inexact, 8u); // those were taken by decoding
  match = fixed.tree.find("", text, kMost, grid, true);
  EXPECT_EQ(match.position, 8u);
  EXPECT_FALSE(match.isExact);
  match = fixed.tree.find("", text, kMost, {});
  EXPECT_EQ(match.position, 0u);
  EXPECT_EQ(match.inexact, 8u);
  rows.put(text);
  match = rows.tree.find("", text, 9, grid);
  EXPECT_EQ(match.position, 8u);
  EXPECT_EQ(match.inexact, 9u);
}

// What is used more, costs less and saves more stays; what is old goes.
TEST(PrefixTree, GivesUpWhatIsWorthLeast) {
  TextModel model = TextModel::recurrent();
  uint64_t each = 2 * 256 + model.layout.sizeOfFixed() + 200;
  Texts texts(model, 4 * each);
  Text often(20, 1), rarely(20, 2), longer(40, 3);
  for (const Text *text : {&often, &rarely, &longer})
    texts.put(*text);
  for (int i = 0; i < 3; ++i)
    texts.tree.use("", often, 20);
  for (int32_t other = 10; texts.tree.evictions() == 0; ++other)
    texts.put(Text(20, other));
  EXPECT_EQ(texts.find(rarely).position, 0u);
  EXPECT_EQ(texts.find(rarely).evicted, 20u);
  EXPECT_EQ(texts.find(often).position, 20u);
  EXPECT_EQ(texts.find(longer).position, 40u);
  // Nothing is worth anything for ever.
  for (int32_t other = 100; other < 200; ++other)
    texts.put(Text(20, other));
  EXPECT_EQ(texts.find(often).position, 0u);
  EXPECT_FALSE(texts.put(Text(100000, 5))); // does not fit alone
}

// Random texts that share beginnings, of each kind of model, with much room and
// with little: against all texts that were put in.
static void tryAtRandom(const TextModel &model, uint64_t budget,
                        uint32_t seed) {
  std::mt19937 random(seed);
  Texts texts(model, budget);
  std::vector<Text> all;
  uint64_t hits = 0;
  auto randomText = [&] {
    Text text;
    if (!all.empty() && random() % 4 != 0) {
      const Text &other = all[random() % all.size()];
      text.assign(other.begin(),
                  other.begin() + ptrdiff_t(random() % (other.size() + 1)));
    }
    size_t more = 1 + random() % (random() % 3 == 0 ? 150 : 9);
    for (size_t i = 0; i < more; ++i)
      text.push_back(static_cast<int32_t>(random() % 3));
    return text;
  };
  for (int round = 0; round < 300; ++round) {
    Text text = randomText();
    PrefixMatch match = texts.find(text);
    uint64_t matched = 0, place = 0;
    for (const Text &other : all) {
      uint64_t same = shared(text, other);
      matched = std::max(matched, same);
      if (same == other.size())
        place = std::max(place, same);
    }
    if (texts.tree.evictions() == 0) {
      ASSERT_EQ(match.matched, matched);
      if (!model.hasWindow)
        ASSERT_EQ(match.position, model.hasFixed ? place : matched);
      else
        ASSERT_GE(match.position, place);
    } else {
      ASSERT_LE(match.matched, matched);
      if (match.position < place)
        ASSERT_GE(match.evicted, match.position);
    }
    hits += match.position > 0;
    if (match.position > 0)
      texts.tree.use("", text, match.position);
    if (random() % 3 != 0 && texts.put(text))
      all.push_back(text);
    ASSERT_TRUE(texts.tree.isSound());
  }
  EXPECT_GT(hits, 20u);
  if (budget < uint64_t(1) << 30)
    EXPECT_GT(texts.tree.evictions(), 10u);
}

TEST(PrefixTree, IsWhatAListOfTextsIs) {
  uint32_t seed = 0;
  for (const TextModel &model :
       {TextModel::recurrent(), TextModel::attention(), TextModel::hybrid(),
        TextModel::window(), TextModel::windowHybrid()})
    for (uint64_t budget : {uint64_t(1) << 40, uint64_t(60000)})
      for (int i = 0; i < 4; ++i)
        tryAtRandom(model, budget, ++seed);
}

// One token at a time: chains longer than a stack.
TEST(PrefixTree, TakesLongChains) {
  TextModel model = TextModel::recurrent();
  Texts texts(model);
  Text text;
  for (int i = 0; i < 2000; ++i) {
    text.push_back(i);
    texts.tree.put("", text, model.copy(text, text.size()), true);
  }
  EXPECT_EQ(texts.find(text).position, 2000u);
}
