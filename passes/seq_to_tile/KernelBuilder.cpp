// Views, operands and small arithmetic for kernel builders.
#include "passes/seq_to_tile/KernelBuilder.h"

#include "dialects/plan/MemoryLayout.h"
#include "dialects/storage/Storage.h"
#include "dialects/tile/BoxAxes.h"
#include "passes/seq_to_tile/ScalarCode.h"

using namespace mlir;
using namespace effc;
using namespace effc::plan;

KernelBuilder::KernelBuilder(seq::KernelOp source, const KernelContext &context,
                             OpBuilder &builder, StringRef name)
    : source(source), context(context), b(builder), location(source.getLoc()) {
  kernel = tile::KernelOp::create(
      b, location, b.getStringAttr(name),
      tile::ItemsAttr::get(b.getContext(), tile::Count::One, 1, 1),
      b.getDenseI64ArrayAttr({}), DenseI64ArrayAttr(), DenseI64ArrayAttr(),
      tile::ScheduleAttr());
  Block *body = b.createBlock(&kernel.getBody());
  body->addArgument(b.getIndexType(), location);
  b.setInsertionPointToStart(body);
  root = source.getRootOp();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

KernelBuilder::Access KernelBuilder::resolve(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    unsigned index = argument.getArgNumber();
    Access access{
        {LaunchOperand::Input, index, 0}, {}, {}, type.getElementType()};
    llvm::append_range(access.shape, type.getShape());
    if (context.storedTypes[index])
      access.element = context.storedTypes[index];
    type = type.clone(access.element);
    switch (context.operands[index]) {
    case MemoryKind::Buffer:
      access.strides = arenaStrides(type);
      break;
    case MemoryKind::Weight:
      access.strides = weightStrides(type);
      break;
    case MemoryKind::Table:
      access.strides = denseStrides(type);
      break;
    case MemoryKind::State:
      access.strides = stateStrides(type, context.slotBytes);
      access.shape.insert(access.shape.begin(), ShapedType::kDynamic);
      break;
    }
    return access;
  }
  Operation *op = tensor.getDefiningOp();
  if (auto slice = dyn_cast<seq::SliceOp>(op)) {
    Access access = resolve(slice.getX());
    access.operand.offsetBytes +=
        storage::Storage::get(access.element)
            .bytes(slice.getOffset() * access.strides[slice.getAxis()]);
    access.shape[slice.getAxis()] = slice.getSize();
    return access;
  }
  // What is repeated lies 0 elements further on.
  if (auto broadcast = dyn_cast<seq::BroadcastOp>(op)) {
    Access access = resolve(broadcast.getX());
    SmallVector<int64_t> strides(type.getRank(), 0);
    for (auto [axis, stride] :
         llvm::zip_equal(broadcast.getDimensions(), access.strides))
      strides[axis] = stride;
    access.strides = strides;
    access.shape.assign(type.getShape().begin(), type.getShape().end());
    return access;
  }
  // A reshape splits or merges dimensions after the first, which must lie
  // densely.
  auto reshape = cast<seq::ReshapeOp>(op);
  Access access = resolve(reshape.getX());
  if (ArrayRef(access.strides).drop_front() !=
      ArrayRef(denseStrides(reshape.getX().getType())).drop_front()) {
    reshape.emitOpError("reads channels that do not lie densely, which no "
                        "kernel can");
    broken = true;
  }
  SmallVector<int64_t> strides = denseStrides(type);
  // The elements of a vector lie densely, and so do those of a single row; rows of
  // anything else are padded.
  RankedTensorType rows = reshape.getX().getType();
  bool keepsRows = rows.getRank() > 1 && type.getRank() > 0 &&
                   type.getDimSize(0) == rows.getDimSize(0);
  if (keepsRows || (rows.getRank() > 1 && rows.getDimSize(0) != 1)) {
    if (!keepsRows) {
      reshape.emitOpError("reads padded rows under another first dimension, "
                          "which no kernel can: expects ")
          << rows.getDimSize(0) << " rows, but got " << type.getDimSize(0);
      broken = true;
    }
    strides[0] = access.strides[0];
  }
  access.strides = strides;
  access.shape.assign(type.getShape().begin(), type.getShape().end());
  return access;
}

