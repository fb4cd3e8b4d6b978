// One test or more per rule of Safetensors.h, named by its label.
#include "frontend/checkpoint/Safetensors.h"

#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/SafetensorsImage.h"
#include "test/unit/frontend/TemporaryDirectory.h"

#include <cmath>
#include <unistd.h>

using namespace effc::frontend;
using namespace effc::test;

namespace {

class SafetensorsTest : public testing::Test {
protected:
  std::string open(llvm::StringRef image) {
    return outcome(openSafetensors(directory.write("t", image), "t"));
  }
  /// A file of a header and `bufferBytes` zeros.
  std::string openHeader(llvm::StringRef header, size_t bufferBytes = 0) {
    return open(safetensorsImage(header, std::string(bufferBytes, '\0')));
  }
  /// A file of the one tensor 'a' of two F32 with one member replaced.
  std::string openEntry(llvm::StringRef type, llvm::StringRef shape,
                        llvm::StringRef offsets, size_t bufferBytes = 8) {
    return openHeader(("{\"a\":{\"dtype\":" + type + ",\"shape\":" + shape +
                       ",\"data_offsets\":" + offsets + "}}")
                          .str(),
                      bufferBytes);
  }

  TemporaryDirectory directory;
};

} // namespace

TEST_F(SafetensorsTest, ReadsTensors) {
  SafetensorsBuilder builder;
  builder.add("b", "F32", {2}, llvm::StringRef("\0\0\x80\x3f\0\0\0\xc0", 8));
  builder.add("a", "BF16", {1, 3}, llvm::StringRef("\x80\x3f\0\0\xc0\xbf", 6));
  builder.add("scalar", "I64", {}, "12345678");
  builder.add("empty", "F16", {3, 0, 2}, "");
  auto file = llvm::cantFail(
      openSafetensors(directory.write("t", builder.build()), "t"));
  const TensorEntry *a = file->find("a");
  ASSERT_TRUE(a);
  EXPECT_EQ(a->shape, (std::vector<uint64_t>{1, 3}));
  EXPECT_EQ(decode<float>(a->type.getElement(), llvm::cantFail(file->view(*a))),
            (std::vector<float>{1, 0, -1.5}));
  const TensorEntry *b = file->find("b");
  ASSERT_TRUE(b);
  EXPECT_EQ(
      decode<double>(b->type.getElement(), llvm::cantFail(file->view(*b))),
      (std::vector<double>{1, -2}));
  EXPECT_TRUE(file->find("scalar")->shape.empty());
  EXPECT_TRUE(llvm::cantFail(file->view(*file->find("empty"))).empty());
  EXPECT_EQ(file->find("c"), nullptr);
}

TEST_F(SafetensorsTest, ReadsAFileWithoutTensors) {
  EXPECT_EQ(openHeader("{}"), "success");
}

// 3 spaces of padding make the buffer start at an odd address.
TEST_F(SafetensorsTest, ReadsUnalignedData) {
  SafetensorsBuilder builder;
  std::string header =
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  while (header.size() % 2 == 0)
    header += ' ';
  std::string image =
      safetensorsImage(header, llvm::StringRef("\0\0\x40\x40", 4));
  auto file = llvm::cantFail(openSafetensors(directory.write("t", image), "t"));
  llvm::ArrayRef<uint8_t> bytes = llvm::cantFail(file->view(*file->find("a")));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes.data()) % 2, 1u);
  EXPECT_EQ(decode<float>(ElementType::F32, bytes), std::vector<float>{3});
}

TEST_F(SafetensorsTest, ST1_HasALength) {
  EXPECT_EQ(open(""), "t: expects at least 8 bytes, but got 0");
  EXPECT_EQ(open("1234567"), "t: expects at least 8 bytes, but got 7");
}

TEST_F(SafetensorsTest, ST2_HeaderFits) {
  EXPECT_EQ(
      open(safetensorsImage("{}", "", 3)),
      "t: expects a header of 3 bytes, but the file has 2 after its length");
  EXPECT_EQ(open(safetensorsImage("{}", "", uint64_t(1) << 63)),
            "t: expects a header of at most 100000000 bytes, but got "
            "9223372036854775808");
  EXPECT_EQ(open(safetensorsImage("{}", "", ~uint64_t(0) - 1)),
            "t: expects a header of at most 100000000 bytes, but got "
            "18446744073709551614");
}

