// The closed set of layouts, as fields of a thread's number.
#include "dialects/tile/Distribution.h"

#include "dialects/storage/Bundles.h"
#include "dialects/storage/Storage.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

int64_t effc::tile::getThreads(Attribute layout) {
  return cast<TileLayout>(layout).getThreads();
}

bool Axis::exact() const {
  int64_t last = offsets.back();
  for (const ThreadField &field : fields)
    last += ((int64_t(1) << field.count) - 1) * field.step;
  return last < size;
}

unsigned Axis::threadBits() const {
  unsigned bits = 0;
  for (const ThreadField &field : fields)
    bits |= ((1u << field.count) - 1) << field.shift;
  return bits;
}

// Offsets of runs of `run` places, `period` apart, that cover `size`.
static SmallVector<int64_t> runs(int64_t size, int64_t period,
                                 ArrayRef<int64_t> run) {
  SmallVector<int64_t> offsets;
  for (int64_t start = 0; start < size; start += period)
    for (int64_t place : run)
      offsets.push_back(start + place);
  return offsets;
}

Distribution BlockedAttr::distribute(int64_t rows, int64_t columns) const {
  unsigned laneBits = llvm::Log2_64(getLanes());
  unsigned groupBits = llvm::Log2_64(getThreads()) - laneBits;
  int64_t vector = getVector();
  SmallVector<int64_t> run = llvm::to_vector(llvm::seq<int64_t>(0, vector));
  Distribution d;
  d.rows = {rows,
            {{laneBits, groupBits, 1}},
            runs(rows, int64_t(1) << groupBits, {0})};
  d.columns = {columns,
               {{0, laneBits, vector}},
               runs(columns, getLanes() * vector, run)};
  return d;
}

Distribution FragmentAttr::distribute(int64_t rows, int64_t columns) const {
  unsigned warpBits = llvm::Log2_64(getThreads() / kWarp);
  unsigned rowBits = llvm::Log2_64(getRowWarps());
  unsigned columnBits = warpBits - rowBits;
  Distribution d;
  d.rows = {rows,
            {{2, 3, 1}, {5, rowBits, 16}},
            runs(rows, int64_t(16) << rowBits, {0, 8})};
  d.columns = {columns,
               {{0, 2, 2}, {5 + rowBits, columnBits, 8}},
               runs(columns, int64_t(8) << columnBits, {0, 1})};
  return d;
}

Distribution Distribution::of(TileType type) {
  Distribution d = cast<RegisterLayout>(type.getLayout())
                       .distribute(type.rows(), type.columns());
  if (type.getRole() == Role::Row)
    d.rows = {1, {}, {0}};
  if (type.getRole() == Role::Column)
    d.columns = {1, {}, {0}};
  return d;
}

BlockedAttr effc::tile::blockedFor(MLIRContext *context, int64_t rows,
                                   int64_t columns, int64_t threads,
                                   int64_t widest, bool keepsRows) {
  int64_t vector = std::min(widest, columns & -columns);
  int64_t best = 0, fewest = 0;
  for (int64_t lanes = 1; lanes <= threads; lanes *= 2) {
    int64_t places = llvm::divideCeil(rows, threads / lanes) *
                     llvm::divideCeil(columns, lanes * vector);
    if (best == 0 || places < fewest ||
        (places == fewest && (lanes <= kWarp || keepsRows)))
      best = lanes, fewest = places;
  }
  return BlockedAttr::get(context, threads, best, vector);
}

int64_t effc::tile::widestRun(Type element) {
  auto block = dyn_cast<storage::BlockType>(element);
  return block && storage::liesInRuns(block) ? storage::kBundleRun : kUsualRun;
}

bool effc::tile::isBoxOperand(BlockArgument argument) {
  auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp());
  if (!kernel || argument == kernel.getItem())
    return false;
  int64_t operand = llvm::find(kernel.getOperandArguments(), argument) -
                    kernel.getOperandArguments().begin();
  auto lists = [&](std::optional<ArrayRef<int64_t>> list) {
    return list && llvm::is_contained(*list, operand);
  };
  return lists(kernel.getStreamed()) && lists(kernel.getAligned());
}

bool effc::tile::isBoxCopied(ViewType view) {
  ArrayRef<int64_t> strides = view.getStrides();
  return isa<FloatType>(view.getElementType()) && view.getShape().size() == 2 &&
         !ShapedType::isDynamic(view.getShape()[0]) && strides[1] == 1 &&
         strides[0] >= view.getShape()[1] &&
         storage::Storage::get(view.getElementType()).bytes(strides[0]) %
                 kBoxPitch ==
             0;
}

int64_t effc::tile::panelElements(TileType type) {
  SharedAttr layout = type.getSharedLayout();
  return layout.getStride() * llvm::alignTo(type.rows(), kSharedTile);
}

int64_t effc::tile::sharedBytes(TileType type) {
  storage::Storage storage = storage::Storage::get(type.getElementType());
  int64_t elements = type.rows() * type.columns();
  if (type.isBlock()) {
    int64_t stride = type.getSharedLayout().getStride();
    elements = panelElements(type) * llvm::divideCeil(type.columns(), stride);
  }
  return llvm::alignTo(storage.bytes(elements), kSharedAlignment);
}

int64_t effc::tile::sharedStride(TileType type, bool inPairs) {
  if (!type.isBlock())
    return 1;
  bool wide = inPairs && type.getElementType().isF32();
  int64_t bytes = storage::Storage::get(type.getElementType()).blockBytes();
  return llvm::alignTo(type.columns(), kSharedTile) +
         kSharedAlignment * (wide ? 2 : 1) / bytes;
}