Value KernelBuilder::argumentFor(const Access &access, bool written,
                                 bool isStreamed) {
  SmallVector<int64_t> shape = access.shape;
  auto type = tile::ViewType::get(b.getContext(), shape, access.element,
                                  access.strides);
  for (auto [i, operand] : llvm::enumerate(operands)) {
    BlockArgument argument = kernel.getOperandArguments()[i];
    if (operand == access.operand && argument.getType() == type) {
      if (written && !llvm::is_contained(writes, int64_t(i)))
        writes.push_back(i);
      return argument;
    }
  }
  if (written)
    writes.push_back(operands.size());
  if (isStreamed)
    streamed.push_back(operands.size());
  operands.push_back(access.operand);
  return kernel.getBody().addArgument(type, location);
}

Value KernelBuilder::readAs(const Access &access) {
  bool weight = access.operand.source == LaunchOperand::Input &&
                context.operands[access.operand.index] == MemoryKind::Weight;
  return argumentFor(access, /*written=*/false, weight);
}

Value KernelBuilder::read(Value tensor) { return readAs(resolve(tensor)); }

Value KernelBuilder::readWriteState(Value state) {
  return argumentFor(resolve(state), /*written=*/true, /*isStreamed=*/false);
}

Value KernelBuilder::stateChannels(Value state, int64_t first, int64_t count,
                                   bool written) {
  Access access = resolve(state);
  access.operand.offsetBytes += storage::Storage::get(access.element)
                                    .bytes(first * access.strides.back());
  access.shape.back() = count;
  return argumentFor(access, written, /*isStreamed=*/false);
}

KernelBuilder::Access KernelBuilder::resultAccess(unsigned result) {
  RankedTensorType type =
      cast<RankedTensorType>(source.getResult(result).getType())
          .clone(context.resultPlaces[result].stored);
  Access access{
      {LaunchOperand::Result, result, 0}, {}, {}, type.getElementType()};
  llvm::append_range(access.shape, type.getShape());
  access.strides =
      context.resultLeaves[result] ? denseStrides(type) : arenaStrides(type);
  if (const ResultPlace &place = context.resultPlaces[result];
      place.rowStride > 0) {
    access.strides.front() = place.rowStride;
    access.operand.offsetBytes = place.offsetBytes;
  }
  return access;
}

Value KernelBuilder::write(unsigned result) {
  return argumentFor(resultAccess(result), /*written=*/true,
                     /*isStreamed=*/false);
}

// Splits the last dimension, whose elements are neighbours.
template <typename AccessT> static AccessT inPairs(AccessT access) {
  access.shape.back() /= 2;
  access.shape.push_back(2);
  access.strides.back() *= 2;
  access.strides.push_back(1);
  return access;
}

Value KernelBuilder::readPairs(Value tensor) {
  return readAs(inPairs(resolve(tensor)));
}

Value KernelBuilder::writePairs(unsigned result) {
  return argumentFor(inPairs(resultAccess(result)), /*written=*/true,
                     /*isStreamed=*/false);
}

Value KernelBuilder::segmentTable() {
  LaunchOperand wanted{LaunchOperand::Segments};
  for (auto [i, operand] : llvm::enumerate(operands))
    if (operand == wanted)
      return kernel.getOperandArguments()[i];
  operands.push_back(wanted);
  return kernel.getBody().addArgument(
      tile::SegmentTableType::get(b.getContext()), location);
}

Value KernelBuilder::scratch(ArrayRef<int64_t> shape, bool written) {
  scratchType = RankedTensorType::get(shape, b.getF32Type());
  Access access{{LaunchOperand::Scratch}, {}, {}, b.getF32Type()};
  llvm::append_range(access.shape, shape);
  access.strides = arenaStrides(scratchType);
  return argumentFor(access, written, /*isStreamed=*/false);
}

void KernelBuilder::setItems(tile::Count count, int64_t tile, int64_t times) {
  kernel.setItemsAttr(tile::ItemsAttr::get(b.getContext(), count, tile, times));
}