// A file of one byte too many, and of exactly as many as are allowed.
TEST_F(SafetensorsTest, ST2_HeaderIsAtMost100MB) {
  std::string header = "{}" + std::string(100'000'001 - 2, ' ');
  EXPECT_EQ(
      openHeader(header),
      "t: expects a header of at most 100000000 bytes, but got 100000001");
  header.pop_back();
  EXPECT_EQ(openHeader(header), "success");
}

// Headers that the format's own limit of bytes lets through.
TEST_F(SafetensorsTest, HeadersHaveAtMostSoManyValues) {
  std::string shape, tensors;
  for (int i = 0; i < 5'000'000; ++i)
    shape += "0,";
  EXPECT_EQ(openHeader("{\"a\":{\"dtype\":\"F32\",\"shape\":[" + shape +
                       "0],\"data_offsets\":[0,0]}}"),
            "t: expects at most 4194304 values of JSON, but got more");
  // Each has seven: itself, its type, two lists, three numbers.
  for (int i = 0; i < 1'000'000; ++i)
    tensors += (i ? ",\"t" : "\"t") + std::to_string(i) +
               "\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}";
  EXPECT_EQ(openHeader("{" + tensors + "}"),
            "t: expects at most 4194304 values of JSON, but got more");
}

TEST_F(SafetensorsTest, ST3_StartsWithABrace) {
  EXPECT_EQ(openHeader(""),
            "t: expects the header to start with '{', but got nothing");
  EXPECT_EQ(openHeader(" {}"),
            "t: expects the header to start with '{', but got ' '");
  EXPECT_EQ(openHeader("[]"),
            "t: expects the header to start with '{', but got '['");
  EXPECT_EQ(openHeader("\xef\xbb\xbf{}"),
            "t: expects the header to start with '{', but got '\\xef'");
}

TEST_F(SafetensorsTest, ST3_EndsWithABraceAndSpaces) {
  EXPECT_EQ(openHeader("{}    "), "success");
  EXPECT_EQ(openHeader("{}\n"), "t: expects the header to end with '}' and "
                                "spaces, but got '\\x0a'");
  EXPECT_EQ(
      openHeader(llvm::StringRef("{}\0", 3)),
      "t: expects the header to end with '}' and spaces, but got '\\x00'");
  EXPECT_EQ(openHeader("{} x"),
            "t: expects the header to end with '}' and spaces, but got 'x'");
  EXPECT_EQ(openHeader("{} {}").substr(0, 10), "t: line 1,");
}

TEST_F(SafetensorsTest, ST4_IsJson) {
  EXPECT_EQ(openHeader("{a}").substr(0, 10), "t: line 1,");
  EXPECT_EQ(openHeader("{\"\xff\":1}").substr(0, 10), "t: line 1,");
  EXPECT_EQ(openHeader(llvm::StringRef("{\"a\0\":1}", 8)),
            "t: expects text, but got a NUL at byte 3");
  EXPECT_EQ(openHeader("{\"a\":NaN}").substr(0, 10), "t: line 1,");
}

