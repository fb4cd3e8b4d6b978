#include "frontend/gguf/Metadata.h"

#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/gguf/GgufImage.h"

#include "frontend/gguf/Header.h"

#include <cmath>

using namespace effc::frontend;
using namespace effc::test;
using Type = GgufValueType;

static GgufMetadata metadataOf(const GgufBuilder &builder) {
  std::string image = builder.build();
  return llvm::cantFail(
             parseGgufHeader(llvm::arrayRefFromStringRef(image), "m.gguf"))
      .metadata;
}

TEST(GgufMetadataTest, TakesIntegersOfAnyWidth) {
  GgufMetadata keys =
      metadataOf(GgufBuilder()
                     .raw("u8", Type::U8, gguf(uint8_t(200)))
                     .raw("i8", Type::I8, gguf(int8_t(-2)))
                     .raw("u16", Type::U16, gguf(uint16_t(60000)))
                     .raw("i16", Type::I16, gguf(int16_t(-3)))
                     .raw("i32", Type::I32, gguf(int32_t(-4)))
                     .raw("u64", Type::U64, gguf(uint64_t(5)))
                     .raw("i64", Type::I64, gguf(int64_t(-6)))
                     .raw("f64", Type::F64, gguf(0.125)));
  EXPECT_EQ(keys.getInteger("u8", 0, 255), 200);
  EXPECT_EQ(keys.getInteger("i8", -2, 0), -2);
  EXPECT_EQ(keys.getInteger("u16", 0, 65535), 60000);
  EXPECT_EQ(keys.getInteger("i16", -3, 0), -3);
  EXPECT_EQ(keys.getInteger("i32", -4, 0), -4);
  EXPECT_EQ(keys.getInteger("u64", 5, 5), 5);
  EXPECT_EQ(keys.getInteger("i64", -6, 0), -6);
  EXPECT_EQ(keys.getNumber("f64", 0, 1), 0.125);
  EXPECT_EQ(keys.getInteger("none", 0, 1), std::nullopt);
  EXPECT_EQ(outcome(keys.getProblem()), "success");
}

// Each with the type or the range that the getter does not take.
TEST(GgufMetadataTest, RefusesOtherTypes) {
  const GgufBuilder builder = GgufBuilder()
                                  .real("f", 4)
                                  .number("n", 7)
                                  .text("t", "a")
                                  .flag("b", true)
                                  .array<int32_t>("is", Type::I32, {1, 2, 300})
                                  .raw("huge", Type::U64, gguf(~uint64_t(0)));
  auto problem = [&](auto ask) {
    GgufMetadata keys = metadataOf(builder);
    ask(keys);
    return outcome(keys.getProblem());
  };
  using Keys = GgufMetadata;
  EXPECT_EQ(problem([](Keys &k) { k.getInteger("f", 1, 9); }),
            "m.gguf: expects 'f' to be an integer in 1..9, but got 4 (f32)");
  EXPECT_EQ(problem([](Keys &k) { k.getInteger("n", 8, 9); }),
            "m.gguf: expects 'n' to be an integer in 8..9, but got 7 (u32)");
  EXPECT_EQ(problem([](Keys &k) { k.getInteger("huge", -1, 9); }),
            "m.gguf: expects 'huge' to be an integer in -1..9, but got "
            "18446744073709551615 (u64)");
  EXPECT_EQ(problem([](Keys &k) { k.requireInteger("none", 1, 9); }),
            "m.gguf: lacks key 'none'");
  EXPECT_EQ(problem([](Keys &k) { k.getNumber("n", 0, 9); }),
            "m.gguf: expects 'n' to be a float in 0..9, but got 7 (u32)");
  EXPECT_EQ(problem([](Keys &k) { k.getNumber("f", 0, 3.5); }),
            "m.gguf: expects 'f' to be a float in 0..3.5, but got 4 (f32)");
  EXPECT_EQ(problem([](Keys &k) { k.getBoolean("n"); }),
            "m.gguf: expects 'n' to be a bool, but got 7 (u32)");
  EXPECT_EQ(problem([](Keys &k) { k.getString("b"); }),
            "m.gguf: expects 'b' to be a string, but got true (bool)");
  EXPECT_EQ(problem([](Keys &k) { k.getStrings("t"); }),
            "m.gguf: expects 't' to be an array of strings, but got \"a\" "
            "(string)");
  EXPECT_EQ(problem([](Keys &k) { k.getIntegers("is", 0, 400, 5); }),
            "m.gguf: expects 'is' to be an array of 5 integers, but got an "
            "array of 3 i32");
  EXPECT_EQ(problem([](Keys &k) { k.getIntegers("is", 0, 9); }),
            "m.gguf: expects 'is' to have integers in 0..9, but element 2 is "
            "300");
  EXPECT_EQ(problem([](Keys &k) { k.getNumbers("is"); }),
            "m.gguf: expects 'is' to be an array of floats, but got an array "
            "of 3 i32");
  EXPECT_EQ(problem([](Keys &k) { k.getBooleans("is"); }),
            "m.gguf: expects 'is' to be an array of bools, but got an array of "
            "3 i32");
  EXPECT_EQ(problem([](Keys &k) {
              k.getInteger("f", 1, 9);
              k.requireInteger("none", 1, 9);
            }),
            "m.gguf: expects 'f' to be an integer in 1..9, but got 4 (f32); "
            "lacks key 'none'");
}

TEST(GgufMetadataTest, RefusesNaN) {
  GgufMetadata keys = metadataOf(
      GgufBuilder().array<float>("s", Type::F32, {1, NAN}).real("f", NAN));
  EXPECT_FALSE(keys.getNumbers("s"));
  EXPECT_FALSE(keys.getNumber("f", -INFINITY, INFINITY));
  EXPECT_EQ(outcome(keys.getProblem()),
            "m.gguf: expects 's' to have numbers, but element 1 is NaN; "
            "expects 'f' to be a float in -inf..inf, but got nan (f32)");
}

TEST(GgufMetadataTest, OneIntegerStandsForAll) {
  GgufMetadata keys = metadataOf(GgufBuilder().number("one", 3).array<uint32_t>(
      "each", Type::U32, {5, 0, 7}));
  EXPECT_EQ(*keys.getIntegerForEach("one", 0, 9, 2),
            (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(*keys.getIntegerForEach("each", 0, 9, 3),
            (std::vector<int64_t>{5, 0, 7}));
  EXPECT_FALSE(keys.getIntegerForEach("each", 0, 9, 4));
  EXPECT_EQ(outcome(keys.getProblem()),
            "m.gguf: expects 'each' to be an array of 4 integers, but got an "
            "array of 3 u32");
}

TEST(GgufMetadataTest, KnowsWhatNobodyAskedFor) {
  GgufMetadata keys = metadataOf(GgufBuilder()
                                     .number("llama.a", 1)
                                     .number("llama.b", 2)
                                     .number("general.c", 3)
                                     .number("llama.d", 4));
  EXPECT_TRUE(keys.has("llama.a"));
  keys.getInteger("llama.b", 0, 9);
  EXPECT_EQ(keys.getUnread("llama."),
            (std::vector<llvm::StringRef>{"llama.a", "llama.d"}));
  keys.ignore({"llama.a"});
  EXPECT_EQ(keys.getUnread(),
            (std::vector<llvm::StringRef>{"general.c", "llama.d"}));
}
