// Texts of generation_config.json at which a generation is to end.
#include "frontend/Import.h"

#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/TinyMamba2.h"

using namespace effc::frontend;
using namespace effc::test;

/// What becomes of a model with this for its "stop_strings".
static std::string importing(const std::string &stops) {
  TemporaryDirectory directory;
  TinyMamba2().write(directory);
  directory.write("generation_config.json",
                  "{\"stop_strings\": " + stops + "}");
  mlir::MLIRContext context;
  return outcome(importModel(context, directory.path, {}));
}

// A reader in C would take "y\0z" for "y" and end a generation at that.
TEST(StopTexts, HoldNoZeroByte) {
  for (const char *stops :
       {R"(["a", "y\u0000"])", R"(["\u0000y"])", R"("y\u0000z")"}) {
    std::string result = importing(stops);
    EXPECT_EQ(result.find("generation_config.json: expects 'stop_strings' to "
                          "be texts of 1 to 1024 bytes, none of them zero, but "
                          "got \""),
              0u)
        << result;
  }
  EXPECT_EQ(importing(R"(["a", "y\\u0000"])"), "success");
}

TEST(StopTexts, HaveALength) {
  std::string longest(1024, 'x');
  EXPECT_EQ(importing("\"" + longest + "\""), "success");
  EXPECT_EQ(importing("\"" + longest + "x\"")
                .find("generation_config.json: expects 'stop_strings' to be "
                      "texts of 1 to 1024 bytes"),
            0u);
}
