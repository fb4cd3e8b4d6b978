// Which thread holds which element of a tile, against the formulas that the
// descriptions of the layouts give (dialects/tile/TileBase.td), and where tiles
// lie in shared memory, against what the hardware asks.
#include "dialects/tile/Distribution.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <map>
#include <set>

using namespace mlir;
using namespace effc::tile;

namespace {

using Element = std::pair<int64_t, int64_t>; // row, column
using Threads = std::set<int64_t>;

class DistributionTest : public testing::Test {
protected:
  DistributionTest() { context.loadDialect<TileDialect>(); }

  Type f32() { return Float32Type::get(&context); }
  Type bf16() { return BFloat16Type::get(&context); }
  TileType tile(ArrayRef<int64_t> shape, Role role, Attribute layout,
                Type element = {}) {
    return TileType::get(&context, shape, element ? element : f32(), role,
                         layout);
  }
  TileType block(int64_t rows, int64_t columns, Attribute layout,
                 Type element = {}) {
    return tile({rows, columns}, Role::Accumulator, layout, element);
  }
  BlockedAttr blocked(int64_t threads, int64_t lanes, int64_t vector) {
    return BlockedAttr::get(&context, threads, lanes, vector);
  }
  FragmentAttr fragment(int64_t threads, int64_t rowWarps) {
    return FragmentAttr::get(&context, threads, rowWarps);
  }

