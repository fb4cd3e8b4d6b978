// Tensors that are cut or turned anew, of elements that are whole bytes and of those
// that are not.
#include "frontend/checkpoint/RecutTensors.h"
#include "frontend/checkpoint/ElementBytes.h"
#include "frontend/checkpoint/TurnedMatrices.h"

#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/SafetensorsImage.h"
#include "test/unit/frontend/TemporaryDirectory.h"

using namespace effc::frontend;
using namespace effc::test;

namespace {

class RecutTensors : public testing::Test {
protected:
  std::unique_ptr<Checkpoint> open(SafetensorsBuilder &builder) {
    directory.write("model.safetensors", builder.build());
    return llvm::cantFail(Checkpoint::open(directory.path));
  }
  static std::string bytes(const Checkpoint &checkpoint, llvm::StringRef name) {
    return llvm::toStringRef(llvm::cantFail(checkpoint.getData(name)).bytes)
        .str();
  }

  TemporaryDirectory directory;
};

TEST_F(RecutTensors, CutsWholeBytes) {
  SafetensorsBuilder builder;
  builder.add("a", "F16", {2, 1, 2}, "abcdefgh");
  builder.add("b", "F16", {1, 1, 2}, "ijkl");
  auto checkpoint = open(builder);
  recutTensors(*checkpoint, {"a", "b"}, {1, 2});
  EXPECT_EQ(bytes(*checkpoint, "a"), "abcd");
  EXPECT_EQ(bytes(*checkpoint, "b"), "efghijkl");
}

// Two elements of 4 bits are a byte, four of 6 bits three.
TEST_F(RecutTensors, CutsElementsThatShareBytes) {
  SafetensorsBuilder builder;
  builder.add("a", "F4", {3, 2}, "abc");
  builder.add("b", "F4", {1, 2}, "d");
  builder.add("c", "F6_E2M3", {1, 4}, "efg");
  builder.add("d", "F6_E2M3", {3, 4}, "hijklmnop");
  auto checkpoint = open(builder);
  recutTensors(*checkpoint, {"a", "b"}, {1, 3});
  EXPECT_EQ(bytes(*checkpoint, "a"), "a");
  EXPECT_EQ(bytes(*checkpoint, "b"), "bcd");
  recutTensors(*checkpoint, {"c", "d"}, {2, 2});
  EXPECT_EQ(bytes(*checkpoint, "c"), "efghij");
  EXPECT_EQ(bytes(*checkpoint, "d"), "klmnop");
}

// Rows of one element: two of them end with a byte, three do not.
TEST_F(RecutTensors, LeavesWhatWouldBeCutInsideAByte) {
  SafetensorsBuilder builder;
  builder.add("a", "F4", {2, 1}, "a");
  builder.add("b", "F4", {4, 1}, "bc");
  auto checkpoint = open(builder);
  recutTensors(*checkpoint, {"a", "b"}, {3, 3});
  EXPECT_EQ(bytes(*checkpoint, "a"), "a");
  EXPECT_EQ(checkpoint->find("a")->entry->shape, (std::vector<uint64_t>{2, 1}));
  recutTensors(*checkpoint, {"a", "b"}, {4, 2});
  EXPECT_EQ(bytes(*checkpoint, "a"), "ab");
  EXPECT_EQ(bytes(*checkpoint, "b"), "c");
}

TEST_F(RecutTensors, TurnsMatricesOfWholeBytesAlone) {
  SafetensorsBuilder builder;
  builder.add("a", "F16", {2, 1, 2}, "abcdefgh");
  builder.add("b", "F8_E4M3", {1, 2, 3}, "abcdef");
  builder.add("c", "F4", {1, 2, 2}, "ab");
  auto checkpoint = open(builder);
  EXPECT_EQ(outcome(turnMatrices(*checkpoint, {"a"}, {2, 1, 2})), "success");
  EXPECT_EQ(bytes(*checkpoint, "a"), "abcdefgh");
  EXPECT_EQ(outcome(turnMatrices(*checkpoint, {"b"}, {1, 2, 3})), "success");
  EXPECT_EQ(bytes(*checkpoint, "b"), "adbecf");
  EXPECT_EQ(outcome(turnMatrices(*checkpoint, {"c"}, {1, 2, 2})),
            "model.safetensors: expects tensor 'c' of elements that are whole "
            "bytes, but got F4");
  EXPECT_EQ(outcome(turnMatrices(*checkpoint, {"c"}, {1, 2, 4})),
            "model.safetensors: expects tensor 'c' of shape 1x2x4, but got "
            "1x2x2");
}

TEST(ElementBytes, AreAbsentInsideAByte) {
  EXPECT_EQ(bytesOf(ElementType::F4, 6), 3u);
  EXPECT_EQ(bytesOf(ElementType::F4, 3), std::nullopt);
  EXPECT_EQ(bytesOf(ElementType::F6E3M2, 4), 3u);
  EXPECT_EQ(bytesOf(ElementType::F6E3M2, 2), std::nullopt);
  EXPECT_EQ(bytesOf(ElementType::I64, 3), 24u);
  EXPECT_EQ(bytesOf(ElementType::F4, 0), 0u);
}

} // namespace
