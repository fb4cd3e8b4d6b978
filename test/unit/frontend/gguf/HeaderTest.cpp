// One test or more per rule of Header.h, named by its label.
#include "frontend/gguf/Header.h"

#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/gguf/GgufImage.h"

using namespace effc::frontend;
using namespace effc::test;
using Type = GgufValueType;

static llvm::Expected<GgufHeader> parse(const std::string &image) {
  return parseGgufHeader(llvm::arrayRefFromStringRef(image), "m.gguf");
}
static std::string refusal(const std::string &image) {
  return outcome(parse(image));
}
static std::string refusal(const GgufBuilder &builder) {
  return refusal(builder.build());
}
/// Of a file whose one tensor is described by these bytes.
static std::string refusalOfTensor(const std::string &info,
                                   size_t dataBytes = 64) {
  GgufBuilder builder;
  builder.infos = info;
  builder.tensorCount = 1;
  builder.data = std::string(dataBytes, '\0');
  return refusal(builder);
}
static std::string info(llvm::StringRef name, std::vector<int64_t> dimensions,
                        int32_t type, uint64_t offset) {
  std::string bytes = ggufText(name) + gguf(uint32_t(dimensions.size()));
  for (int64_t extent : dimensions)
    bytes += gguf(extent);
  return bytes + gguf(type) + gguf(offset);
}

// 5 floats are 20 bytes, after which 12 of padding follow; a block of Q8_0 has 32
// elements in 34 bytes, so 2 rows of 3 blocks are 204 bytes.
TEST(GgufHeaderTest, ReadsKeysAndTensors) {
  for (uint32_t version : {2, 3}) {
    GgufBuilder builder;
    builder.version = version;
    builder.text("general.architecture", "llama")
        .raw("a.i8", Type::I8, gguf(int8_t(-7)))
        .raw("a.u64", Type::U64, gguf(~uint64_t(0)))
        .real("a.f32", 0.25)
        .flag("a.bool", true)
        .texts("a.texts", {"x", "", "yz"})
        .array<int16_t>("a.shorts", Type::I16, {3, -300})
        .floats("v", {5}, {1, 2, 3, 4, 5})
        .tensor("w", {96, 2}, 8, std::string(204, '\1'));
    auto header = llvm::cantFail(parse(builder.build()));
    EXPECT_EQ(header.version, version);
    EXPECT_EQ(header.alignment, 32u);
    GgufMetadata &keys = header.metadata;
    EXPECT_EQ(*keys.getString("general.architecture"), "llama");
    EXPECT_EQ(keys.getInteger("a.i8", -10, 10), -7);
    EXPECT_EQ(keys.getNumber("a.f32", 0, 1), 0.25);
    EXPECT_EQ(keys.getBoolean("a.bool"), true);
    EXPECT_EQ(*keys.getStrings("a.texts"),
              (std::vector<std::string>{"x", "", "yz"}));
    EXPECT_EQ(*keys.getIntegers("a.shorts", -400, 400),
              (std::vector<int64_t>{3, -300}));
    EXPECT_EQ(keys.find("a.u64")->describe(), "18446744073709551615 (u64)");
    ASSERT_EQ(header.tensors.entries.size(), 2u);
    const TensorEntry &v = header.tensors.entries[0],
                      &w = header.tensors.entries[1];
    EXPECT_EQ(v.name, "v");
    EXPECT_EQ(v.type.getName(), "F32");
    EXPECT_FALSE(v.type.isBlocks());
    EXPECT_EQ(v.shape, std::vector<uint64_t>{5});
    EXPECT_EQ(v.end - v.begin, 20u);
    EXPECT_EQ(w.type.getName(), "Q8_0");
    EXPECT_TRUE(w.type.isBlocks());
    EXPECT_EQ(w.shape, (std::vector<uint64_t>{2, 96}));
    EXPECT_EQ(w.begin, 32u);
    EXPECT_EQ(w.end, 236u);
    EXPECT_EQ(header.tensors.dataOffset % 32, 0u);
  }
}

TEST(GgufHeaderTest, ReadsAFileWithoutTensors) {
  GgufBuilder builder;
  builder.text("general.architecture", "llama");
  std::string image = builder.build();
  EXPECT_EQ(refusal(image), "success");
  // Without the padding, which nothing follows.
  EXPECT_EQ(refusal(image.substr(0, 24 + builder.keys.size())), "success");
}

