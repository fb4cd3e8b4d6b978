#include "passes/seq_to_tile/builders/TileCode.h"

#include "passes/kernel_facts/TableRow.h"
#include "passes/seq_to_tile/ScalarCode.h"

using namespace mlir;
using namespace effc;
using Along = TileCode::Along;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static bool has(ArrayRef<Along> axes, Along along) {
  return llvm::is_contained(axes, along);
}
static bool isColumn(Along along) {
  return along == Along::Value || along == Along::Column;
}
static bool hasColumn(ArrayRef<Along> axes) {
  return llvm::any_of(axes, isColumn);
}

//===- what is where ------------------------------------------------------===//

void TileCode::setSource(Value argument, Value tensor, bool perToken) {
  sources[argument] = {tensor, perToken};
}

void TileCode::declareBound(Value argument, Axes axes) {
  bound[argument] = std::move(axes);
}

void TileCode::bind(Value argument, Value tile) {
  emitted[keyOf(argument, bound[argument])] = tile;
}

void TileCode::setVarying(Block &block,
                          function_ref<bool(BlockArgument)> varies) {
  for (BlockArgument argument : block.getArguments())
    if (varies(argument))
      varying.insert(argument);
  for (Operation &op : block)
    if (llvm::any_of(op.getOperands(),
                     [&](Value operand) { return varying.contains(operand); }))
      varying.insert(op.result_begin(), op.result_end());
}

TileCode::Key TileCode::keyOf(Value value, const Axes &axes) {
  unsigned number = 1;
  for (Along along : axes)
    number = number * 8 + unsigned(along);
  return {value, number};
}

//===- whether it can be said in tiles ------------------------------------===//

bool TileCode::canEmit(Value value, const Axes &axes) {
  Plan how = plan(value, axes);
  obstacle = how.obstacle;
  reason = how.reason;
  return how.possible;
}

TileCode::Plan TileCode::refuse(Operation *op, const Twine &why) {
  Plan refused;
  refused.obstacle = op;
  refused.reason = why.str();
  return refused;
}

TileCode::Plan TileCode::plan(Value value, const Axes &axes) {
  Key key = keyOf(value, axes);
  if (auto known = plans.find(key); known != plans.end())
    return known->second;
  Plan how = planDirect(value, axes);
  // A vector along the other axis is turned.
  bool rows = has(axes, Along::Key);
  if (!how.possible && !isChunked && rows != hasColumn(axes) &&
      !has(axes, Along::Value)) {
    Axes other;
    for (Along along : axes)
      other.push_back(along == Along::Key      ? Along::Column
                      : along == Along::Column ? Along::Key
                                               : along);
    Plan across = planDirect(value, other);
    if (across.possible) {
      plans.try_emplace(keyOf(value, other), across);
      how = {true, true, {other}};
    }
  }
  return plans[key] = how;
}

TileCode::Plan TileCode::planDirect(Value value, const Axes &axes) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    Operation *user = value.getParentBlock()->getParentOp();
    if (!value.use_empty())
      user = *value.user_begin();
    if (auto known = bound.find(value); known != bound.end())
      return known->second == axes
                 ? Plan{true, false, {}}
                 : refuse(user, "reads a state along other dimensions than "
                                "those that it is kept along");
    // Consecutive columns of a tile are neighbours in memory.
    const auto *key = llvm::find(axes, Along::Key);
    if (std::any_of(axes.begin(), key, isColumn) && key != axes.end())
      return refuse(user, "reads a matrix that lies transposed");
    return {true, false, {}};
  }
  auto withOperands = [&](ArrayRef<Axes> operands) -> Plan {
    for (auto [operand, narrow] : llvm::zip(op->getOperands(), operands))
      if (Plan part = plan(operand, narrow); !part.possible)
        return part;
    return {true, false, llvm::to_vector<2>(operands)};
  };
  if (seq::isElementwiseOp(op))
    return withOperands(SmallVector<Axes>(op->getNumOperands(), axes));
  if (isa<seq::ConstantOp>(op))
    return {true, false, {}};
  if (isa<seq::AtStartOp>(op))
    return isChunked ? refuse(op, "reads positions, which chunks do not")
                     : Plan{true, false, {}};
  if (auto broadcast = dyn_cast<seq::BroadcastOp>(op)) {
    Axes narrow;
    for (int64_t dimension : broadcast.getDimensions())
      narrow.push_back(axes[dimension]);
    // Of what the result is like, no element is read.
    Plan part = plan(broadcast.getX(), narrow);
    return part.possible ? Plan{true, false, {narrow}} : part;
  }
  if (auto contract = dyn_cast<seq::ContractOp>(op)) {
    // A sum over one element is none, but of a state of one row or column it is
    // a sum along that.
    Plan refused;
    for (bool sumsOverOne : {false, true}) {
      Plan how = planContract(contract, axes, sumsOverOne);
      if (!how.possible && !sumsOverOne)
        return how;
      Plan parts = how.possible ? withOperands(how.operands) : how;
      if (parts.possible)
        return how;
      if (!sumsOverOne)
        refused = parts;
    }
    // It is a product too.
    if (Plan product = planProduct(contract, axes);
        product.possible && withOperands(product.operands).possible)
      return product;
    return refused;
  }
  return refuse(op, "is neither an elementwise op, nor a broadcast, a constant "
                    "or a contraction");
}

