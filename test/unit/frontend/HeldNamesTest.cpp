// Tensors by the names of the public library's memory.
#include "frontend/checkpoint/HeldNames.h"

#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/SafetensorsImage.h"
#include "test/unit/frontend/TemporaryDirectory.h"

using namespace effc::frontend;
using namespace effc::test;

namespace {

class HeldNamesTest : public testing::Test {
protected:
  HeldNames choose(llvm::StringRef tensor) {
    SafetensorsBuilder builder;
    builder.add(tensor.str(), "F16", {1}, "ab");
    directory.write("model.safetensors", builder.build());
    auto checkpoint = llvm::cantFail(Checkpoint::open(directory.path));
    return HeldNames(
        *checkpoint,
        {{".attention.dense.", ".mixer.o."}, {".attention.", ".mixer."}},
        {".mixer."});
  }

  TemporaryDirectory directory;
};

TEST_F(HeldNamesTest, RulesChangeNamesInTurn) {
  HeldNames names = choose("l.0.mixer.q.weight");
  EXPECT_TRUE(names.areHeld());
  EXPECT_EQ(names.shownBy(), "l.0.mixer.q.weight");
  EXPECT_EQ(names.nameOf("l.0.attention.dense.weight"), "l.0.mixer.o.weight");
  EXPECT_EQ(names.nameOf("l.0.attention.q.weight"), "l.0.mixer.q.weight");
  EXPECT_EQ(names.nameOf("l.0.norm.weight"), "l.0.norm.weight");
}

TEST_F(HeldNamesTest, ReleasedNamesStay) {
  HeldNames names = choose("l.0.attention.q.weight");
  EXPECT_FALSE(names.areHeld());
  EXPECT_EQ(names.nameOf("l.0.attention.q.weight"), "l.0.attention.q.weight");
}

} // namespace