TEST(GgufHeaderTest, GG1_BeginsWithTheMagic) {
  GgufBuilder builder;
  builder.magic = "GGML";
  EXPECT_EQ(refusal(builder),
            "m.gguf: expects 'GGUF' at the start, but got 'GGML'");
  EXPECT_EQ(refusal(""), "m.gguf: expects 'GGUF' at the start, but got ''");
  EXPECT_EQ(refusal("version https://git-lfs.github.com/spec/v1"),
            "m.gguf: is a Git LFS pointer in the place of the file: fetch the "
            "file itself (git lfs pull)");
}

TEST(GgufHeaderTest, GG2_IsOfVersion2Or3) {
  GgufBuilder builder;
  for (auto [version, message] :
       {std::pair<uint32_t, const char *>{
            0, "m.gguf: expects version 2 or 3, but got 0"},
        {1, "m.gguf: expects version 2 or 3, but got 1, which no current "
            "program reads: convert the model again"},
        {4, "m.gguf: expects version 2 or 3, but got 4"},
        {0x03000000, "m.gguf: is of the other byte order (its version reads "
                     "50331648), for machines such as s390x: convert it to "
                     "little-endian (gguf-convert-endian of the package "
                     "gguf)"}}) {
    builder.version = version;
    EXPECT_EQ(refusal(builder), message);
  }
  EXPECT_EQ(refusal(builder.build().substr(0, 10)),
            "m.gguf: ends at byte 10, within the header");
}

// 8 bytes follow the counts, which no key and no tensor fits into.
TEST(GgufHeaderTest, GG3_CountsFitTheFile) {
  for (int64_t count :
       {int64_t(-1), int64_t(1) << 31, std::numeric_limits<int64_t>::max()}) {
    GgufBuilder builder;
    builder.keyCount = count;
    EXPECT_EQ(refusal(builder),
              "m.gguf: expects the number of keys to be in 0..0, which the "
              "file has room for, but got " +
                  std::to_string(count));
    builder.keyCount = 0;
    builder.tensorCount = count;
    EXPECT_EQ(refusal(builder),
              "m.gguf: expects the number of tensors to be in 0..0, which the "
              "file has room for, but got " +
                  std::to_string(count));
  }
}

TEST(GgufHeaderTest, GG4_KeysHaveNames) {
  EXPECT_EQ(refusal(GgufBuilder().number("", 1)),
            "m.gguf: the name of key 0 is empty");
  EXPECT_EQ(refusal(GgufBuilder().number("a", 1).number("b", 2).number("a", 1)),
            "m.gguf: key 'a' occurs twice");
  EXPECT_EQ(refusal(GgufBuilder().number(std::string(65536, 'k'), 1)),
            "m.gguf: expects the name of key 0 to have at most 65535 bytes, "
            "but got 65536");
  EXPECT_EQ(refusal(GgufBuilder().number(std::string(65535, 'k'), 1)),
            "success");
}

TEST(GgufHeaderTest, GG5_TypesAreKnown) {
  EXPECT_EQ(refusal(GgufBuilder().raw("a", Type(13), gguf(uint64_t(0)))),
            "m.gguf: key 'a': expects a type of values in 0..12, but got 13");
  EXPECT_EQ(refusal(GgufBuilder().raw("a", Type(~0u), gguf(uint64_t(0)))),
            "m.gguf: key 'a': expects a type of values in 0..12, but got -1");
  EXPECT_EQ(refusal(GgufBuilder().array<uint8_t>("a", Type(13), {1})),
            "m.gguf: key 'a': expects a type of elements in 0..12, but got 13");
  EXPECT_EQ(refusal(GgufBuilder().array<uint64_t>("a", Type::Array, {1})),
            "m.gguf: key 'a' is an array of arrays, which is not read");
}

// 32 bytes of the header with padding follow 24 + 8 + 1 + 4 + 8 = 45.
TEST(GgufHeaderTest, GG6_StringsEndWithinTheFile) {
  EXPECT_EQ(refusal(GgufBuilder().raw("a", Type::String, gguf(uint64_t(20)))),
            "m.gguf: key 'a' has 20 bytes, but the file has 19 left");
  EXPECT_EQ(
      refusal(GgufBuilder().raw("a", Type::String, gguf(uint64_t(1) << 63))),
      "m.gguf: expects key 'a' to have at most 1073741824 bytes, but got "
      "9223372036854775808");
  GgufBuilder name;
  name.keys = gguf(uint64_t(60000)) + "abc";
  name.keyCount = 1;
  name.keys.resize(40);
  EXPECT_EQ(refusal(name), "m.gguf: the name of key 0 has 60000 bytes, but the "
                           "file has 32 left");
}