// Sums go along an axis that the product has free; those over one element only
// with `sumsOverOne`.
TileCode::Plan TileCode::planContract(seq::ContractOp op, const Axes &axes,
                                      bool sumsOverOne) {
  SmallVector<AffineMap, 3> maps = op.getMaps();
  bool rows = has(axes, Along::Key), columns = hasColumn(axes);
  // A chunk's tokens are the rows of its tiles.
  bool chunk = isChunked && has(axes, Along::Token);
  if (chunk && rows && columns)
    return refuse(op, "has a matrix for each token of a chunk");
  llvm::SmallDenseMap<unsigned, Along> summed;
  for (unsigned operand : {0, 1})
    for (auto [dimension, extent] : llvm::zip_equal(
             maps[operand].getResults(), shapeOf(op->getOperand(operand)))) {
      unsigned position = cast<AffineDimExpr>(dimension).getPosition();
      if (maps[2].getResultPosition(dimension) || summed.count(position))
        continue;
      if (extent == 1 && !sumsOverOne) {
        summed[position] = Along::One;
      } else if (!rows && !(chunk && columns)) {
        rows = true;
        summed[position] = Along::Key;
      } else if (!columns && !(chunk && rows)) {
        columns = true;
        summed[position] = Along::Column;
      } else {
        return planProduct(op, axes);
      }
    }
  Plan how{true, false, {}};
  for (unsigned operand : {0, 1}) {
    Axes narrow;
    for (AffineExpr dimension : maps[operand].getResults()) {
      std::optional<unsigned> position = maps[2].getResultPosition(dimension);
      narrow.push_back(
          position ? axes[*position]
                   : summed[cast<AffineDimExpr>(dimension).getPosition()]);
    }
    how.operands.push_back(narrow);
  }
  return how;
}

// Rows of one operand times columns of the other.
TileCode::Plan TileCode::planProduct(seq::ContractOp op, const Axes &axes) {
  if (isChunked)
    return refuse(op, "is a product of matrices for each token of a chunk");
  SmallVector<AffineMap, 3> maps = op.getMaps();
  Plan how{true, false, {}};
  std::optional<AffineExpr> summed;
  int lefts = 0;
  for (unsigned operand : {0, 1}) {
    Axes narrow;
    size_t place = 0, sums = 0;
    for (AffineExpr dimension : maps[operand].getResults()) {
      if (auto position = maps[2].getResultPosition(dimension)) {
        narrow.push_back(axes[*position]);
        continue;
      }
      place = narrow.size();
      sums += summed.value_or(dimension) == dimension ? 1 : 2;
      summed = dimension;
      narrow.push_back(Along::Head); // a place to fill
    }
    bool rows = has(narrow, Along::Key);
    if (sums != 1 || rows == hasColumn(narrow))
      return refuse(op, "sums products of more than two dimensions of a head, "
                        "and is no product of two matrices");
    narrow[place] = rows ? Along::Column : Along::Key;
    lefts += rows;
    if (rows)
      how.left = operand;
    how.operands.push_back(narrow);
  }
  if (lefts != 1 || has(axes, Along::Value))
    return refuse(op, "is no product of rows and columns");
  return how;
}

//===- tiles --------------------------------------------------------------===//

tile::TileType TileCode::typeOf(ArrayRef<int64_t> shape, const Axes &axes,
                                const Scope &scope) {
  int64_t rows = 0, columns = 0;
  for (auto [extent, along] : llvm::zip_equal(shape, axes))
    if (along == Along::Key)
      rows = extent;
    else if (isColumn(along))
      columns = along == Along::Value ? valueBlock : extent;
  if (rows && columns)
    return k->blockType(rows, columns, tile::Role::Accumulator);
  if (scope.chunk > 0) {
    int64_t channels = rows + columns;
    if (!has(axes, Along::Token))
      return channels ? k->rowType(channels) : tile::TileType();
    return channels ? k->blockType(scope.chunk, channels, tile::Role::Operand)
                    : k->columnType(scope.chunk);
  }
  return rows      ? k->columnType(rows)
         : columns ? k->rowType(columns)
                   : tile::TileType();
}

