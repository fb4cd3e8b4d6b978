// The kind that row.inc adds: 32 codes of 8 bits, then their scale as f32. In place of
// the published kinds of StoredKernelsTest.cpp, and decoded from the bytes alone.
#include "dialects/storage/Formats.h"
#include "test/unit/dialects/storage/PublishedBlocks.h"

#include <cstring>

using namespace effc;
using namespace effc::test;

static constexpr size_t kScaleAt = 32;

static float scaleOf(const uint8_t *block) {
  float scale;
  std::memcpy(&scale, block + kScaleAt, sizeof scale);
  return scale;
}

const std::vector<PublishedBlock> &effc::test::publishedBlocks() {
  static const std::vector<PublishedBlock> blocks = {
      {"s8_32",
       [](const uint8_t *block, float *numbers) {
         for (int i = 0; i < 32; ++i)
           numbers[i] = scaleOf(block) * float(int8_t(block[i]));
       },
       {}}};
  return blocks;
}

storage::BlockType effc::test::typeOf(const PublishedBlock &block,
                                      mlir::MLIRContext &context) {
  context.loadDialect<storage::StorageDialect>();
  return llvm::dyn_cast_if_present<storage::BlockType>(
      storage::formatOf(block.name, &context));
}

std::vector<uint8_t> effc::test::randomBlocks(const PublishedBlock &,
                                              size_t bytes, size_t count,
                                              std::mt19937_64 &random,
                                              float scale) {
  std::vector<uint8_t> all(bytes * count);
  for (uint8_t &byte : all)
    byte = uint8_t(random());
  std::normal_distribution<float> scales(0, scale);
  for (size_t i = 0; i < count; ++i) {
    float value = scales(random);
    std::memcpy(all.data() + i * bytes + kScaleAt, &value, sizeof value);
  }
  return all;
}

// Those are tested with the libraries that have them.
const std::vector<PublishedBlock> &effc::test::groupedBlocks() {
  static const std::vector<PublishedBlock> none;
  return none;
}
