#include "passes/seq/ForcedForm.h"

#include <gtest/gtest.h>

using namespace effc;

TEST(ForcedForm, IsSpelledAsItIsRead) {
  for (const char *text : {"step", "quadratic", "scan", "chunkwise",
                           "chunkwise:1", "chunkwise:1024"}) {
    std::optional<ForcedForm> form = parseForcedForm(text);
    ASSERT_TRUE(form) << text;
    EXPECT_EQ(spell(*form), text);
  }
  EXPECT_EQ(parseForcedForm("chunkwise:24"),
            (ForcedForm{seq::FormKind::Chunkwise, 24}));
  EXPECT_EQ(parseForcedForm("chunkwise"), ForcedForm{seq::FormKind::Chunkwise});
}

TEST(ForcedForm, RefusesWhatSpellsNone) {
  for (const char *text : {"", "moon", "step:4", "scan:", "quadratic:16", ":16",
                           "chunkwise:", "chunkwise:0", "chunkwise:-1",
                           "chunkwise:1025", "chunkwise:16x", "chunkwise:16:16",
                           "chunkwise:99999999999999999999", "Step"})
    EXPECT_FALSE(parseForcedForm(text)) << text;
}
