// What positions do to the levels of a Fenwick tree, against the buckets of its
// definition: those of the bits that are set in a position.
#include "test/unit/dialects/seq/Program.h"

#include "mlir/AsmParser/AsmParser.h"
#include "gtest/gtest.h"

using namespace effc::seq;
using effc::seq::test::Program;

namespace {

constexpr int64_t kLevels = 6, kPositions = 32;

/// By position and level.
std::vector<std::vector<double>> rowsOf(const std::string &number) {
  Program program;
  auto attr = llvm::dyn_cast_or_null<ComputedWeightInterface>(
      mlir::parseAttribute("#seq.fenwick_levels<number = " + number + ">",
                           program.getContext()));
  std::vector<std::vector<double>> rows;
  for (int64_t position = 0; attr && position < kPositions; ++position) {
    llvm::SmallVector<double> row = attr.computeRow(position, kLevels);
    rows.emplace_back(row.begin(), row.end());
  }
  return rows;
}

/// The level in which the token at `key` lies for the one at `query`: buckets
/// are taken off the tokens before the query from the smallest on.
int64_t levelOf(int64_t query, int64_t key) {
  if (query == key)
    return 0;
  int64_t end = query;
  for (int64_t level = 1;; ++level) {
    int64_t size = int64_t(1) << (level - 1);
    if (!(query & size))
      continue;
    if (key >= end - size)
      return level;
    end -= size;
  }
}

// Position 12 has the bits of 4 and 8, and 4 divides it.
TEST(FenwickLevels, OfAPosition) {
  EXPECT_EQ(rowsOf("written")[12], (std::vector<double>{1, 1, 1, 0, 0, 1}));
  EXPECT_EQ(rowsOf("read")[12], (std::vector<double>{1, 0, 0, 1, 1, 0}));
  EXPECT_EQ(rowsOf("forgotten")[12],
            (std::vector<double>{-1e30, -1e30, -1e30, 0, 0, 0}));
}

// A level that is kept by these numbers holds, where it is read, the tokens of
// its bucket and no others.
TEST(FenwickLevels, HoldTheirBuckets) {
  auto written = rowsOf("written"), read = rowsOf("read"),
       forgotten = rowsOf("forgotten");
  ASSERT_EQ(written.size(), size_t(kPositions));
  for (int64_t level = 0; level < kLevels; ++level) {
    std::vector<int64_t> held;
    for (int64_t query = 0; query < kPositions; ++query) {
      if (forgotten[query][level] != 0)
        held.clear();
      if (written[query][level] != 0)
        held.push_back(query);
      std::vector<int64_t> bucket;
      for (int64_t key = 0; key <= query; ++key)
        if (levelOf(query, key) == level)
          bucket.push_back(key);
      EXPECT_EQ(read[query][level] != 0 ? held : std::vector<int64_t>(), bucket)
          << "level " << level << " of position " << query;
    }
  }
}

} // namespace
