// Files of importances: right ones of both kinds, and each rule broken.
#include "frontend/importance/ImportanceFile.h"

#include "test/unit/frontend/gguf/GgufImage.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace effc;
using namespace effc::test;
using frontend::ImportanceFile;

namespace {

llvm::Expected<ImportanceFile> parse(const std::string &bytes) {
  return ImportanceFile::parse(llvm::arrayRefFromStringRef(bytes), "texts.dat");
}

std::string problemOf(const std::string &bytes) {
  auto file = parse(bytes);
  return file ? "" : llvm::toString(file.takeError());
}

std::vector<float> numbersOf(const std::string &bytes, llvm::StringRef name) {
  auto file = parse(bytes);
  if (!file) {
    ADD_FAILURE() << llvm::toString(file.takeError());
    return {};
  }
  const ImportanceFile::Numbers *numbers = file->find(name);
  return numbers ? *numbers : std::vector<float>();
}

/// What llama-imatrix writes of one matrix of three columns and of two experts.
GgufBuilder rightGguf() {
  GgufBuilder builder;
  builder.text("general.type", "imatrix")
      .texts("imatrix.datasets", {"texts.txt"})
      .number("imatrix.chunk_count", 2)
      .number("imatrix.chunk_size", 512)
      .floats("blk.0.attn_q.weight.in_sum2", {3, 1}, {8, 0, 2})
      .floats("blk.0.attn_q.weight.counts", {1, 1}, {4})
      .floats("blk.0.ffn_up_exps.weight.in_sum2", {2, 2}, {6, 9, 5, 7})
      .floats("blk.0.ffn_up_exps.weight.counts", {1, 2}, {3, 0});
  return builder;
}

std::string oldEntry(llvm::StringRef name, int32_t calls,
                     const std::vector<float> &sums) {
  std::string bytes = gguf(int32_t(name.size())) + name.str() + gguf(calls) +
                      gguf(int32_t(sums.size()));
  for (float sum : sums)
    bytes += gguf(sum);
  return bytes;
}

} // namespace

TEST(ImportanceFile, DividesSumsByTokens) {
  std::string bytes = rightGguf().build();
  EXPECT_EQ(numbersOf(bytes, "blk.0.attn_q.weight"),
            (std::vector<float>{2, 0, 0.5}));
  // An expert that no token chose counts as 1 everywhere.
  EXPECT_EQ(numbersOf(bytes, "blk.0.ffn_up_exps.weight"),
            (std::vector<float>{2, 3, 1, 1}));
  EXPECT_EQ(numbersOf(bytes, "blk.1.attn_q.weight"), std::vector<float>());
}

TEST(ImportanceFile, ReadsTheOlderKind) {
  std::string entries = gguf(int32_t(2)) +
                        oldEntry("blk.0.attn_q.weight", 4, {8, 0, 2}) +
                        oldEntry("output.weight", 0, {3});
  for (const std::string &bytes :
       {entries, entries + gguf(int32_t(7)),
        entries + gguf(int32_t(7)) + gguf(int32_t(5)) + "texts"}) {
    EXPECT_EQ(numbersOf(bytes, "blk.0.attn_q.weight"),
              (std::vector<float>{2, 0, 0.5}));
    EXPECT_EQ(numbersOf(bytes, "output.weight"), (std::vector<float>{3}));
  }
}

