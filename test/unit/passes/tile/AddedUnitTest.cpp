// Product units that the libraries were built without: layouts follow what they
// answer, and no pass knows them.
#include "dialects/tile/Distribution.h"
#include "dialects/tile/units/Units.h"
#include "passes/tile/Layouts.h"

#include "test/unit/passes/tile/KernelText.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace {

/// Forms products of 16 rows by whole rows of two warps; wants rows of B that
/// are 32 elements apart, and reads A as anything else does.
class PairUnitAttr
    : public Attribute::AttrBase<PairUnitAttr, Attribute, AttributeStorage,
                                 ProductUnit::Trait> {
public:
  using Base::Base;
  static constexpr StringLiteral name = "test.pair_unit";

  StringRef getFormedBy() const { return "pairs"; }
  int64_t getWarps() const { return 2; }
  bool isBitStable() const { return true; }
  bool isAsynchronous() const { return false; }
  bool multiplies(Type b, Type) const { return b.isF16(); }
  bool isExact(Type) const { return true; }
  bool canForm(const DotShape &shape, int64_t warps, int64_t rowWarps) const {
    return rowWarps == warps / 2 && multiplies(shape.b, shape.roundedTo);
  }
  Attribute getAccumulators(int64_t threads, int64_t rowWarps) const {
    return FragmentAttr::get(getContext(), threads, rowWarps);
  }
  std::optional<SharedRows> getOwnRows(Type element) const {
    if (!element.isF16())
      return std::nullopt;
    return SharedRows{/*stride=*/32, /*swizzled=*/false};
  }
  bool readsOwnRows(DotOperand operand, bool) const {
    return operand == DotOperand::B;
  }
  bool takesB(Attribute layout) const {
    return cast<SharedAttr>(layout).getStride() == 32;
  }
  bool takesA(Attribute, bool) const { return true; }
  ArrayRef<DotTile> getTiles(bool) const { return {}; }
};

/// Forms the products that warp groups do, of columns that lie as theirs: four warps, of
/// which each has two along the columns.
class TurnedUnitAttr
    : public Attribute::AttrBase<TurnedUnitAttr, Attribute, AttributeStorage,
                                 ProductUnit::Trait> {
public:
  using Base::Base;
  static constexpr StringLiteral name = "test.turned_unit";

  StringRef getFormedBy() const { return "turned warps"; }
  int64_t getWarps() const { return 4; }
  bool isBitStable() const { return true; }
  bool isAsynchronous() const { return true; }
  bool multiplies(Type b, Type) const { return b.isF16() || b.isBF16(); }
  bool isExact(Type) const { return true; }
  bool canForm(const DotShape &shape, int64_t warps, int64_t rowWarps) const {
    return rowWarps == warps / 2 && multiplies(shape.b, shape.roundedTo);
  }
  Attribute getAccumulators(int64_t threads, int64_t rowWarps) const {
    return FragmentAttr::get(getContext(), threads, rowWarps);
  }
  std::optional<SharedRows> getOwnRows(Type element) const {
    return groups().getOwnRows(element);
  }
  bool readsOwnRows(DotOperand operand, bool transposed) const {
    return groups().readsOwnRows(operand, transposed);
  }
  bool takesB(Attribute layout) const { return groups().takesB(layout); }
  bool takesA(Attribute layout, bool transposed) const {
    return groups().takesA(layout, transposed);
  }
  ArrayRef<DotTile> getTiles(bool) const { return {}; }

private:
  ProductUnit groups() const { return getWgmma(getContext()); }
};

class TestDialect : public Dialect {
public:
  static constexpr StringLiteral getDialectNamespace() { return "test"; }
  explicit TestDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<TestDialect>()) {
    addAttributes<PairUnitAttr, TurnedUnitAttr>();
  }
};

/// How many warps lie along the rows of a product's sums, of four, and how far
/// apart the rows of its B lie.
struct Layouts {
  int64_t rowWarps, stride;
};

