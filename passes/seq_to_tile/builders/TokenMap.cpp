// From a mixer's token map to tiles.
#include "passes/seq_to_tile/builders/TokenMap.h"

#include "passes/seq_to_tile/ScalarCode.h"

using namespace mlir;
using namespace effc;

FailureOr<TokenMap> TokenMap::create(KernelBuilder &k,
                                     seq::MixerOpInterface mixer) {
  TokenMap map(k);
  Operation *op = mixer.getOperation();
  auto stateful = cast<seq::StatefulOpInterface>(op);
  map.region = std::make_unique<Region>();
  OpBuilder builder(op->getContext());
  Block *block = builder.createBlock(map.region.get());
  SmallVector<Value> tokens, parameters;
  for (Value operand : stateful.getOperandsOf(seq::OperandRole::Token)) {
    map.operands.push_back(operand);
    tokens.push_back(block->addArgument(operand.getType(), k.loc()));
  }
  for (Value operand : stateful.getOperandsOf(seq::OperandRole::Parameter)) {
    map.operands.push_back(operand);
    parameters.push_back(block->addArgument(operand.getType(), k.loc()));
  }
  map.canonical = mixer.buildTokenMap(builder, k.loc(), tokens, parameters);
  map.readArgument = block->addArgument(map.canonical.value.getType(), k.loc());
  map.result =
      mixer.buildReadOut(builder, k.loc(), map.readArgument, map.canonical);

  auto size = [](Value value, int64_t dim) {
    return cast<RankedTensorType>(value.getType()).getDimSize(dim);
  };
  map.heads = size(map.canonical.value, 1);
  map.valueChannels = size(map.canonical.value, 2);
  map.groups = size(map.canonical.query, 1);
  map.keyChannels = size(map.canonical.query, 2);
  using enum Meaning;
  if (failed(map.assign(map.canonical.query, {Token, Group, Key})) ||
      failed(map.assign(map.canonical.key, {Token, Group, Key})) ||
      failed(map.assign(map.canonical.value, {Token, Head, Value})) ||
      failed(map.assign(map.canonical.logDecay, {Token, Head})) ||
      failed(map.assign(map.result, {Token, Head, Value})) ||
      failed(map.assign(map.readArgument, {Token, Head, Value})))
    return op->emitOpError("has a token map without a translation to tiles");
  return map;
}

// Gives `value` its meanings and passes them on to what it is computed from.
LogicalResult TokenMap::assign(Value value, Meanings meanings) {
  auto [known, isNew] = meaningOf.try_emplace(value, meanings);
  if (!isNew)
    return success(known->second == meanings);
  Operation *op = value.getDefiningOp();
  if (!op)
    return success();
  if (seq::isElementwiseOp(op)) {
    for (Value operand : op->getOperands())
      if (failed(assign(operand, meanings)))
        return failure();
    return success();
  }
  if (auto broadcast = dyn_cast<seq::BroadcastOp>(op)) {
    Meanings narrow;
    for (int64_t dim : broadcast.getDimensions())
      narrow.push_back(meanings[dim]);
    return assign(broadcast.getX(), narrow);
  }
  auto contract = dyn_cast<seq::ContractOp>(op);
  if (!contract)
    return op->emitError("expects an elementwise op, a broadcast or a "
                         "contraction in a token map");
  SmallVector<AffineMap, 3> maps = contract.getMaps();
  for (auto [operand, map] :
       llvm::zip(op->getOperands(), ArrayRef(maps).take_front(2))) {
    Meanings narrow;
    for (AffineExpr dim : map.getResults()) {
      std::optional<unsigned> position = maps[2].getResultPosition(dim);
      if (!position)
        return op->emitError(
            "expects a contraction in a token map to sum over nothing");
      narrow.push_back(meanings[*position]);
    }
    if (failed(assign(operand, narrow)))
      return failure();
  }
  return success();
}

static bool has(ArrayRef<TokenMap::Meaning> meanings,
                TokenMap::Meaning meaning) {
  return llvm::is_contained(meanings, meaning);
}