// (IM1) to (IM3), (IM6), (IM7)
TEST(ImportanceFile, RefusesWrongGguf) {
  GgufBuilder model;
  model.text("general.type", "model");
  EXPECT_EQ(problemOf(model.build()),
            "texts.dat: expects 'general.type' to be \"imatrix\", but got "
            "\"model\": expects what llama-imatrix writes, not a model");
  EXPECT_EQ(problemOf(rightGguf().floats("a.weight", {1}, {0}).build()),
            "texts.dat: tensor 'a.weight' is neither 'NAME.in_sum2' nor "
            "'NAME.counts': expects what llama-imatrix writes");
  EXPECT_EQ(problemOf(rightGguf().floats("a.in_sum2", {1}, {0}).build()),
            "texts.dat: has no 'a.counts' beside the other tensor of that "
            "matrix");
  EXPECT_EQ(problemOf(rightGguf().floats("a.counts", {1}, {0}).build()),
            "texts.dat: has no 'a.in_sum2' beside the other tensor of that "
            "matrix");
  EXPECT_EQ(problemOf(rightGguf()
                          .floats("a.in_sum2", {2}, {0, 0})
                          .tensor("a.counts", {1}, 1, std::string(2, 0))
                          .build()),
            "texts.dat: expects 'a.counts' to be F32, but got F16");
  EXPECT_EQ(problemOf(rightGguf()
                          .floats("a.in_sum2", {2, 2}, {0, 0, 0, 0})
                          .floats("a.counts", {1}, {1})
                          .build()),
            "texts.dat: expects 'a.counts' to have a number for each row of "
            "'a.in_sum2', 2x2, but got 1");
  EXPECT_EQ(problemOf(rightGguf()
                          .floats("a.in_sum2", {1}, {0})
                          .floats("a.counts", {1}, {-1})
                          .build()),
            "texts.dat: expects counts from 0 on in 'a.counts', but got "
            "-1");
  EXPECT_EQ(problemOf(rightGguf()
                          .floats(".in_sum2", {1}, {0})
                          .floats(".counts", {1}, {1})
                          .build()),
            "texts.dat: has a matrix without a name");
  for (float wrong : {-1.0f, INFINITY, NAN})
    EXPECT_NE(problemOf(rightGguf()
                            .floats("a.in_sum2", {2}, {0, wrong})
                            .floats("a.counts", {1}, {1})
                            .build())
                  .find("texts.dat: expects finite numbers from 0 on for 'a'"),
              std::string::npos);
  EXPECT_EQ(problemOf(GgufBuilder().build()), "texts.dat: has no matrices");
}

// (IM4) to (IM7)
TEST(ImportanceFile, RefusesWrongOldFiles) {
  constexpr llvm::StringLiteral kEnd =
      ": expects what llama-imatrix writes, a GGUF file or one of the older "
      "kind";
  auto expect = [&](const std::string &bytes, llvm::StringRef problem) {
    EXPECT_EQ(problemOf(bytes), ("texts.dat: " + problem + kEnd).str());
  };
  std::string entry = oldEntry("a", 1, {1, 2}), one = gguf(int32_t(1)) + entry;
  expect("", "has no matrices");
  expect("abc", "has no matrices");
  expect(gguf(int32_t(0)), "has no matrices");
  expect(gguf(int32_t(-1)) + entry, "has no matrices");
  expect(gguf(int32_t(2)) + entry, "ends within the name of matrix 2 of 2");
  expect(gguf(int32_t(1)) + gguf(int32_t(-1)) + entry,
         "ends within the name of matrix 1 of 1");
  expect(gguf(int32_t(1)) + gguf(int32_t(0x7fffffff)) + entry,
         "ends within the name of matrix 1 of 1");
  for (size_t cut = 9; cut < one.size(); ++cut)
    expect(one.substr(0, cut),
           "ends within, or has no, numbers of matrix 1 of 1");
  expect(gguf(int32_t(1)) + oldEntry("a", 1, {}),
         "ends within, or has no, numbers of matrix 1 of 1");
  std::string behind =
      "has bytes after its last matrix that nothing stands for";
  expect(one + "abc", behind);
  expect(one + gguf(int32_t(7)) + "a", behind);
  expect(one + gguf(int32_t(7)) + gguf(int32_t(2)) + "a", behind);
  expect(one + gguf(int32_t(7)) + gguf(int32_t(1)) + "ab", behind);
  EXPECT_EQ(problemOf(gguf(int32_t(2)) + entry + entry),
            "texts.dat: has 'a' twice");
  EXPECT_EQ(problemOf(gguf(int32_t(1)) + oldEntry("", 1, {1})),
            "texts.dat: has a matrix without a name");
  EXPECT_EQ(problemOf(gguf(int32_t(1)) + oldEntry("a", 1, {-1})),
            "texts.dat: expects finite numbers from 0 on for 'a', but got "
            "-1");
}