Layouts layoutsOf(StringRef type, bool withUnit) {
  MLIRContext context;
  context.loadDialect<TileDialect, arith::ArithDialect, TestDialect>();
  std::string text =
      ("tile.kernel @k(%item, %x: !tile.view<64x48xf32, [48, 1]>, "
       "%w: !tile.view<24x48x" +
       type +
       ", [48, 1]>) items(#tile.items<one, tile = 1, times = 1>) writes() "
       "schedule(#tile.schedule<decided = threads, threads = 128>) {\n"
       "  %c0 = arith.constant 0 : index\n  %f0 = arith.constant 0.0 : f32\n"
       "  %acc = tile.splat %f0 : !tile.tile<64x24xf32, accumulator>\n"
       "  %a = tile.load %x[%c0, %c0] sizes [64, 48] : "
       "!tile.view<64x48xf32, [48, 1]> -> !tile.tile<64x48xf32, operand>\n"
       "  %b = tile.load %w[%c0, %c0] sizes [24, 48] : !tile.view<24x48x" +
       type +
       ", [48, 1]> -> !tile.tile<24x48xf32, operand>\n"
       "  %d = tile.dot %acc, %a, %b transpose_b : "
       "!tile.tile<64x24xf32, accumulator>, !tile.tile<64x48xf32, operand>, "
       "!tile.tile<24x48xf32, operand>\n}")
          .str();
  auto module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text;
  KernelOp kernel = *module->getOps<KernelOp>().begin();
  SmallVector<ProductUnit> units = {getMmaSync(&context)};
  if (withUnit)
    units.insert(units.begin(), PairUnitAttr::get(&context));
  EXPECT_TRUE(succeeded(assignLayouts(kernel, /*threads=*/128, units)));
  auto dot = *kernel.getBody().getOps<DotOp>().begin();
  bool isForPairs = withUnit && type == "f16";
  EXPECT_EQ(productUnitOf(dot) == getMmaSync(&context), !isForPairs);
  auto sums = cast<FragmentAttr>(dot.getAcc().getType().getLayout());
  SharedAttr b = dot.getB().getType().getSharedLayout();
  return {sums.getRowWarps(), b.getStride()};
}

// 64 x 32 sums of products 64 deep, of columns of bf16: warp groups can form them, and so
// can a unit that is preferred to them. Both want the columns swizzled; the product says
// which of the two reads them.
TEST(AddedUnit, IsToldFromAnotherOfTheSameRows) {
  MLIRContext context;
  context.loadDialect<TileDialect, arith::ArithDialect, TestDialect>();
  constexpr StringLiteral text = R"mlir(
    tile.kernel @k(%item, %x: !tile.view<64x64xf32, [64, 1]>, %w: !tile.view<32x64xbf16, [64, 1]>)
        items(#tile.items<one, tile = 1, times = 1>) writes()
        schedule(#tile.schedule<decided = threads, threads = 128>) {
      %c0 = arith.constant 0 : index
      %f0 = arith.constant 0.0 : f32
      %acc = tile.splat %f0 : !tile.tile<64x32xf32, accumulator>
      %a = tile.load %x[%c0, %c0] sizes [64, 64] : !tile.view<64x64xf32, [64, 1]> -> !tile.tile<64x64xf32, operand>
      %b = tile.load %w[%c0, %c0] sizes [32, 64] : !tile.view<32x64xbf16, [64, 1]> -> !tile.tile<32x64xf32, operand>
      %d = tile.dot %acc, %a, %b transpose_b : !tile.tile<64x32xf32, accumulator>,
          !tile.tile<64x64xf32, operand>, !tile.tile<32x64xf32, operand>
    })mlir";
  ProductUnit turned = TurnedUnitAttr::get(&context),
              groups = getWgmma(&context), warps = getMmaSync(&context);
  auto check = [&](ArrayRef<ProductUnit> units, ProductUnit expected,
                   bool isSwizzled) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    KernelOp kernel = *module->getOps<KernelOp>().begin();
    ASSERT_TRUE(succeeded(assignLayouts(kernel, /*threads=*/128, units)));
    kernel.setScheduleAttr(ScheduleAttr::get(&context, /*threads=*/128,
                                             /*sharedBytes=*/std::nullopt,
                                             Decided::Layouts));
    EXPECT_TRUE(succeeded(verify(*module)));
    auto dot = *kernel.getBody().getOps<DotOp>().begin();
    EXPECT_EQ(productUnitOf(dot), expected);
    EXPECT_EQ(dot.getB().getType().getSharedLayout().getSwizzled(), isSwizzled);
    EXPECT_EQ(mayBeReadBesideThreads(dot.getB()), isSwizzled);
    // Rows of f32 are in nobody's own.
    EXPECT_FALSE(mayBeReadBesideThreads(dot.getA()));
  };
  check({turned, groups, warps}, turned, /*isSwizzled=*/true);
  check({groups, turned, warps}, groups, /*isSwizzled=*/true);
  check({warps}, warps, /*isSwizzled=*/false);
}

TEST(AddedUnit, LaysOutTheProductsThatItForms) {
  Layouts with = layoutsOf("f16", /*withUnit=*/true),
          without = layoutsOf("f16", /*withUnit=*/false);
  EXPECT_EQ(with.rowWarps, 2);
  EXPECT_EQ(with.stride, 32);
  EXPECT_NE(without.rowWarps, 2);
  EXPECT_NE(without.stride, 32);
}

TEST(AddedUnit, LeavesOthersToTheNextUnit) {
  Layouts with = layoutsOf("bf16", /*withUnit=*/true),
          without = layoutsOf("bf16", /*withUnit=*/false);
  EXPECT_EQ(with.rowWarps, without.rowWarps);
  EXPECT_EQ(with.stride, without.stride);
}

} // namespace