Value TileCode::load(Value tensor, const Axes &axes, const Scope &scope) {
  if (auto own = computed.find(tensor); own != computed.end())
    return own->second(scope);
  auto [row, column] = TableRow::of(tensor);
  Value view = k->read(row ? row.getTable() : tensor);
  SmallVector<Value> at;
  SmallVector<int64_t> sizes;
  for (auto [extent, along] : llvm::zip_equal(shapeOf(tensor), axes)) {
    switch (along) {
    case Along::Token:
      at.push_back(scope.row);
      sizes.push_back(std::max<int64_t>(scope.chunk, 1));
      break;
    case Along::Head:
      at.push_back(scope.head);
      sizes.push_back(1);
      break;
    case Along::Group:
      at.push_back(scope.group);
      sizes.push_back(1);
      break;
    case Along::Key:
    case Along::Column:
      at.push_back(k->index(0));
      sizes.push_back(extent);
      break;
    case Along::One:
      at.push_back(k->index(0));
      sizes.push_back(1);
      break;
    case Along::Value:
      at.push_back(scope.firstValue);
      sizes.push_back(valueBlock);
      break;
    }
  }
  if (row) {
    assert(scope.chunk == 0 && axes.front() == Along::Token &&
           "a token's row of a table");
    OpBuilder &b = k->ops();
    at[0] = tile::ReadOp::create(b, k->loc(), b.getIndexType(),
                                 k->read(row.getTokens()), ValueRange{at[0]});
    at[1] = k->add(at[1], k->index(column));
  }
  tile::TileType type = typeOf(shapeOf(tensor), axes, scope);
  if (!type)
    return tile::ReadOp::create(k->ops(), k->loc(), k->ops().getF32Type(), view,
                                at);
  bool chunked = scope.chunk > 0 && has(axes, Along::Token);
  return k->load(view, at, sizes, type, chunked ? scope.rows : Value());
}

// A column as a row, or a row as a column: its product with the unit matrix, in
// which by select nothing but the elements themselves counts.
Value TileCode::turn(Value vector) {
  auto type = dyn_cast<tile::TileType>(vector.getType());
  if (!type)
    return vector;
  bool toRow = type.getRole() == tile::Role::Column;
  int64_t n = toRow ? type.rows() : type.columns();
  Value diagonal =
      k->map(k->blockType(n, n, tile::Role::Accumulator), {vector},
             [&](OpBuilder &b, ValueRange e) -> Value {
               Value row = tile::RowIndexOp::create(b, k->loc());
               Value column = tile::ColumnIndexOp::create(b, k->loc());
               Value same = arith::CmpIOp::create(
                   b, k->loc(), arith::CmpIPredicate::eq, row, column);
               Value zero =
                   arith::ConstantOp::create(b, k->loc(), b.getF32FloatAttr(0));
               return arith::SelectOp::create(b, k->loc(), same, e[0], zero);
             });
  return tile::ReduceOp::create(
      k->ops(), k->loc(), toRow ? k->rowType(n) : k->columnType(n),
      tile::ReduceKind::Add, diagonal, /*over_rows=*/toRow);
}

// The sum of products over the dimensions that the result lacks.
Value TileCode::emitSum(seq::ContractOp op, const Plan &how, const Axes &axes,
                        ValueRange inputs, const Scope &scope) {
  SmallVector<int64_t> shape;
  Axes all;
  for (auto [operand, narrow] :
       llvm::zip_equal(op->getOperands(), how.operands))
    for (auto [extent, along] : llvm::zip_equal(shapeOf(operand), narrow))
      if (!has(all, along)) {
        shape.push_back(extent);
        all.push_back(along);
      }
  auto multiply = [&](OpBuilder &b, ValueRange e) -> Value {
    return arith::MulFOp::create(b, k->loc(), e[0], e[1]);
  };
  tile::TileType whole = typeOf(shape, all, scope);
  if (!whole)
    return multiply(k->ops(), inputs);
  Value sum = k->map(whole, inputs, multiply);
  for (Along along : {Along::Key, Along::Value, Along::Column}) {
    if (!has(all, along) || has(axes, along))
      continue;
    auto type = cast<tile::TileType>(sum.getType());
    bool block = type.isBlock();
    bool overRows = block && along == Along::Key && scope.chunk == 0;
    Type result = !block     ? Type(k->ops().getF32Type())
                  : overRows ? Type(k->rowType(type.columns()))
                             : Type(k->columnType(type.rows()));
    sum = tile::ReduceOp::create(k->ops(), k->loc(), result,
                                 tile::ReduceKind::Add, sum, overRows);
  }
  return sum;
}

