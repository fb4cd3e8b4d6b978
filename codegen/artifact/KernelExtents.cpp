#include "codegen/artifact/KernelExtents.h"

#include "dialects/plan/SegmentRecord.h"
#include "dialects/storage/Storage.h"
#include "dialects/tile/Tile.h"

using namespace llvm;
using namespace effc;
using namespace effc::codegen;
using namespace effc::artifact;

static constexpr StringLiteral kExtentsAttr = "plan.extents";

/// What an aligned operand starts at a multiple of (tile.kernel).
static constexpr int64_t kAlignment = 64;

namespace {
/// As a row of numbers in the attribute.
struct Extent {
  int64_t stride, bytes, alignment;
};
} // namespace

// The elements of a view from its first to its last, the lead left out where it
// is a run-time number.
static Extent extentOf(mlir::Type type, bool aligned) {
  auto view = dyn_cast<tile::ViewType>(type);
  if (!view) // the segment table: whole records
    return {plan::SegmentRecord::kBytes, plan::SegmentRecord::kBytes, 8};
  storage::Storage storage = storage::Storage::get(view.getElementType());
  bool counted = mlir::ShapedType::isDynamic(view.getShape().front());
  int64_t last = 0;
  for (auto [size, stride] :
       drop_begin(zip_equal(view.getShape(), view.getStrides()), counted))
    last += (size - 1) * stride;
  // Whole blocks, and of panels all their rows.
  int64_t each = storage.blockElements();
  if (storage.panel())
    each = storage.blockRows() * view.getStrides().drop_back().back();
  int64_t touched = alignTo(last + 1, each);
  // Blocks are read byte by byte.
  int64_t alignment = storage.isDense() ? storage.blockBytes() : 1;
  return {counted ? storage.bytes(view.getStrides().front()) : 0,
          storage.bytes(touched), aligned ? kAlignment : alignment};
}

void effc::codegen::recordExtents(mlir::ModuleOp module) {
  mlir::Builder b(module.getContext());
  SmallVector<mlir::NamedAttribute> kernels;
  for (auto kernel : module.getOps<tile::KernelOp>()) {
    tile::ItemsAttr items = kernel.getItems();
    SmallVector<int64_t> numbers = {static_cast<int64_t>(items.getCount()),
                                    items.getTile(), items.getTimes()};
    ArrayRef<int64_t> aligned =
        kernel.getAligned().value_or(ArrayRef<int64_t>());
    // The first argument is the item.
    for (auto [i, argument] :
         enumerate(kernel.getBody().getArguments().drop_front())) {
      Extent extent = extentOf(argument.getType(),
                               is_contained(aligned, static_cast<int64_t>(i)));
      numbers.append({extent.stride, extent.bytes, extent.alignment});
    }
    kernels.push_back(
        b.getNamedAttr(kernel.getSymName(), b.getDenseI64ArrayAttr(numbers)));
  }
  module->setAttr(kExtentsAttr, b.getDictionaryAttr(kernels));
}

void effc::codegen::fillExtents(mlir::ModuleOp module, KernelT &kernel) {
  auto all = module->getAttrOfType<mlir::DictionaryAttr>(kExtentsAttr);
  auto found = all ? all.getAs<mlir::DenseI64ArrayAttr>(kernel.name) : nullptr;
  if (!found)
    return;
  ArrayRef<int64_t> numbers = found;
  kernel.items = std::make_unique<Items>(static_cast<Count>(numbers[0]),
                                         numbers[1], numbers[2]);
  for (numbers = numbers.drop_front(3); !numbers.empty();
       numbers = numbers.drop_front(3))
    kernel.extents.emplace_back(numbers[0], numbers[1], numbers[2], 0);
}