TEST_F(SafetensorsTest, ST4_IsShallow) {
  EXPECT_EQ(openHeader("{\"a\":" + std::string(100'000, '[') + "}"),
            "t: expects at most 8 levels of nesting, but got more");
}

TEST_F(SafetensorsTest, ST4_NamesOccurOnce) {
  const char *entry = R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(openHeader(("{" + llvm::Twine(entry) + "," + entry + "}").str()),
            "t: key 'a' occurs twice in one object");
  EXPECT_EQ(
      openHeader(
          R"({"a":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}})"),
      "t: key 'dtype' occurs twice in one object");
}

TEST_F(SafetensorsTest, ST5_MetadataIsStrings) {
  EXPECT_EQ(openHeader(R"({"__metadata__":{"format":"pt"}})"), "success");
  EXPECT_EQ(openHeader(R"({"__metadata__":{"format":1}})"),
            "t: expects 'format' in '__metadata__' to be a string, but got 1");
  EXPECT_EQ(
      openHeader(R"({"__metadata__":{"format":null}})"),
      "t: expects 'format' in '__metadata__' to be a string, but got null");
  EXPECT_EQ(openHeader(R"({"__metadata__":["a"]})"),
            "t: expects '__metadata__' to be an object, but got an array of 1");
}

TEST_F(SafetensorsTest, ST6_EntryIsAnObject) {
  EXPECT_EQ(openHeader(R"({"a":[]})"),
            "t: tensor 'a': expects an object, but got an array of 0");
}

TEST_F(SafetensorsTest, ST6_EntryLacksAKey) {
  EXPECT_EQ(openHeader(R"({"a":{"shape":[0],"data_offsets":[0,0]}})"),
            "t: tensor 'a': lacks 'dtype'");
  EXPECT_EQ(openHeader(R"({"a":{"dtype":"U8","data_offsets":[0,0]}})"),
            "t: tensor 'a': lacks 'shape'");
  EXPECT_EQ(openHeader(R"({"a":{"dtype":"U8","shape":[0]}})"),
            "t: tensor 'a': lacks 'data_offsets'");
}

TEST_F(SafetensorsTest, ST6_EntryHasAnotherKey) {
  EXPECT_EQ(
      openHeader(
          R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":1}})"),
      "t: tensor 'a': unknown key 'x'");
}

TEST_F(SafetensorsTest, ST7_KnowsEveryType) {
  // name, elements, bytes
  const std::tuple<const char *, int, int> types[] = {
      {"BOOL", 3, 3},        {"F4", 6, 3},          {"F6_E2M3", 4, 3},
      {"F6_E3M2", 4, 3},     {"U8", 3, 3},          {"I8", 3, 3},
      {"F8_E5M2", 3, 3},     {"F8_E4M3", 3, 3},     {"F8_E8M0", 3, 3},
      {"F8_E4M3FNUZ", 3, 3}, {"F8_E5M2FNUZ", 3, 3}, {"I16", 3, 6},
      {"U16", 3, 6},         {"F16", 3, 6},         {"BF16", 3, 6},
      {"I32", 3, 12},        {"U32", 3, 12},        {"F32", 3, 12},
      {"C64", 3, 24},        {"F64", 3, 24},        {"I64", 3, 24},
      {"U64", 3, 24}};
  for (auto [type, elements, bytes] : types) {
    std::string quoted = "\"" + std::string(type) + "\"";
    std::string shape = "[" + std::to_string(elements) + "]";
    std::string offsets = "[0," + std::to_string(bytes) + "]";
    EXPECT_EQ(openEntry(quoted, shape, offsets, bytes), "success") << type;
    EXPECT_EQ(getName(*parseElementType(type)), type);
  }
}

TEST_F(SafetensorsTest, ST7_RefusesOtherTypes) {
  EXPECT_EQ(openEntry("\"f32\"", "[2]", "[0,8]"),
            "t: tensor 'a': unknown dtype 'f32'");
  EXPECT_EQ(openEntry("\"F32 \"", "[2]", "[0,8]"),
            "t: tensor 'a': unknown dtype 'F32 '");
  EXPECT_EQ(openEntry("\"F128\"", "[2]", "[0,8]"),
            "t: tensor 'a': unknown dtype 'F128'");
  EXPECT_EQ(openEntry("32", "[2]", "[0,8]"),
            "t: tensor 'a': expects 'dtype' to be a string, but got 32");
}

TEST_F(SafetensorsTest, ST8_DimensionsAreCounts) {
  auto refusal = [](llvm::StringRef found) {
    return "t: tensor 'a': expects dimensions to be integers from 0 on, but "
           "got " +
           found.str();
  };
  EXPECT_EQ(openEntry("\"F32\"", "[-2]", "[0,8]"), refusal("-2"));
  EXPECT_EQ(openEntry("\"F32\"", "[2.0]", "[0,8]"), refusal("2.0"));
  EXPECT_EQ(openEntry("\"F32\"", "[\"2\"]", "[0,8]"), refusal("\"2\""));
  EXPECT_EQ(openEntry("\"F32\"", "[2e0]", "[0,8]"), refusal("2.0"));
  EXPECT_EQ(openEntry("\"F32\"", "[null]", "[0,8]"), refusal("null"));
  EXPECT_EQ(openEntry("\"F32\"", "[18446744073709551616]", "[0,8]"),
            refusal("1.8446744073709552e+19"));
  EXPECT_EQ(openEntry("\"F32\"", "[1e400]", "[0,8]").substr(0, 10),
            "t: line 1,");
  EXPECT_EQ(openEntry("\"F32\"", "2", "[0,8]"),
            "t: tensor 'a': expects 'shape' to be an array, but got 2");
}

TEST_F(SafetensorsTest, ST8_SizeFits64Bits) {
  EXPECT_EQ(openEntry("\"F32\"", "[9223372036854775808]", "[0,8]"),
            "t: tensor 'a': the size of shape 9223372036854775808 does not fit "
            "64 bits");
  // 2^32 * 2^32 is 0 in 64 bits, and 2^62 * 2^2 too.
  EXPECT_EQ(openEntry("\"F32\"", "[4294967296,4294967296]", "[0,0]", 0),
            "t: tensor 'a': the size of shape 4294967296x4294967296 does not "
            "fit 64 bits");
  EXPECT_EQ(openEntry("\"F32\"", "[4611686018427387904,4]", "[0,0]", 0),
            "t: tensor 'a': the size of shape 4611686018427387904x4 does not "
            "fit 64 bits");
  // The elements fit, 32 times as many bits do not: 2^60 * 32 = 2^65.
  EXPECT_EQ(openEntry("\"F32\"", "[1152921504606846976]", "[0,0]", 0),
            "t: tensor 'a': the size of shape 1152921504606846976 does not fit "
            "64 bits");
}

TEST_F(SafetensorsTest, ST8_AThousandDimensions) {
  std::string ones = "[1";
  for (int i = 1; i < 1000; ++i)
    ones += ",1";
  EXPECT_EQ(openEntry("\"F32\"", ones + "]", "[0,4]", 4), "success");
  std::string twos = "[2";
  for (int i = 1; i < 1000; ++i)
    twos += ",2";
  EXPECT_EQ(openEntry("\"F32\"", twos + "]", "[0,4]", 4),
            "t: tensor 'a': the size of shape 2x2x2x2x2x2x2x2x... does not fit "
            "64 bits");
}

TEST_F(SafetensorsTest, ST9_OffsetsAreTwoCounts) {
  EXPECT_EQ(
      openEntry("\"F32\"", "[2]", "[0]"),
      "t: tensor 'a': expects 'data_offsets' to be an array of 2, but got "
      "an array of 1");
  EXPECT_EQ(
      openEntry("\"F32\"", "[2]", "[0,8,16]"),
      "t: tensor 'a': expects 'data_offsets' to be an array of 2, but got "
      "an array of 3");
  EXPECT_EQ(openEntry("\"F32\"", "[2]", "[0,8.0]"),
            "t: tensor 'a': expects offsets to be integers from 0 on, but got "
            "8.0");
  EXPECT_EQ(openEntry("\"F32\"", "[2]", "[-8,0]"),
            "t: tensor 'a': expects offsets to be integers from 0 on, but got "
            "-8");
}

TEST_F(SafetensorsTest, ST9_OffsetsAreOrdered) {
  EXPECT_EQ(openEntry("\"F32\"", "[2]", "[8,0]"),
            "t: tensor 'a': expects its start to be at most its end, but got "
            "offsets 8 and 0");
}

TEST_F(SafetensorsTest, ST10_SubByteTensorsEndOnAByte) {
  EXPECT_EQ(openEntry("\"F4\"", "[3]", "[0,2]", 2),
            "t: tensor 'a': expects a whole number of bytes, but 3 elements of "
            "F4 are 12 bits");
  EXPECT_EQ(openEntry("\"F6_E2M3\"", "[2]", "[0,2]", 2),
            "t: tensor 'a': expects a whole number of bytes, but 2 elements of "
            "F6_E2M3 are 12 bits");
}

TEST_F(SafetensorsTest, ST11_OffsetsSpanTheTensor) {
  EXPECT_EQ(openEntry("\"F32\"", "[2]", "[0,4]", 4),
            "t: tensor 'a': expects 8 bytes for 2 elements of F32, but its "
            "offsets span 4");
  EXPECT_EQ(openEntry("\"BF16\"", "[3,2]", "[0,8]", 8),
            "t: tensor 'a': expects 12 bytes for 3x2 elements of BF16, but its "
            "offsets span 8");
}

TEST_F(SafetensorsTest, ST11_EmptyTensorsSpanNothing) {
  EXPECT_EQ(openEntry("\"F32\"", "[3,0]", "[0,0]", 0), "success");
  EXPECT_EQ(openEntry("\"F32\"", "[3,0]", "[0,4]", 4),
            "t: tensor 'a': expects 0 bytes for 3x0 elements of F32, but its "
            "offsets span 4");
}

TEST_F(SafetensorsTest, ST11_ScalarsSpanOneElement) {
  EXPECT_EQ(openEntry("\"F32\"", "[]", "[0,4]", 4), "success");
  EXPECT_EQ(
      openEntry("\"F32\"", "[]", "[0,8]", 8),
      "t: tensor 'a': expects 4 bytes for scalar elements of F32, but its "
      "offsets span 8");
}

static std::string twoTensors(llvm::StringRef first, llvm::StringRef second) {
  return (R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + first +
          R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + second + "}}")
      .str();
}

TEST_F(SafetensorsTest, ST12_OrderInTheHeaderIsFree) {
  EXPECT_EQ(openHeader(twoTensors("[0,4]", "[4,6]"), 6), "success");
  EXPECT_EQ(openHeader(twoTensors("[2,6]", "[0,2]"), 6), "success");
}

TEST_F(SafetensorsTest, ST12_RefusesOverlaps) {
  EXPECT_EQ(openHeader(twoTensors("[0,4]", "[3,5]"), 5),
            "t: expects tensor 'b' to start at offset 4, where the one before "
            "ends, but got 3");
  EXPECT_EQ(openHeader(twoTensors("[0,4]", "[0,2]"), 4),
            "t: expects tensor 'a' to start at offset 2, where the one before "
            "ends, but got 0");
}

TEST_F(SafetensorsTest, ST12_RefusesHoles) {
  EXPECT_EQ(openHeader(twoTensors("[0,4]", "[5,7]"), 7),
            "t: expects tensor 'b' to start at offset 4, where the one before "
            "ends, but got 5");
  EXPECT_EQ(openHeader(twoTensors("[3,7]", "[1,3]"), 7),
            "t: expects tensor 'b' to start at offset 0, where the one before "
            "ends, but got 1");
}

TEST_F(SafetensorsTest, ST12_EmptyTensorsBetweenOthers) {
  std::string header =
      R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
      R"("e":{"dtype":"U8","shape":[0],"data_offsets":[4,4]},)"
      R"("b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]}})";
  EXPECT_EQ(openHeader(header, 6), "success");
}

