// Decoders of ggml's block formats, written from the public layout
// (ggml/src/ggml-common.h, ggml-quants.c of llama.cpp, ggml 0.25) byte by byte, without
// the descriptions of dialects/storage/Formats.cpp.
#ifndef EFFC_TEST_UNIT_DIALECTS_STORAGE_PUBLISHEDBLOCKS_H
#define EFFC_TEST_UNIT_DIALECTS_STORAGE_PUBLISHEDBLOCKS_H

#include "dialects/storage/StorageDialect.h"

#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace effc::test {

struct PublishedBlock {
  /// Of the storage, in dialects/storage/Formats.cpp.
  const char *name;
  /// Fills the numbers of one block.
  void (*decode)(const uint8_t *block, float *numbers);
  /// Bytes at which an f16 begins, which random bits must not make NaN.
  std::vector<int> halves;
  /// The same of bf16 and f32.
  std::vector<int> brains = {}, singles = {};
  /// Bits that other bytes may have.
  uint8_t codeBits = 0xff;
  /// What scales are multiplied by.
  float unit = 1;
};

const std::vector<PublishedBlock> &publishedBlocks();
/// Blocks of GroupedCodes.h, of which the first five and the last are integers.
const std::vector<PublishedBlock> &groupedBlocks();

/// The storage of that name.
storage::BlockType typeOf(const PublishedBlock &block,
                          mlir::MLIRContext &context);

/// "q4_0": what a test of the block is called.
inline std::string
testName(const testing::TestParamInfo<PublishedBlock> &info) {
  return info.param.name;
}

/// Bytes of `count` blocks: codes of any bits, scales of about `scale`, some of them
/// negative or subnormal.
std::vector<uint8_t> randomBlocks(const PublishedBlock &block, size_t bytes,
                                  size_t count, std::mt19937_64 &random,
                                  float scale);

} // namespace effc::test

#endif // EFFC_TEST_UNIT_DIALECTS_STORAGE_PUBLISHEDBLOCKS_H
