// Bytes of a file of a format that is none of this tree's: what its reader says in
// a table is all that the way to the artifact's writer asks for.
#include "compiler/WeightSource.h"

#include "mlir/Parser/Parser.h"
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/TemporaryDirectory.h"

#include "gtest/gtest.h"

using namespace effc;
using namespace effc::frontend;
using namespace effc::test;

namespace {

/// Bytes before the data, and between tensors, as formats that align them have.
constexpr uint64_t kStart = 11, kGap = 5;
/// Of the blocks: 3 rows of 2 blocks, each the scale 2^-k for its number k and the
/// codes 7 i - 100 - k.
constexpr uint64_t kRows = 3, kColumns = 64, kBlockBytes = 34;

int codeOf(uint64_t block, uint64_t i) { return int(7 * i) - 100 - int(block); }

std::string blocks() {
  std::string bytes;
  for (uint64_t block = 0; block < 6; ++block) {
    uint16_t scale = uint16_t((15 - block) << 10); // f16 of 2^-block
    bytes.append({char(scale & 0xff), char(scale >> 8)});
    for (uint64_t i = 0; i < 32; ++i)
      bytes.push_back(char(codeOf(block, i)));
  }
  return bytes;
}

class WeightSourceTest : public testing::Test {
protected:
  WeightSourceTest() {
    std::string bias("\0\0\x80\x3f\0\0\0\xc0", 8); // 1, -2
    std::string file = std::string(kStart, 's') + bias +
                       std::string(kGap, 'g') + blocks() + "\x07";
    std::string path = directory.write("w.blocks", file);
    uint64_t at = bias.size() + kGap, end = at + blocks().size();
    TensorTable table{
        {{"bias", ElementType::F32, {2}, 0, 8},
         {"matrix",
          TensorType::ofBlocks("Q8_0", "q8_0"),
          {kRows, kColumns},
          at,
          end},
         {"odd", TensorType::ofBlocks("Q9_X", "q9_x"), {1}, end, end + 1}},
        kStart};
    std::vector<std::unique_ptr<TensorFile>> files;
    files.push_back(std::make_unique<TensorFile>(
        llvm::cantFail(MappedFile::open(path, "w.blocks")), std::move(table)));
    checkpoint = Checkpoint::of(directory.path, std::move(files));
    context.loadDialect<seq::SeqDialect>();
  }

  /// The weights of a module, one a line.
  std::vector<seq::WeightOp> parse(const std::string &text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    auto all = module->getOps<seq::WeightOp>();
    return {all.begin(), all.end()};
  }

  TemporaryDirectory directory;
  std::unique_ptr<Checkpoint> checkpoint;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

constexpr const char *kBlockType =
    "!storage.block<\"q8_0\", elements = 32, bytes = 34, digits = [32], "
    "code = int [8 at 16 [8]], scale = [f16 [16 at 0 [0]]]>";

} // namespace

TEST_F(WeightSourceTest, GivesBlocksAsTheyLieInTheFile) {
  auto weights =
      parse(std::string("seq.weight @m source(\"matrix\") : tensor<3x64x") +
            kBlockType + ">\nseq.weight @b source(\"bias\") : tensor<2xf32>");
  for (seq::WeightOp weight : weights)
    ASSERT_EQ(outcome(checkWeight(weight, *checkpoint)), "success");
  WeightSource source(checkpoint.get(), nullptr);
  codegen::SourceTensor matrix = llvm::cantFail(source.read(weights[0]));
  EXPECT_EQ(matrix.storage.name(), "q8_0");
  EXPECT_EQ(matrix.shape, llvm::ArrayRef<uint64_t>({kRows, kColumns}));
  EXPECT_EQ(llvm::toStringRef(matrix.bytes), blocks());
  EXPECT_EQ(matrix.file, 0u);
  EXPECT_EQ(matrix.fileOffset, kStart + 8 + kGap);
  codegen::SourceTensor bias = llvm::cantFail(source.read(weights[1]));
  EXPECT_TRUE(bias.storage.isF32());
  EXPECT_EQ(bias.fileOffset, kStart);
}

TEST_F(WeightSourceTest, ReadsTheNumbersOfBlocks) {
  auto weights =
      parse("seq.weight @m source(\"matrix\") : tensor<3x64xf32>\n"
            "seq.weight @t source(\"matrix\") transposed : tensor<64x3xf32>");
  auto numbers = llvm::cantFail(readWeight<double>(weights[0], *checkpoint));
  auto turned = llvm::cantFail(readWeight<float>(weights[1], *checkpoint));
  ASSERT_EQ(numbers.size(), kRows * kColumns);
  for (uint64_t row = 0; row < kRows; ++row)
    for (uint64_t column = 0; column < kColumns; ++column) {
      uint64_t block = row * 2 + column / 32;
      double expected = std::ldexp(codeOf(block, column % 32), -int(block));
      EXPECT_EQ(numbers[row * kColumns + column], expected);
      EXPECT_EQ(turned[column * kRows + row], expected);
    }
}

TEST_F(WeightSourceTest, NamesBlocksThatNobodyKnows) {
  auto weights = parse("seq.weight @o source(\"odd\") : tensor<1xf32>");
  EXPECT_EQ(
      outcome(checkWeight(weights[0], *checkpoint)),
      "w.blocks: expects tensor 'odd' of F32, BF16, F16 or blocks that are "
      "read (Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, "
      "IQ4_NL, IQ4_XS, MXFP4), but got Q9_X");
  EXPECT_EQ(outcome(WeightSource(checkpoint.get(), nullptr).read(weights[0])),
            "tensor 'odd' is of Q9_X, which no weight can be stored as");
}

// The bytes before the data tell the file from others.
TEST_F(WeightSourceTest, ListsTheFile) {
  auto files = llvm::cantFail(
      listWeightFiles(*checkpoint, directory.file("model.effc")));
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].name, "w.blocks");
  EXPECT_EQ(files[0].size, kStart + 8 + kGap + 6 * kBlockBytes + 1);
  EXPECT_EQ(llvm::toStringRef(files[0].start), std::string(kStart, 's'));
}