TEST(GgufHeaderTest, GG6_ArraysEndWithinTheFile) {
  auto array = [](Type type, uint64_t count) {
    return GgufBuilder().raw("a", Type::Array,
                             gguf(uint32_t(type)) + gguf(count));
  };
  // 24 + 8 + 1 + 4 + 4 + 8 = 49 bytes, so 15 of padding are left.
  EXPECT_EQ(refusal(array(Type::U16, 8)), "m.gguf: key 'a' has 8 elements of "
                                          "u16, but the file has 15 bytes "
                                          "left");
  EXPECT_EQ(refusal(array(Type::U16, 7)), "success");
  EXPECT_EQ(refusal(array(Type::String, 2)),
            "m.gguf: key 'a' has 2 elements of string, but the file has 15 "
            "bytes left");
  for (uint64_t count : {(uint64_t(1) << 26) + 1, uint64_t(1) << 63})
    EXPECT_EQ(refusal(array(Type::U8, count)),
              "m.gguf: key 'a': expects at most 67108864 elements, but got " +
                  std::to_string(count));
  EXPECT_EQ(
      refusal(GgufBuilder().raw("a", Type::Array,
                                gguf(uint32_t(Type::String)) +
                                    gguf(uint64_t(1)) + gguf(uint64_t(99)))),
      "m.gguf: element 0 of key 'a' has 99 bytes, but the file has 7 "
      "left");
}

TEST(GgufHeaderTest, GG7_BoolsAre0Or1) {
  EXPECT_EQ(refusal(GgufBuilder().raw("a", Type::Bool, gguf(uint8_t(2)))),
            "m.gguf: key 'a': expects a bool to be 0 or 1, but got 2");
  EXPECT_EQ(refusal(GgufBuilder().array<uint8_t>("a", Type::Bool, {0, 1, 255})),
            "m.gguf: key 'a': expects a bool to be 0 or 1, but got 255");
}

TEST(GgufHeaderTest, GG8_AlignmentIsAPowerOfTwo) {
  auto refused = [](const std::string &found) {
    return "m.gguf: expects 'general.alignment' to be a power of two in "
           "1..65536 (u32), but got " +
           found;
  };
  EXPECT_EQ(refusal(GgufBuilder().raw("general.alignment", Type::I32,
                                      gguf(int32_t(32)))),
            refused("32 (i32)"));
  for (uint32_t number : {0u, 3u, 1u << 31, 131072u})
    EXPECT_EQ(refusal(GgufBuilder().number("general.alignment", number)),
              refused(std::to_string(number) + " (u32)"));
  EXPECT_EQ(refusal(GgufBuilder().array<uint32_t>("general.alignment",
                                                  Type::U32, {32})),
            refused("an array of 1 u32"));
  GgufBuilder builder;
  builder.alignment = 128;
  builder.number("general.alignment", 128)
      .floats("v", {3}, {1, 2, 3})
      .floats("w", {2}, {1, 2});
  auto header = llvm::cantFail(parse(builder.build()));
  EXPECT_EQ(header.tensors.entries[1].begin, 128u);
  EXPECT_EQ(header.tensors.dataOffset % 128, 0u);
}

TEST(GgufHeaderTest, GG9_TensorsHaveNames) {
  EXPECT_EQ(refusal(GgufBuilder().floats("", {1}, {1})),
            "m.gguf: the name of tensor 0 is empty");
  EXPECT_EQ(refusal(GgufBuilder().floats(std::string(64, 'n'), {1}, {1})),
            "m.gguf: expects the name of tensor 0 to have at most 63 bytes, "
            "but got 64");
  EXPECT_EQ(refusal(GgufBuilder().floats(std::string(63, 'n'), {1}, {1})),
            "success");
  EXPECT_EQ(refusal(GgufBuilder().floats("v", {1}, {1}).floats("v", {1}, {1})),
            "m.gguf: tensor 'v' occurs twice");
}

