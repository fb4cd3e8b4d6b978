// Products of warp groups (wgmma), which run beside the threads.
#include "codegen/sim/units/Units.h"

#include "dialects/tile/Tile.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace effc;

namespace effc::sim {

namespace {
class GroupProducts {
public:
  explicit GroupProducts(std::shared_ptr<Fragments> fragments)
      : fragments(std::move(fragments)) {}

  LogicalResult rewrite(tile::WarpGroupDotOp op, RewriteState &s);
  LogicalResult rewrite(tile::WarpGroupWaitOp op, RewriteState &s);
  LogicalResult rewrite(tile::WarpGroupFenceOp op, RewriteState &s);
  LogicalResult rewrite(NVVM::WgmmaGroupSyncAlignedOp op, RewriteState &s);
  /// Erases products, whose results nothing may read.
  LogicalResult finish();

private:
  Value sumsOf(tile::WarpGroupDotOp op, RewriteState &s);

  std::shared_ptr<Fragments> fragments;
  /// Of sums that are under way: the array of which this is an element, and
  /// its number.
  llvm::DenseMap<Value, std::pair<Value, unsigned>> underWay;
  SmallVector<Operation *> begun;
};
} // namespace

// The array that `op` adds to: a chain of products has one, which the simulator
// changes when they are waited for. Null where `op` adds to a part of a chain.
Value GroupProducts::sumsOf(tile::WarpGroupDotOp op, RewriteState &s) {
  if (op.getAcc().empty()) {
    Value zero =
        LLVM::ConstantOp::create(s.b, s.b.getF32Type(), s.b.getF32FloatAttr(0));
    return s.arrayOf(SmallVector<Value>(op.getSums().size(), zero));
  }
  Value sums = underWay.lookup(op.getAcc()[0]).first;
  bool isChain = llvm::all_of(llvm::enumerate(op.getAcc()), [&](auto item) {
    auto [array, number] = underWay.lookup(item.value());
    return array == sums && (!sums || number == item.index());
  });
  if (!isChain)
    return {};
  return sums ? sums : s.arrayOf(op.getAcc());
}

static std::optional<rt::SimMma> typeOf(Type element) {
  if (element.isBF16())
    return rt::SimMma::M16N8K16Bf16;
  if (element.isF16())
    return rt::SimMma::M16N8K16F16;
  return std::nullopt;
}

LogicalResult GroupProducts::rewrite(tile::WarpGroupDotOp op, RewriteState &s) {
  Value sums = sumsOf(op, s);
  if (!sums)
    return op.emitError("the simulator adds to sums that are under way only "
                        "all together");
  for (auto [i, sum] : llvm::enumerate(op.getSums()))
    underWay[sum] = {sums, i};
  std::optional<rt::SimMma> type = typeOf(op.getElement());
  if (!type)
    return op.emitError("the simulator knows products of bf16 and f16 only");
  uint32_t how =
      static_cast<uint32_t>(*type) | (op.getAcross() ? rt::kSimAcross : 0);
  Value a = s.arrayOf(op.getA());
  fragments->passOrigins(op, s);
  s.call(EFFC_SIM_CALL(multiplyGroup), {},
         {s.i32(how), s.i32(op.getSums().size()), a, op.getB(), sums},
         /*withSite=*/true);
  begun.push_back(op);
  return success();
}

LogicalResult GroupProducts::rewrite(tile::WarpGroupWaitOp op,
                                     RewriteState &s) {
  s.call(EFFC_SIM_CALL(waitProducts), {}, {}, /*withSite=*/true);
  for (auto [pending, sum] : llvm::zip_equal(op.getPending(), op.getSums())) {
    auto [array, number] = underWay.lookup(pending);
    if (!array)
      return op.emitError("the simulator waits for sums that are under way, "
                          "in the block that began them");
    sum.replaceAllUsesWith(LLVM::LoadOp::create(
        s.b, s.b.getF32Type(), s.elementAt(array, s.b.getF32Type(), number)));
  }
  return erase(op);
}

// Registers are values here.
LogicalResult GroupProducts::rewrite(tile::WarpGroupFenceOp op,
                                     RewriteState &s) {
  op->replaceAllUsesWith(op->getOperands());
  return erase(op);
}

LogicalResult GroupProducts::rewrite(NVVM::WgmmaGroupSyncAlignedOp op,
                                     RewriteState &s) {
  s.call(EFFC_SIM_CALL(commitProducts), {}, {}, /*withSite=*/true);
  return erase(op);
}

LogicalResult GroupProducts::finish() {
  for (Operation *product : llvm::reverse(begun)) {
    if (!product->use_empty())
      return product->emitError("is read before it has been waited for");
    product->erase();
  }
  return success();
}

std::optional<ProductRegisters> warpGroupProductRegisters(Operation *op) {
  auto dot = dyn_cast<tile::WarpGroupDotOp>(op);
  if (!dot)
    return std::nullopt;
  return ProductRegisters{dot.getA(), {}, /*inPairs=*/true};
}

void addWarpGroupProduct(Rewrites &rewrites,
                         std::shared_ptr<Fragments> fragments) {
  auto products = std::make_shared<GroupProducts>(std::move(fragments));
  rewrites.add<tile::WarpGroupDotOp, tile::WarpGroupWaitOp,
               tile::WarpGroupFenceOp, NVVM::WgmmaGroupSyncAlignedOp>(
      [products](auto op, RewriteState &s) {
        return products->rewrite(op, s);
      });
  rewrites.addEnd([products] { return products->finish(); });
}

} // namespace effc::sim
