// Outputs of a product that bear no rounding -> a product of their own.
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

#include "dialects/seq/Conditioning.h"
#include "dialects/seq/Seq.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_SPLITPRODUCTSPASS
#include "passes/seq/Passes.h.inc"

using namespace effc::seq;

/// Rows of a call from which a product is split. A launch more takes as long as
/// reading and writing 4 MB of what is then half as large; predicted for an H100
/// (tools/sass_model).
static constexpr int64_t kFewestRows = 1024;
/// Of outputs that bear no rounding, how many there may be among all.
static constexpr int64_t kMostShare = 8;

namespace {
struct SplitProductsPass : impl::SplitProductsPassBase<SplitProductsPass> {
  void runOnOperation() override {
    tile::TargetAttr target = tile::getTarget(getOperation());
    if (!target || !target.getRoundedTo() || target.getRoundedTo().isTF32() ||
        target.getBitStable())
      return;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      auto entry = function->getAttrOfType<EntryAttr>("seq.entry");
      if (entry && entry.getRows() >= kFewestRows)
        for (LinearOp product :
             llvm::make_early_inc_range(function.getOps<LinearOp>()))
          if (int64_t first = firstUnborne(product))
            split(product, first);
    }
  }

  /// The first of the outputs at the end that bear no rounding, where all before
  /// them do; 0: the product stays whole.
  static int64_t firstUnborne(LinearOp product) {
    auto type = cast<RankedTensorType>(product.getY().getType());
    if (type.getRank() != 2 || product.getBias() ||
        !product.getWeight().getDefiningOp<ParameterOp>())
      return 0;
    int64_t outputs = type.getDimSize(1), first = outputs, borne = 0;
    for (Operation *user : product.getY().getUsers()) {
      auto slice = dyn_cast<SliceOp>(user);
      if (!slice || slice.getAxis() != 1)
        return 0;
      int64_t offset = slice.getOffset();
      if (bearsRounding(Value(slice.getY())))
        borne = std::max<int64_t>(borne, offset + slice.getSize());
      else
        first = std::min(first, offset);
    }
    bool isShort = (outputs - first) * kMostShare <= outputs;
    return first < outputs && borne > 0 && borne <= first && isShort ? first
                                                                     : 0;
  }

  static void split(LinearOp product, int64_t first) {
    auto type = cast<RankedTensorType>(product.getY().getType());
    int64_t outputs = type.getDimSize(1);
    OpBuilder b(product);
    auto part = [&](int64_t offset, int64_t size) -> Value {
      Value rows = SliceOp::create(b, product.getLoc(), product.getWeight(),
                                   /*axis=*/0, offset, size);
      return LinearOp::create(b, product.getLoc(),
                              RankedTensorType::get({type.getDimSize(0), size},
                                                    type.getElementType()),
                              product.getX(), rows, /*bias=*/Value());
    };
    Value before = part(0, first), behind = part(first, outputs - first);
    for (Operation *user :
         llvm::make_early_inc_range(product.getY().getUsers())) {
      auto slice = cast<SliceOp>(user);
      bool isBehind = slice.getOffset() >= uint64_t(first);
      slice.getXMutable().assign(isBehind ? behind : before);
      slice.setOffset(slice.getOffset() - (isBehind ? first : 0));
    }
    emitRemark(product.getLoc())
        << "split behind output " << first << ": the " << outputs - first
        << " outputs from there on bear no rounding, all before them do";
    product.erase();
  }
};
} // namespace
} // namespace effc