TEST(GgufHeaderTest, GG10_ShapesAreSizes) {
  for (size_t dimensions : {0, 5})
    EXPECT_EQ(
        refusalOfTensor(info("v", std::vector<int64_t>(dimensions, 1), 0, 0)),
        "m.gguf: tensor 'v': expects 1 to 4 dimensions, but got " +
            std::to_string(dimensions));
  for (int64_t extent : {int64_t(0), int64_t(-3)})
    EXPECT_EQ(refusalOfTensor(info("v", {2, extent}, 0, 0)),
              "m.gguf: tensor 'v': expects dimensions from 1 on, but got " +
                  std::to_string(extent));
  EXPECT_EQ(
      refusalOfTensor(info("v", {int64_t(1) << 32, int64_t(1) << 31}, 0, 0)),
      "m.gguf: tensor 'v': the elements of shape 2147483648x4294967296 "
      "do not fit 63 bits");
  // The public reader once let a product of 2^64 through as 0.
  EXPECT_EQ(
      refusalOfTensor(info("v", {int64_t(1) << 32, int64_t(1) << 32}, 0, 0)),
      "m.gguf: tensor 'v': the elements of shape 4294967296x4294967296 "
      "do not fit 63 bits");
}

TEST(GgufHeaderTest, GG11_TypesOfTensorsAreKnown) {
  for (int32_t type : {4, 5, 31, 33, 36, 38, 43, -1})
    EXPECT_EQ(refusalOfTensor(info("v", {256}, type, 0)),
              "m.gguf: tensor 'v': unknown type " + std::to_string(type));
}

TEST(GgufHeaderTest, GG12_RowsAreWholeBlocks) {
  EXPECT_EQ(refusalOfTensor(info("v", {48, 2}, 2, 0)),
            "m.gguf: tensor 'v': expects rows of a multiple of 32 elements, "
            "the block of Q4_0, but got 48");
  EXPECT_EQ(refusalOfTensor(info("v", {128, 2}, 12, 0)),
            "m.gguf: tensor 'v': expects rows of a multiple of 256 elements, "
            "the block of Q4_K, but got 128");
  EXPECT_EQ(refusalOfTensor(info("v", {(int64_t(1) << 62) + 1}, 28, 0)),
            "m.gguf: tensor 'v': the bytes of shape 4611686018427387905 do not "
            "fit 63 bits");
}

TEST(GgufHeaderTest, GG13_TensorsFollowOneAnother) {
  // 3 floats are 12 bytes; the next tensor begins at 32.
  for (uint64_t offset : {0, 12, 31, 64}) {
    GgufBuilder builder;
    builder.infos = info("v", {3}, 0, 0) + info("w", {1}, 0, offset);
    builder.tensorCount = 2;
    builder.data = std::string(96, '\0');
    EXPECT_EQ(refusal(builder),
              "m.gguf: expects tensor 'w' to begin at offset 32, where the one "
              "before ends, but got " +
                  std::to_string(offset));
  }
  EXPECT_EQ(refusalOfTensor(info("v", {3}, 0, 32)),
            "m.gguf: expects tensor 'v' to begin at offset 0, where the one "
            "before ends, but got 32");
}

TEST(GgufHeaderTest, GG14_DataEndWithTheFile) {
  // One tensor of 12 bytes in a file of 24 + 8 + 1 + 4 + 8 + 4 + 8 = 57 bytes of
  // header, padded to 64.
  for (auto [bytes, message] :
       {std::pair<size_t, const char *>{12, "success"},
        {32, "success"},
        {11, "m.gguf: tensor 'v' ends at offset 12 of the data, but the file "
             "has 11: it has been cut short"},
        {0, "m.gguf: tensor 'v' ends at offset 12 of the data, but the file "
            "has 0: it has been cut short"},
        {33, "m.gguf: expects 12 bytes of tensors, but the file has 33"}})
    EXPECT_EQ(refusalOfTensor(info("v", {3}, 0, 0), bytes), message);
  EXPECT_EQ(refusalOfTensor(info("v", {1000}, 0, 0), 12),
            "m.gguf: tensor 'v' ends at offset 4000 of the data, but the file "
            "has 76 bytes");
}

// Wherever the file is cut, it is refused by one line.
TEST(GgufHeaderTest, RefusesEveryShorterFile) {
  GgufBuilder builder;
  builder.text("general.architecture", "llama")
      .texts("a", {"x", "yz"})
      .array<float>("b", Type::F32, {1, 2})
      .flag("c", false)
      .floats("v", {3}, {1, 2, 3})
      .tensor("w", {32, 2}, 2, std::string(36, '\0'));
  std::string image = builder.build();
  ASSERT_EQ(refusal(image), "success");
  for (size_t bytes = 0; bytes < image.size(); ++bytes)
    EXPECT_NE(refusal(image.substr(0, bytes)), "success") << bytes;
}