Value TileCode::emitProduct(const Plan &how, tile::TileType type,
                            ValueRange inputs) {
  Value zero = tile::SplatOp::create(k->ops(), k->loc(), type, k->scalar(0));
  return k->exactDot(zero, inputs[how.left], inputs[1 - how.left]);
}

//===- emission -----------------------------------------------------------===//

// 1 or 0, by the token's position.
Value TileCode::emitAtStart(seq::AtStartOp op, const Scope &scope) {
  OpBuilder &b = k->ops();
  Value positions = k->read(sources.lookup(op.getPositions()).tensor);
  Value position = tile::ReadOp::create(b, k->loc(), b.getIndexType(),
                                        positions, ValueRange{scope.row});
  Value isFirst = arith::CmpIOp::create(b, k->loc(), arith::CmpIPredicate::eq,
                                        position, k->index(0));
  return arith::SelectOp::create(b, k->loc(), isFirst, k->scalar(1),
                                 k->scalar(0));
}

Value TileCode::emitOp(Operation *op, const Axes &axes, const Scope &scope) {
  Plan how = plan(op->getResult(0), axes);
  if (auto constant = dyn_cast<seq::ConstantOp>(op))
    return k->scalar(constant.getValue().convertToDouble());
  if (auto atStart = dyn_cast<seq::AtStartOp>(op))
    return emitAtStart(atStart, scope);
  if (auto broadcast = dyn_cast<seq::BroadcastOp>(op))
    return emitPart(broadcast.getX(), how.operands[0],
                    scope); // maps broadcast by themselves
  SmallVector<Value> inputs;
  for (auto [operand, narrow] :
       llvm::zip_equal(op->getOperands(), how.operands))
    inputs.push_back(how.left < 0 ? emitPart(operand, narrow, scope)
                                  : emit(operand, narrow, scope));
  tile::TileType type = typeOf(shapeOf(op->getResult(0)), axes, scope);
  auto contract = dyn_cast<seq::ContractOp>(op);
  if (how.left >= 0)
    return emitProduct(how, type, inputs);
  if (contract && contract.getMaps()[2].getNumResults() !=
                      contract.getMaps()[2].getNumDims())
    return emitSum(contract, how, axes, inputs, scope);
  auto compute = [&](OpBuilder &builder, ValueRange elements) -> Value {
    if (contract)
      return arith::MulFOp::create(builder, k->loc(), elements[0], elements[1]);
    return emitScalarCode(builder, k->loc(), op, elements);
  };
  bool scalars =
      llvm::all_of(inputs, [](Value input) { return input.getType().isF32(); });
  if (!type || scalars)
    return compute(k->ops(), inputs);
  return k->map(type, inputs, compute);
}

Value TileCode::emitPart(Value value, const Axes &axes, const Scope &scope) {
  Key key = keyOf(value, axes);
  if (Value known = constants.lookup(key))
    return known;
  if (Value known = emitted.lookup(key))
    return known;
  Plan how = plan(value, axes);
  assert(how.possible && "asked for what canEmit refuses");
  Value result;
  if (how.turned) {
    result = turn(emitPart(value, how.operands[0], scope));
  } else if (Operation *op = value.getDefiningOp()) {
    result = emitOp(op, axes, scope);
  } else {
    Source source = sources.lookup(value);
    Axes whole;
    if (source.perToken)
      whole.push_back(Along::Token);
    llvm::append_range(whole, axes);
    result = load(source.tensor, whole, scope);
  }
  emitted[key] = result;
  return result;
}

void TileCode::emitConstants(Value value, const Axes &axes,
                             const Scope &scope) {
  Key key = keyOf(value, axes);
  // A value may be used many times over.
  if (!searched.insert(key).second)
    return;
  if (!varying.contains(value)) {
    Value tile = emitPart(value, axes, scope);
    constants[key] = tile;
    return;
  }
  Plan how = plan(value, axes);
  if (how.turned)
    return emitConstants(value, how.operands[0], scope);
  if (Operation *op = value.getDefiningOp())
    for (auto [operand, narrow] : llvm::zip(op->getOperands(), how.operands))
      emitConstants(operand, narrow, scope);
}

// A value that was broadcast is spread out where a tile of its own is needed.
Value TileCode::emit(Value value, const Axes &axes, const Scope &scope) {
  Value part = emitPart(value, axes, scope);
  tile::TileType type = typeOf(shapeOf(value), axes, scope);
  if (!type || part.getType() == type)
    return part;
  if (part.getType().isF32())
    return tile::SplatOp::create(k->ops(), k->loc(), type, part);
  return k->map(type, {part}, [](OpBuilder &, ValueRange e) { return e[0]; });
}