// Null for a scalar.
tile::TileType TokenMap::typeOf(const Meanings &meanings, const Scope &scope) {
  bool chunked = scope.chunk > 0 && has(meanings, Meaning::Token);
  int64_t channels = has(meanings, Meaning::Key)     ? keyChannels
                     : has(meanings, Meaning::Value) ? valueChannels
                                                     : 0;
  if (chunked)
    return channels ? k->blockType(scope.chunk, channels, tile::Role::Operand)
                    : k->columnType(scope.chunk);
  if (!channels)
    return {};
  return scope.chunk == 0 && has(meanings, Meaning::Key)
             ? k->columnType(channels)
             : k->rowType(channels);
}

Value TokenMap::emitOperand(BlockArgument argument, const Scope &scope) {
  const Meanings &meanings = meaningOf[argument];
  Value view = k->read(operands[argument.getArgNumber()]);
  SmallVector<Value> at;
  SmallVector<int64_t> sizes;
  for (Meaning meaning : meanings) {
    switch (meaning) {
    case Meaning::Token:
      at.push_back(scope.row);
      sizes.push_back(std::max<int64_t>(scope.chunk, 1));
      break;
    case Meaning::Head:
      at.push_back(scope.head);
      sizes.push_back(1);
      break;
    case Meaning::Group:
      at.push_back(scope.group);
      sizes.push_back(1);
      break;
    case Meaning::Key:
      at.push_back(k->index(0));
      sizes.push_back(keyChannels);
      break;
    case Meaning::Value:
      at.push_back(k->index(0));
      sizes.push_back(valueChannels);
      break;
    }
  }
  tile::TileType type = typeOf(meanings, scope);
  if (!type)
    return tile::ReadOp::create(k->ops(), k->loc(), k->ops().getF32Type(), view,
                                at);
  bool chunked = scope.chunk > 0 && has(meanings, Meaning::Token);
  return k->load(view, at, sizes, type, chunked ? scope.rows : mlir::Value());
}

Value TokenMap::emitOp(Operation *op, const Scope &scope) {
  if (auto broadcast = dyn_cast<seq::BroadcastOp>(op))
    return emit(broadcast.getX(), scope); // maps broadcast by themselves
  SmallVector<mlir::Value> inputs;
  for (mlir::Value operand : op->getOperands())
    inputs.push_back(emit(operand, scope));
  auto compute = [&](OpBuilder &builder, ValueRange elements) -> mlir::Value {
    if (isa<seq::ContractOp>(op))
      return arith::MulFOp::create(builder, k->loc(), elements[0], elements[1]);
    return emitScalarCode(builder, k->loc(), op, elements);
  };
  tile::TileType type = typeOf(meaningOf[op->getResult(0)], scope);
  bool scalars = llvm::all_of(
      inputs, [](mlir::Value input) { return input.getType().isF32(); });
  if (!type || scalars)
    return compute(k->ops(), inputs);
  return k->map(type, inputs, compute);
}

Value TokenMap::emit(Value value, const Scope &scope) {
  if (mlir::Value known = emitted.lookup(value))
    return known;
  auto argument = dyn_cast<BlockArgument>(value);
  mlir::Value result = argument ? emitOperand(argument, scope)
                                : emitOp(value.getDefiningOp(), scope);
  emitted[value] = result;
  return result;
}

// A value that was broadcast is spread out where a tile of its own is needed.
Value TokenMap::asType(Value value, Value tensor, const Scope &scope) {
  tile::TileType type = typeOf(meaningOf[tensor], scope);
  if (!type || value.getType() == type)
    return value;
  return k->map(type, {value}, [](OpBuilder &, ValueRange e) { return e[0]; });
}

TokenMap::Tiles TokenMap::quantities(const Scope &scope) {
  emitted.clear();
  auto get = [&](mlir::Value tensor) {
    return asType(emit(tensor, scope), tensor, scope);
  };
  return {get(canonical.query), get(canonical.key), get(canonical.value),
          get(canonical.logDecay)};
}

Value TokenMap::readOut(const Scope &scope, Value read) {
  emitted[readArgument] = read;
  return asType(emit(result, scope), result, scope);
}