TEST_F(SafetensorsTest, ST13_TheBufferEndsWithTheLastTensor) {
  EXPECT_EQ(openHeader(twoTensors("[0,4]", "[4,6]"), 7),
            "t: expects 6 bytes of tensors, but the file has 7");
  EXPECT_EQ(openHeader(twoTensors("[0,4]", "[4,6]"), 5),
            "t: expects 6 bytes of tensors, but the file has 5");
  EXPECT_EQ(openHeader("{}", 1),
            "t: expects 0 bytes of tensors, but the file has 1");
}

TEST_F(SafetensorsTest, NoticesTruncationAfterOpening) {
  SafetensorsBuilder builder;
  builder.add("a", "U8", {3}, "abc");
  std::string path = directory.write("t", builder.build());
  auto file = llvm::cantFail(openSafetensors(path, "t"));
  ASSERT_EQ(truncate(path.c_str(), 20), 0);
  EXPECT_EQ(outcome(file->view(*file->find("a"))).substr(0, 6), "t: had");
}

// Every prefix of a good file and every flip of one bit: refused or read, never
// a crash.
TEST_F(SafetensorsTest, SurvivesDamage) {
  SafetensorsBuilder builder;
  builder.add("a", "F32", {2, 1}, "12345678");
  builder.add("b", "F4", {2}, "9");
  std::string image = builder.build();
  for (size_t size = 0; size < image.size(); ++size)
    EXPECT_NE(open(image.substr(0, size)), "success") << size;
  for (size_t bit = 0; bit < image.size() * 8; ++bit) {
    std::string damaged = image;
    damaged[bit / 8] ^= char(1 << (bit % 8));
    open(damaged);
  }
}