BuiltKernel KernelBuilder::take() {
  kernel.setWrites(writes);
  SmallVector<int64_t> aligned;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    // The tables of a call lie as the runtime packs them.
    bool table = operand.source == LaunchOperand::Segments ||
                 (operand.source == LaunchOperand::Input &&
                  context.operands[operand.index] == MemoryKind::Table);
    if (!table && operand.offsetBytes % plan::kRowAlignment == 0)
      aligned.push_back(i);
  }
  if (!aligned.empty())
    kernel.setAligned(ArrayRef<int64_t>(aligned));
  if (!streamed.empty())
    kernel.setStreamed(ArrayRef<int64_t>(streamed));
  return {kernel, operands, scratchType};
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Value KernelBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, location, value);
}

Value KernelBuilder::scalar(double value) {
  return arith::ConstantOp::create(
      b, location, b.getF32FloatAttr(static_cast<float>(value)));
}

Value KernelBuilder::add(Value lhs, Value rhs) {
  return arith::AddIOp::create(b, location, lhs, rhs);
}
Value KernelBuilder::sub(Value lhs, Value rhs) {
  return arith::SubIOp::create(b, location, lhs, rhs);
}
Value KernelBuilder::mul(Value lhs, int64_t rhs) {
  return arith::MulIOp::create(b, location, lhs, index(rhs));
}
Value KernelBuilder::min(Value lhs, Value rhs) {
  return arith::MinSIOp::create(b, location, lhs, rhs);
}

Value KernelBuilder::max(Value lhs, Value rhs) {
  return arith::MaxSIOp::create(b, location, lhs, rhs);
}

Value KernelBuilder::compare(arith::CmpIPredicate predicate, Value lhs,
                             Value rhs) {
  return arith::CmpIOp::create(b, location, predicate, lhs, rhs);
}

Value KernelBuilder::either(Value condition, Value yes, Value no) {
  return arith::SelectOp::create(b, location, condition, yes, no);
}

// By loops of one turn or none, which the kernel level has.
void KernelBuilder::when(Value condition, function_ref<void()> body) {
  auto loop = scf::ForOp::create(
      b, location, index(0), either(condition, index(1), index(0)), index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body();
}

Value KernelBuilder::where(Value condition, Value otherwise,
                           function_ref<Value()> body) {
  return where(condition, ArrayRef(otherwise),
               [&] { return SmallVector<Value>{body()}; })
      .front();
}

ValueRange KernelBuilder::where(Value condition, ArrayRef<Value> otherwise,
                                function_ref<SmallVector<Value>()> body) {
  auto loop = scf::ForOp::create(b, location, index(0),
                                 either(condition, index(1), index(0)),
                                 index(1), otherwise);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(b, location, body());
  return loop.getResults();
}

std::pair<Value, Value> KernelBuilder::divide(Value value, int64_t divisor) {
  return {arith::DivUIOp::create(b, location, value, index(divisor)),
          arith::RemUIOp::create(b, location, value, index(divisor))};
}

tile::TileType KernelBuilder::blockType(int64_t rows, int64_t columns,
                                        tile::Role role) {
  return tile::TileType::get(b.getContext(), {rows, columns}, b.getF32Type(),
                             role, {});
}
tile::TileType KernelBuilder::rowType(int64_t columns) {
  return tile::TileType::get(b.getContext(), {columns}, b.getF32Type(),
                             tile::Role::Row, {});
}
tile::TileType KernelBuilder::columnType(int64_t rows) {
  return tile::TileType::get(b.getContext(), {rows}, b.getF32Type(),
                             tile::Role::Column, {});
}

Value KernelBuilder::map(tile::TileType type, ValueRange inputs,
                         function_ref<Value(OpBuilder &, ValueRange)> body) {
  auto op = tile::MapOp::create(b, location, type, inputs);
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&op.getBody());
  for (size_t i = 0; i < inputs.size(); ++i)
    block->addArgument(b.getF32Type(), location);
  Value result = body(b, block->getArguments());
  tile::YieldOp::create(b, location, result);
  return op;
}

