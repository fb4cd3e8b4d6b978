// What MLIR's reader cannot take ends a child, and is a line here.
#include "tools/effc-verify/SeqModule.h"

#include "tools/terminal/Failure.h"

#include <gtest/gtest.h>

using namespace effc;
using namespace effc::verify;

static std::string complaint(const std::string &bytecode) {
  try {
    requireReadable(bytecode);
    return "";
  } catch (const cli::Failure &failure) {
    return failure.what();
  }
}

// The text is read, too, by the function that reads bytecode: here it stands
// for a module that is sound.
TEST(SeqModule, TakesAModule) { EXPECT_EQ(complaint("module {}"), ""); }

TEST(SeqModule, RefusesWhatIsNone) {
  for (const char *text : {"nonsense", "ML\xefR", "ML\xefR\r\xff\xff\xff"})
    EXPECT_EQ(complaint(text), "the file's seq module is damaged: it is not "
                               "one that this compiler takes");
}

// A reader that recurses ends with its stack.
TEST(SeqModule, OutlivesWhatEndsTheReader) {
  std::string deep;
  for (int i = 0; i < 200000; ++i)
    deep += "module {";
  deep += std::string(200000, '}');
  EXPECT_EQ(complaint(deep).find("the file's seq module is damaged: "), 0u);
}
