// Windows with heads of whole panels, whose products are rounded on a GPU: the
// weights of a block of keys go to their product with the values in the
// registers that hold them, and warp groups multiply where the target has them.
#include "test/unit/codegen/host/CaseExport.h"
#include "test/unit/contract/WindowModel.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace effc;
using namespace effc::test;

namespace {

/// Keys and values of one panel and of several, alike and not; blocks of 64
/// keys and of 32; values of their own and those that are a part of their keys;
/// first tokens that stay.
const WindowCase kShapes[] = {
    {.H = 4,
     .G = 2,
     .J = 2,
     .K = 64,
     .V = 64,
     .W = 128,
     .window = 70,
     .sinks = true},
    {.H = 2,
     .G = 1,
     .J = 2,
     .K = 192,
     .V = 128,
     .W = 96,
     .window = 77,
     .softCap = 3},
    {.H = 3,
     .G = 3,
     .J = 1,
     .K = 64,
     .V = 128,
     .W = 64,
     .window = 50,
     .slopes = true,
     .S = 9},
    {.H = 4, .G = 1, .J = 1, .K = 128, .V = 64, .W = 256, .keysAlone = true}};

/// Of the products of prefill, which have 64 queries: how many there are, whose
/// rows are held in registers, and which are of warp groups.
struct Counts {
  int64_t all = 0, held = 0, together = 0;
};

Counts countProducts(ModuleOp module) {
  Counts counts;
  module.walk([&](tile::DotOp dot) {
    if (dot.getAcc().getType().rows() != 64)
      return;
    auto isShared = [](tile::TileType type) {
      return isa_and_nonnull<tile::SharedAttr>(type.getLayout());
    };
    ++counts.all;
    counts.held += !isShared(dot.getA().getType());
    counts.together +=
        isShared(dot.getB().getType()) &&
        cast<tile::SharedAttr>(dot.getB().getType().getLayout()).getSwizzled();
  });
  return counts;
}

class WindowProducts : public testing::TestWithParam<Products> {};

// What rounding an operand to bf16 loses is 2^-9 of it at most, to f16 or tf32
// an eighth of that. Queries, keys, weights and values are rounded, each by so
// much at most.
TEST_P(WindowProducts, AgreeWithTheReference) {
  bool rounds =
      testTarget().device != tile::Device::Host && GetParam() != Products::F32;
  bool isNarrow = rounds && GetParam() != Products::TF32;
  double loss = !rounds ? 0 : GetParam() == Products::BF16 ? 0x1p-9 : 0x1p-12;
  uint64_t seed = 20261124;
  for (const WindowCase &shape : kShapes) {
    SCOPED_TRACE(shape.text());
    WindowModel w(shape, seed++);
    Counts counts;
    PlanRunner runner =
        w.compile(WindowModel::optionsFor(StateStorage::F32, GetParam()),
                  [&](ModuleOp module) { counts = countProducts(module); });
    double error = worstError(w, runner, /*compareStates=*/true);
    if (CaseExport::isAsked()) // nothing was computed here
      continue;
    std::printf("largest relative error %.1e\n", error);
    EXPECT_LE(error, 4 * loss + 1e-5);
    if (rounds) {
      EXPECT_GE(error, loss / 2);
      EXPECT_EQ(counts.held, counts.all / 2) << "of " << counts.all;
      EXPECT_GE(counts.held, 2);
    }
    EXPECT_EQ(counts.together, isNarrow && testTarget().hasUnit(tile::getWgmma)
                                   ? counts.all
                                   : 0);
  }
}

// Where bits are to be stable, whichever entry takes a piece of a prompt.
TEST_P(WindowProducts, HaveTheSameBitsInAnyEntry) {
  PipelineOptions options =
      WindowModel::optionsFor(StateStorage::F32, GetParam());
  options.prefillRows = {16, 64, 192};
  options.bitStableOnGpu = true;
  for (const WindowCase &shape : llvm::ArrayRef(kShapes).take_front(2)) {
    SCOPED_TRACE(shape.text());
    WindowModel w(shape, 20261125);
    PlanRunner runner = w.compile(options);
    WindowSequence sequence = w.pickSequence(117, 0);
    WindowOutcome whole = w.inPieces(runner, sequence, {117});
    EXPECT_TRUE(w.inPieces(runner, sequence, {64, 16, 16, 16}) == whole);
    EXPECT_TRUE(w.inPieces(runner, sequence, {16, 5, 70}) == whole);
    EXPECT_TRUE(w.inPieces(runner, sequence, {40}) == whole)
        << "prefill, then decode";
  }
}

INSTANTIATE_TEST_SUITE_P(, WindowProducts,
                         testing::Values(Products::F32, Products::TF32,
                                         Products::BF16, Products::F16),
                         [](const auto &info) {
                           return nameOf(info.param).str();
                         });

} // namespace