Value KernelBuilder::dot(Value acc, Value lhs, Value rhs, bool transposeA,
                         bool transposeB) {
  TypeAttr roundedTo =
      context.roundedTo() ? TypeAttr::get(context.roundedTo()) : TypeAttr();
  return tile::DotOp::create(b, location, acc, lhs, rhs, transposeA, transposeB,
                             roundedTo);
}

Value KernelBuilder::digitDot(Value acc, Value lhs, Value rhs,
                              storage::DigitsType digits) {
  return tile::DotOp::create(b, location, acc, lhs, rhs,
                             /*transposeA=*/false, /*transposeB=*/true,
                             TypeAttr::get(digits));
}

Value KernelBuilder::exactDot(Value acc, Value lhs, Value rhs, bool transposeA,
                              bool transposeB) {
  return tile::DotOp::create(b, location, acc, lhs, rhs, transposeA, transposeB,
                             /*roundedTo=*/TypeAttr());
}

Value KernelBuilder::load(Value view, ValueRange indices,
                          ArrayRef<int64_t> sizes, tile::TileType type,
                          Value rows, Value columns) {
  // Along repeated columns a row of a tile is one number.
  auto viewType = cast<tile::ViewType>(view.getType());
  if (type.columns() > 1 && viewType.getStrides().back() == 0) {
    if (type.rows() == 1)
      return tile::ReadOp::create(b, location, b.getF32Type(), view, indices);
    SmallVector<int64_t> single(sizes);
    single.back() = 1;
    return tile::LoadOp::create(b, location, columnType(type.rows()), view,
                                indices, rows, Value(), single,
                                /*fetch_next=*/false);
  }
  // A host loads neighbours, whatever a stride says.
  int64_t column = tile::axesOf(sizes, type).column;
  if (!isGpu() && column >= 0 && viewType.getStrides()[column] != 1) {
    mlir::emitError(location)
        << "reads elements that lie " << viewType.getStrides()[column]
        << " apart as one row, which no kernel of the host can";
    broken = true;
  }
  return tile::LoadOp::create(b, location, type, view, indices, rows, columns,
                              sizes, /*fetch_next=*/false);
}

void KernelBuilder::fetchNext(Value tile) {
  tile.getDefiningOp<tile::LoadOp>().setFetchNext(true);
}

void KernelBuilder::store(Value tile, Value view, ValueRange indices,
                          ArrayRef<int64_t> sizes, Value rows, Value columns) {
  tile::StoreOp::create(b, location, tile, view, indices, rows, columns, sizes);
}

LogicalResult KernelBuilder::finish(
    Value rootResult, Value tile, function_ref<Value(Value)> loadLike,
    function_ref<void(unsigned, Value)> storeResult, tile::TileType type) {
  if (tile)
    type = cast<tile::TileType>(tile.getType());
  llvm::DenseMap<Value, Value> tiles;
  if (rootResult)
    tiles[rootResult] = tile;
  auto tileOf = [&](Value tensor) -> Value {
    if (!tiles.count(tensor))
      tiles[tensor] = loadLike(tensor);
    return tiles[tensor];
  };
  for (Operation &op : getSourceBody().without_terminator()) {
    if (!seq::isElementwiseOp(&op))
      continue;
    SmallVector<Value> inputs;
    for (Value operand : op.getOperands())
      inputs.push_back(tileOf(operand));
    if (llvm::is_contained(inputs, Value()))
      return op.emitOpError(
          "reads a tensor that its kernel cannot read at the same place");
    tiles[op.getResult(0)] =
        map(type, inputs, [&](OpBuilder &builder, ValueRange elements) {
          return emitScalarCode(builder, location, &op, elements);
        });
  }
  for (auto [i, yielded] :
       llvm::enumerate(getSourceBody().getTerminator()->getOperands()))
    if (auto best = yielded.getDefiningOp<seq::BestOp>())
      storeResult(i, tiles.lookup(best.getX()));
    else if (Value result = tiles.lookup(yielded))
      storeResult(i, result);
  return success();
}
