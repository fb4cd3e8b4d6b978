// Outputs of a product whose readers do not tolerate rounding -> a product of their own.
//
//   %p = seq.linear %x, %w                  %w0 = seq.slice %w ... offset = 0, size = 320
//   %z = seq.slice %p ... offset = 0    ->  %p0 = seq.linear %x, %w0
//   %dt = seq.slice %p ... offset = 320     %z = seq.slice %p0 ... offset = 0
//                                           %w1 = seq.slice %w ... offset = 320, size = 6
//                                           %p1 = seq.linear %x, %w1
//                                           %dt = seq.slice %p1 ... offset = 0
//
// A result is f32 in memory or in 16 bits as a whole (NarrowResults.cpp).
#include "passes/seq/Passes.h"

#include "dialects/plan/MemoryLayout.h"
#include "dialects/seq/RoundingTolerance.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/DenseKind.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/kernel_facts/LaunchCost.h"
#include "passes/kernel_facts/MethodSizes.h"
#include "passes/kernel_facts/RoundedOperands.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_SPLITPRODUCTSPASS
#include "passes/seq/Passes.h.inc"

using namespace effc::seq;

namespace {
struct SplitProductsPass : impl::SplitProductsPassBase<SplitProductsPass> {
  void runOnOperation() override {
    tile::TargetAttr target = tile::getTarget(getOperation());
    if (!target || !handsOnRounded(target))
      return;
    int64_t fewestRows = fewestSplitRows(target);
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      auto entry = function->getAttrOfType<EntryAttr>("seq.entry");
      if (entry && entry.getRows() >= fewestRows)
        for (LinearOp product :
             llvm::make_early_inc_range(function.getOps<LinearOp>()))
          if (int64_t first = firstWide(product))
            split(product, first);
    }
  }

  /// The first of the outputs at the end that have to stay f32, where all before them
  /// tolerate rounding and are read from places that are aligned in bf16 as well; 0:
  /// the product stays whole.
  static int64_t firstWide(LinearOp product) {
    int64_t narrowBytes = storage::bytesOf(storage::DenseKind::BF16);
    auto type = cast<RankedTensorType>(product.getY().getType());
    auto weight = cast<RankedTensorType>(product.getWeight().getType());
    if (type.getRank() != 2 || product.getBias() ||
        !isa<FloatType>(weight.getElementType()) ||
        !product.getWeight().getDefiningOp<ParameterOp>())
      return 0;
    RoundingTolerance tolerance;
    int64_t outputs = type.getDimSize(1), first = outputs, tolerated = 0;
    for (Operation *user : product.getY().getUsers()) {
      auto slice = dyn_cast<SliceOp>(user);
      if (!slice || slice.getAxis() != 1)
        return 0;
      int64_t offset = slice.getOffset();
      if (!tolerance.ofReads(slice.getY())) {
        first = std::min(first, offset);
        continue;
      }
      if (offset * narrowBytes % plan::kRowAlignment != 0)
        return 0;
      tolerated = std::max<int64_t>(tolerated, offset + slice.getSize());
    }
    bool isShort = (outputs - first) * kSplitShare <= outputs;
    bool isWhole = first == outputs || tolerated == 0 || tolerated > first;
    return isWhole || !isShort ? 0 : first;
  }

  static void split(LinearOp product, int64_t first) {
    auto type = cast<RankedTensorType>(product.getY().getType());
    int64_t outputs = type.getDimSize(1);
    OpBuilder b(product);
    Location loc = product.getLoc(), locBehind = loc;
    if (auto named = dyn_cast<NameLoc>(loc))
      locBehind = NameLoc::get(b.getStringAttr(named.getName().str() + ".rest"),
                               named.getChildLoc());
    auto part = [&](Location loc, int64_t offset, int64_t size) -> Value {
      Value rows = SliceOp::create(b, loc, product.getWeight(), /*axis=*/0,
                                   offset, size);
      return LinearOp::create(b, loc,
                              RankedTensorType::get({type.getDimSize(0), size},
                                                    type.getElementType()),
                              product.getX(), rows, /*bias=*/Value());
    };
    Value before = part(loc, 0, first),
          behind = part(locBehind, first, outputs - first);
    for (Operation *user :
         llvm::make_early_inc_range(product.getY().getUsers())) {
      auto slice = cast<SliceOp>(user);
      bool isBehind = slice.getOffset() >= uint64_t(first);
      slice.getXMutable().assign(isBehind ? behind : before);
      slice.setOffset(slice.getOffset() - (isBehind ? first : 0));
    }
    emitRemark(loc)
        << "split in front of output " << first << ": the " << outputs - first
        << " outputs from there on do not tolerate rounding, all before do";
    product.erase();
  }
};
} // namespace
} // namespace effc
