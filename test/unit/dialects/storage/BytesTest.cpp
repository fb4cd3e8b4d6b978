// Widths that are bytes, and those that end inside of one.
#include "dialects/storage/Bytes.h"
#include "dialects/storage/Formats.h"

#include <gtest/gtest.h>

using namespace effc::storage;

namespace {

static_assert(wholeBytes(0) == 0 && wholeBytes(8) == 1 && wholeBytes(24) == 3);
static_assert(bytesIn(16) == 2 && !bytesIn(4) && !bytesIn(19));

// 4 bits of a code, 19 of tf32, and a size that overflowed.
TEST(BytesDeathTest, EndsInsideOfAByte) {
  EXPECT_DEATH(wholeBytes(4), "a whole number of bytes, but got 4 bits");
  EXPECT_DEATH(wholeBytes(19), "a whole number of bytes, but got 19 bits");
  EXPECT_DEATH(wholeBytes(-8), "a whole number of bytes, but got -8 bits");
}

// The scale of q8_0 is an f16, the code of q4_0 half a byte.
TEST(BytesDeathTest, OfAField) {
  mlir::MLIRContext context;
  context.loadDialect<StorageDialect>();
  auto block = [&](llvm::StringRef name) {
    return llvm::cast<BlockType>(formatOf(name, &context));
  };
  EXPECT_EQ(block("q8_0").getScale().front().bytes(), 2);
  EXPECT_DEATH((void)block("q4_0").getCode().bytes(), "but got 4 bits");
}

} // namespace