TEST(ElementType, DecodesHalf) {
  // 1, -2, the largest, the smallest subnormal, -0, infinity, NaN
  const uint16_t halves[] = {0x3c00, 0xc000, 0x7bff, 0x0001,
                             0x8000, 0x7c00, 0x7e01};
  std::string bytes = "x";
  for (uint16_t half : halves) {
    bytes += char(half);
    bytes += char(half >> 8);
  }
  llvm::ArrayRef<uint8_t> unaligned =
      llvm::arrayRefFromStringRef(llvm::StringRef(bytes)).drop_front();
  std::vector<float> found = decode<float>(ElementType::F16, unaligned);
  EXPECT_EQ(found[0], 1.0f);
  EXPECT_EQ(found[1], -2.0f);
  EXPECT_EQ(found[2], 65504.0f);
  EXPECT_EQ(found[3], 0x1p-24f);
  EXPECT_TRUE(found[4] == 0 && std::signbit(found[4]));
  EXPECT_EQ(found[5], INFINITY);
  EXPECT_TRUE(std::isnan(found[6]));
}

TEST(ElementType, SaysWhatItDecodes) {
  EXPECT_TRUE(isDecodable(ElementType::F32));
  EXPECT_TRUE(isDecodable(ElementType::BF16));
  EXPECT_TRUE(isDecodable(ElementType::F16));
  EXPECT_TRUE(isDecodable(ElementType::F64));
  EXPECT_FALSE(isDecodable(ElementType::F8E4M3));
  EXPECT_FALSE(isDecodable(ElementType::I32));
}