  MLIRContext context;
};

// Where a thread's places of an axis are, those past the shape among them.
std::vector<int64_t> placesOf(const Axis &axis, int64_t thread) {
  int64_t first = 0;
  for (const ThreadField &field : axis.fields)
    first += (thread >> field.shift) % (int64_t(1) << field.count) * field.step;
  std::vector<int64_t> places;
  for (int64_t offset : axis.offsets)
    places.push_back(first + offset);
  return places;
}

// The threads that hold each element. A thread that held one twice would add it
// twice: that is a failure.
std::map<Element, Threads> holdersOf(TileType type) {
  Distribution d = Distribution::of(type);
  std::map<Element, Threads> holders;
  for (int64_t thread = 0; thread < getThreads(type.getLayout()); ++thread)
    for (int64_t row : placesOf(d.rows, thread))
      for (int64_t column : placesOf(d.columns, thread))
        if (row < type.rows() && column < type.columns())
          EXPECT_TRUE(holders[Element(row, column)].insert(thread).second)
              << "thread " << thread << " has " << row << ", " << column
              << " twice";
  return holders;
}

// Expects each element of a tile in the threads that a formula names, and none
// beside.
void expectHolders(TileType type,
                   llvm::function_ref<Threads(int64_t, int64_t)> expected) {
  std::map<Element, Threads> found = holdersOf(type);
  EXPECT_EQ(found.size(), size_t(type.rows() * type.columns()));
  for (auto &[element, threads] : found)
    EXPECT_EQ(threads, expected(element.first, element.second))
        << "row " << element.first << ", column " << element.second;
}

TEST_F(DistributionTest, LaysRunsOfColumnsSideBySide) {
  // Whole, wrapping around in both axes, and past the shape.
  for (auto [rows, columns, threads, lanes, vector] :
       {std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>{8, 16, 32, 4,
                                                                4},
        {24, 20, 32, 4, 2},
        {7, 11, 64, 8, 1},
        {3, 130, 128, 32, 2}})
    expectHolders(block(rows, columns, blocked(threads, lanes, vector)),
                  [=](int64_t row, int64_t column) {
                    return Threads{row % (threads / lanes) * lanes +
                                   column / vector % lanes};
                  });
}

TEST_F(DistributionTest, HoldsRowsInEveryGroupAndColumnsAlongTheRow) {
  constexpr int64_t kThreads = 64, kLanes = 8, kVector = 2;
  Attribute layout = blocked(kThreads, kLanes, kVector);
  auto all = [](llvm::function_ref<bool(int64_t)> holds) {
    Threads threads;
    for (int64_t thread = 0; thread < kThreads; ++thread)
      if (holds(thread))
        threads.insert(thread);
    return threads;
  };
  expectHolders(tile({37}, Role::Row, layout), [&](int64_t, int64_t column) {
    return all([=](int64_t thread) {
      return thread % kLanes == column / kVector % kLanes;
    });
  });
  expectHolders(tile({19}, Role::Column, layout), [&](int64_t row, int64_t) {
    return all([=](int64_t thread) {
      return thread / kLanes == row % (kThreads / kLanes);
    });
  });
}

// PTX ISA, mma.sync m16n8: of a piece of 16 x 8 lane l has rows l / 4 and
// l / 4 + 8, columns 2 (l mod 4) and the next.
TEST_F(DistributionTest, LaysProductsAsTensorCoresLeaveThem) {
  for (auto [rows, columns, threads, rowWarps] :
       {std::tuple<int64_t, int64_t, int64_t, int64_t>{16, 8, 32, 1},
        {48, 40, 64, 2},
        {40, 20, 128, 2},
        {16, 72, 256, 1}}) {
    int64_t columnWarps = threads / 32 / rowWarps;
    expectHolders(block(rows, columns, fragment(threads, rowWarps)),
                  [=](int64_t row, int64_t column) {
                    int64_t lane = row % 8 * 4 + column % 8 / 2;
                    int64_t warp = row / 16 % rowWarps +
                                   column / 8 % columnWarps * rowWarps;
                    return Threads{warp * 32 + lane};
                  });
  }
}

TEST_F(DistributionTest, KnowsWhereAllPlacesAreInside) {
  for (int64_t rows : {8, 16, 24, 32, 33})
    for (int64_t columns : {4, 8, 12, 16, 48})
      for (Attribute layout :
           {Attribute(blocked(32, 4, 2)), Attribute(blocked(64, 16, 1)),
            Attribute(fragment(64, 2))}) {
        Distribution d = Distribution::of(block(rows, columns, layout));
        bool rowsInside = true, columnsInside = true;
        for (int64_t thread = 0; thread < getThreads(layout); ++thread) {
          for (int64_t row : placesOf(d.rows, thread))
            rowsInside &= row < rows;
          for (int64_t column : placesOf(d.columns, thread))
            columnsInside &= column < columns;
        }
        EXPECT_EQ(d.rows.exact(), rowsInside) << rows;
        EXPECT_EQ(d.columns.exact(), columnsInside) << columns;
      }
}

TEST_F(DistributionTest, KnowsWhichBitsOfAThreadMatter) {
  for (Attribute layout :
       {Attribute(blocked(64, 8, 2)), Attribute(fragment(128, 2))}) {
    Distribution d = Distribution::of(block(40, 56, layout));
    for (const Axis *axis : {&d.rows, &d.columns}) {
      unsigned bits = 0;
      for (int64_t bit = 1; bit < getThreads(layout); bit *= 2)
        if (placesOf(*axis, 0) != placesOf(*axis, bit))
          bits |= bit;
      EXPECT_EQ(axis->threadBits(), bits);
    }
  }
}

TEST_F(DistributionTest, ChoosesLanesThatLeaveTheFewestPlaces) {
  auto placesFor = [&](int64_t rows, int64_t columns, BlockedAttr layout) {
    Distribution d = Distribution::of(block(rows, columns, layout));
    return d.rows.offsets.size() * d.columns.offsets.size();
  };
  for (int64_t rows : {1, 4, 16, 23, 64})
    for (int64_t columns : {1, 6, 24, 64, 131, 256})
      for (int64_t threads : {32, 128, 256}) {
        SCOPED_TRACE(testing::Message()
                     << rows << " x " << columns << ", " << threads);
        BlockedAttr chosen = blockedFor(&context, rows, columns, threads);
        int64_t widest = columns % 4 == 0 ? 4 : columns % 2 == 0 ? 2 : 1;
        EXPECT_EQ(chosen.getVector(), widest);
        EXPECT_EQ(chosen.getThreads(), threads);
        size_t fewest = placesFor(rows, columns, chosen);
        for (int64_t lanes = 1; lanes <= threads; lanes *= 2) {
          size_t places =
              placesFor(rows, columns, blocked(threads, lanes, widest));
          EXPECT_GE(places, fewest) << lanes;
          if (lanes > chosen.getLanes() && lanes <= kWarp)
            EXPECT_GT(places, fewest) << lanes;
        }
      }
}

TEST_F(DistributionTest, RoundsBlocksInSharedMemoryUp) {
  auto shared = [&](int64_t stride, bool swizzled = false) {
    return SharedAttr::get(&context, 32, /*offset=*/std::nullopt, stride,
                           /*slots=*/3, swizzled);
  };
  // 24 rows are 32, 56 elements of 4 bytes apart.
  TileType plain = block(24, 40, shared(56));
  EXPECT_EQ(panelElements(plain), 32 * 56);
  EXPECT_EQ(sharedBytes(plain), 32 * 56 * 4); // of one slot
  // 128 columns are two panels of 64.
  TileType panels = block(24, 128, shared(64, /*swizzled=*/true), bf16());
  EXPECT_EQ(panelElements(panels), 32 * 64);
  EXPECT_EQ(sharedBytes(panels), 2 * 32 * 64 * 2);
  // A row is dense, up to 16 bytes.
  EXPECT_EQ(sharedBytes(tile({7}, Role::Row, shared(1))), 32);
  EXPECT_EQ(sharedBytes(tile({7}, Role::Column, shared(1), bf16())), 16);
}

// Shared memory has 32 banks of 4 bytes. Of eight rows that lanes read 16 bytes
// of at once (ldmatrix) each must start in banks of its own; of f32 that lanes
// read in pairs half a warp reads 32 bytes of four rows.
TEST_F(DistributionTest, KeepsRowsThatAreReadAtOnceInBanksOfTheirOwn) {
  auto startsOf = [](int64_t rows, int64_t pitch, int64_t each) {
    std::set<int64_t> starts;
    for (int64_t row = 0; row < rows; ++row) {
      EXPECT_EQ(row * pitch % each, 0);
      starts.insert(row * pitch % 128 / each);
    }
    return starts.size();
  };
  for (int64_t columns : {8, 16, 24, 40, 64, 72, 128, 200}) {
    SCOPED_TRACE(columns);
    for (bool inPairs : {false, true})
      EXPECT_EQ(
          startsOf(8, sharedStride(block(32, columns, {}, bf16()), inPairs) * 2,
                   16),
          8u);
    TileType wide = block(32, columns, {});
    EXPECT_EQ(startsOf(8, sharedStride(wide, /*inPairs=*/false) * 4, 16), 8u);
    EXPECT_EQ(startsOf(4, sharedStride(wide, /*inPairs=*/true) * 4, 32), 4u);
    EXPECT_GE(sharedStride(wide, /*inPairs=*/false), columns);
  }
  EXPECT_EQ(sharedStride(tile({40}, Role::Row, {}), /*inPairs=*/false), 1);
}

TEST_F(DistributionTest, KnowsViewsThatBoxesAreCopiedFrom) {
  auto view = [&](ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                  Type element = {}) {
    return isBoxCopied(
        ViewType::get(&context, shape, element ? element : bf16(), strides));
  };
  constexpr int64_t kDynamic = ShapedType::kDynamic;
  EXPECT_TRUE(view({768, 192}, {192, 1}));
  EXPECT_TRUE(view({768, 192}, {200, 1}));        // 400 bytes apart
  EXPECT_TRUE(view({768, 190}, {196, 1}, f32())); // 784
  EXPECT_FALSE(view({768, 192}, {196, 1}));       // 392, no multiple of 16
  EXPECT_FALSE(view({kDynamic, 192}, {192, 1}));  // nobody knows the end
  EXPECT_FALSE(view({768, 192}, {1, 768}));       // columns lie apart
  EXPECT_FALSE(view({768, 192}, {184, 1}));       // rows overlap
  EXPECT_FALSE(view({2, 768, 192}, {147456, 192, 1}));
  EXPECT_FALSE(
      view({768, 192}, {192, 1}, IntegerType::get(&context, 32))); // no numbers
}

TEST_F(DistributionTest, KnowsOperandsThatBoxesAreCopiedFrom) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      "tile.kernel @k(%item, %a: !tile.view<6xf32, [1]>, %b: "
      "!tile.view<6xf32, [1]>, %c: !tile.view<6xf32, [1]>) "
      "items(#tile.items<one, tile = 1, times = 1>) writes(0) streamed(1, 2) "
      "aligned(0, 2) {\n}",
      &context);
  ASSERT_TRUE(module);
  KernelOp kernel = *module->getOps<KernelOp>().begin();
  ArrayRef<BlockArgument> operands = kernel.getOperandArguments();
  EXPECT_FALSE(isBoxOperand(cast<BlockArgument>(kernel.getItem())));
  EXPECT_FALSE(isBoxOperand(operands[0])); // may be written meanwhile
  EXPECT_FALSE(isBoxOperand(operands[1])); // may begin anywhere
  EXPECT_TRUE(isBoxOperand(operands[2]));
}

} // namespace
