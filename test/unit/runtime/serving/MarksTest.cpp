// Marks of sequences: what was fed after one is taken back, to the byte, also where a
// window has put tokens in the place of others.

#include "test/unit/runtime/serving/CopiedText.h"

using namespace effc;
using namespace effc::test;

static Text textOf(uint64_t size) {
  Text text;
  for (uint64_t t = 0; t < size; ++t)
    text.push_back(static_cast<int32_t>(t * t % 101));
  return text;
}

// Positions before the window's first turn, at it, and behind; as many tokens as may be.
TEST(Marks, TakeTokensBackFromWindows) {
  TextModel model = TextModel::window();
  ASSERT_EQ(model.layout.mostTakenBack(), 10u);
  for (uint64_t position : {1, 4, 9, 10, 11, 15, 20, 137})
    for (uint64_t count = 1; count <= 10; ++count) {
      Text text = textOf(position + count);
      rt::CopiedStates mark =
          model.mark(Text(text.begin(), text.end() - ptrdiff_t(count)), count);
      ASSERT_EQ(mark.position, position);
      for (uint64_t kept = 0; kept <= count; ++kept)
        model.expectTakenBack(mark, text, kept);
    }
}

// Fewer tokens than were marked for are taken back by the same mark.
TEST(Marks, AreForFewerTokensToo) {
  TextModel model = TextModel::windowHybrid();
  Text text = textOf(40);
  for (uint64_t fed = 0; fed <= 6; ++fed) {
    Text fedText(text.begin(), text.begin() + ptrdiff_t(30 + fed));
    rt::CopiedStates mark =
        model.mark(Text(text.begin(), text.begin() + 30), 6);
    model.expectTakenBack(mark, fedText, 0);
  }
}

// A mark has what would be lost, and no more.
TEST(Marks, AreSmall) {
  Text text = textOf(300);
  EXPECT_EQ(TextModel::attention().mark(text, 8).bytes(), 0u);
  EXPECT_EQ(TextModel::recurrent().mark(text, 8).bytes(), 700u);
  EXPECT_EQ(TextModel::window().mark(text, 3).bytes(), 3 * 20u);
  EXPECT_EQ(TextModel::windowHybrid().mark(text, 3).bytes(), 40 + 3 * 20u);
  EXPECT_EQ(TextModel::recurrent().layout.mostTakenBack(), UINT64_MAX);
}
