// Models that no artifact can hold are refused before they are lowered, with
// what is expected and what was found.
#include "compiler/Compiler.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <fstream>

using namespace effc;

namespace {

/// A vocabulary of 11, `width` channels and a state of `state`; what compiling
/// it for calls of up to 256 rows says.
std::string compiling(const std::string &width, const std::string &state) {
  std::string text = R"(module attributes {seq.model = #seq.model<
    family = "large", vocabulary = 11, width = W, max_context = 0>} {
  seq.weight @table source("table") : tensor<11xWxf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>,
                     %s: tensor<Sxf32> {seq.state_name = "s"})
      -> (tensor<?x11xf32>, tensor<Sxf32>) {
    %table = seq.parameter @table : tensor<11xWxf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11xWxf32>) -> tensor<?xWxf32>
    %last = seq.select_rows %x, %rows : (tensor<?xWxf32>, tensor<?xi32>) -> tensor<?xWxf32>
    %logits = seq.lm_head %last, %table : (tensor<?xWxf32>, tensor<11xWxf32>) -> tensor<?x11xf32>
    return %logits, %s : tensor<?x11xf32>, tensor<Sxf32>
  }
})";
  for (auto [letter, value] :
       {std::pair<char, std::string>{'W', width}, {'S', state}})
    for (size_t at = 0; (at = text.find(letter, at)) != std::string::npos;
         at += value.size())
      text.replace(at, 1, value);
  std::string path = testing::TempDir() + "/large.mlir";
  std::ofstream(path) << text;
  CompileOptions options;
  options.model = path;
  options.output = testing::TempDir() + "/large.txt";
  options.weights = codegen::WeightsMode::None;
  options.compileTo = Phase::Import;
  llvm::Error error = compile(options, CompileEvents());
  std::remove(path.c_str());
  std::remove(options.output.c_str());
  std::string said = llvm::toString(std::move(error));
  if (size_t at = said.find("expects"); at != std::string::npos)
    said.erase(0, at);
  return said.substr(0, said.find('\n'));
}

// 2^40 bytes of a slot are 2^38 numbers.
TEST(ModelSizes, StatesOfASequence) {
  EXPECT_EQ(compiling("6", "262144x1048576"), "");
  EXPECT_EQ(compiling("6", "262145x1048576"),
            "expects states of a sequence, up to 's', of at most 1099511627776 "
            "bytes, but got 1099515822080");
  // 3 * 2^64: what wraps around is little.
  EXPECT_EQ(compiling("6", "3x4294967296x4294967296"),
            "expects states of a sequence, up to 's', of at most 1099511627776 "
            "bytes, but got more than any can have");
}

// 256 rows of 2^30 numbers are 2^40 bytes.
TEST(ModelSizes, ValuesOfACall) {
  EXPECT_EQ(compiling("1073741824", "7"), "");
  EXPECT_EQ(compiling("1073741825", "7"),
            "expects values, of 256 rows, of at most 1099511627776 bytes, but "
            "got 1099511628800");
}

TEST(ModelSizes, DimensionsOfAWeight) {
  EXPECT_EQ(compiling("2147483649", "7"),
            "expects dimensions of a weight of at most 2147483648 elements, "
            "but got 2147483649");
}

} // namespace
