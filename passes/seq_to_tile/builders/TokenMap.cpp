// From a mixer's token map to tiles.
#include "passes/seq_to_tile/builders/TokenMap.h"

#include "passes/seq_to_tile/ScalarCode.h"

using namespace mlir;
using namespace effc;

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

FailureOr<TokenMap> TokenMap::create(KernelBuilder &k,
                                     seq::MixerOpInterface mixer) {
  TokenMap map(k);
  Operation *op = mixer.getOperation();
  auto stateful = cast<seq::StatefulOpInterface>(op);
  map.linear = mixer.getStructure().getLinear();
  map.region = std::make_unique<Region>();
  OpBuilder builder(op->getContext());
  Block *block = builder.createBlock(map.region.get());
  SmallVector<mlir::Value> tokens, parameters;
  for (mlir::Value operand : stateful.getOperandsOf(seq::OperandRole::Token)) {
    map.operands.push_back(operand);
    tokens.push_back(block->addArgument(operand.getType(), k.loc()));
  }
  for (mlir::Value operand :
       stateful.getOperandsOf(seq::OperandRole::Parameter)) {
    map.operands.push_back(operand);
    parameters.push_back(block->addArgument(operand.getType(), k.loc()));
  }
  map.canonical = mixer.buildTokenMap(builder, k.loc(), tokens, parameters);
  const seq::CanonicalQuantities &canonical = map.canonical;

  RankedTensorType valueType = tensorOf(canonical.value);
  map.heads = valueType.getDimSize(1);
  map.valueChannels = map.valueBlock = valueType.getDimSize(2);
  map.groups = map.heads / map.linear.getHeadsPerGroup();
  map.keyChannels = tensorOf(canonical.query).getShape().back();

  // Read-out: denominator and maximum have the shapes of their states' rows.
  bool perValue = bool(canonical.valueLogDecay);
  auto perHead = RankedTensorType::get(valueType.getShape().take_front(2),
                                       builder.getF32Type());
  Type scalars = perValue ? Type(valueType) : Type(perHead);
  map.reading.read = block->addArgument(valueType, k.loc());
  if (map.linear.getNormaliser() != seq::Normaliser::None)
    map.reading.denominator = block->addArgument(scalars, k.loc());
  if (map.linear.getStabiliser() != seq::Stabiliser::None)
    map.reading.maximum = block->addArgument(scalars, k.loc());
  map.result = mixer.buildReadOut(builder, k.loc(), map.reading, map.canonical);
  if (failed(map.assignAll(op)))
    return op->emitOpError("has a token map without a translation to tiles");
  return map;
}

// What the dimensions of a log-decay that is not of value channels stand for.
TokenMap::Meanings TokenMap::decayMeanings(bool perToken) const {
  Meanings meanings;
  if (perToken)
    meanings.push_back(Meaning::Token);
  meanings.push_back(Meaning::Head);
  using enum seq::DecayAxis;
  seq::DecayAxis axis = linear.getDecay();
  if (axis == Key || axis == KeyAndValue || axis == Element)
    meanings.push_back(Meaning::Key);
  if (axis == Element)
    meanings.push_back(Meaning::Value);
  return meanings;
}

LogicalResult TokenMap::assignAll(Operation *op) {
  using enum Meaning;
  // Where every head has keys of its own, groups are heads.
  Meaning group = heads == groups ? Head : Group;
  auto give = [&](mlir::Value value, Meanings meanings) -> LogicalResult {
    if (!value)
      return success();
    // What does not vary with the token lacks T.
    if (tensorOf(value).getRank() + 1 == int64_t(meanings.size()))
      meanings.erase(meanings.begin());
    return assign(value, meanings);
  };
  Meanings scalars = {Token, Head};
  if (canonical.valueLogDecay)
    scalars.push_back(Value);
  return success(
      succeeded(give(canonical.query, {Token, group, Key})) &&
      succeeded(give(canonical.key, {Token, group, Key})) &&
      succeeded(give(canonical.value, {Token, Head, Value})) &&
      succeeded(give(canonical.logDecay, decayMeanings(/*perToken=*/true))) &&
      succeeded(give(canonical.valueLogDecay, {Token, Head, Value})) &&
      succeeded(give(canonical.bonusKey, {Token, group, Key})) &&
      succeeded(give(canonical.probe, {Token, group, Key})) &&
      succeeded(give(canonical.erase, {Token, Head, Key})) &&
      succeeded(give(canonical.eraseScale, {Token, Head})) &&
      succeeded(give(canonical.weight, scalars)) &&
      succeeded(give(canonical.logGate, scalars)) &&
      succeeded(give(result, {Token, Head, Value})) &&
      succeeded(give(reading.read, {Token, Head, Value})) &&
      succeeded(give(reading.denominator, scalars)) &&
      succeeded(give(reading.maximum, scalars)));
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
  if (isa<seq::ConstantOp>(op))
    return success();
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
  bool keys = has(meanings, Meaning::Key),
       values = has(meanings, Meaning::Value);
  if (keys && values)
    return k->blockType(keyChannels, valueBlock, tile::Role::Accumulator);
  int64_t channels = keys ? keyChannels : values ? valueBlock : 0;
  if (chunked)
    return channels ? k->blockType(scope.chunk, channels, tile::Role::Operand)
                    : k->columnType(scope.chunk);
  if (!channels)
    return {};
  return scope.chunk == 0 && keys ? k->columnType(channels)
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
      at.push_back(scope.firstValue);
      sizes.push_back(valueBlock);
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
  if (auto constant = dyn_cast<seq::ConstantOp>(op))
    return k->scalar(constant.getValue().convertToDouble());
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
  if (mlir::Value known = constants.lookup(value))
    return known;
  if (mlir::Value known = emitted.lookup(value))
    return known;
  auto argument = dyn_cast<BlockArgument>(value);
  mlir::Value result = argument ? emitOperand(argument, scope)
                                : emitOp(value.getDefiningOp(), scope);
  emitted[value] = result;
  return result;
}

bool TokenMap::isConstant(Value value) const {
  auto known = meaningOf.find(value);
  return known != meaningOf.end() && !has(known->second, Meaning::Token);
}

// The largest parts that do not vary with the token: a tile of each.
void TokenMap::emitConstants(const Scope &scope) {
  emitted.clear();
  auto hoist = [&](mlir::Value value) {
    if (isConstant(value) && !constants.count(value))
      constants[value] = emit(value, scope);
  };
  for (Operation &op : region->front()) {
    bool varies = llvm::any_of(op.getResults(), [&](mlir::Value value) {
      return meaningOf.count(value) && !isConstant(value);
    });
    if (varies)
      llvm::for_each(op.getOperands(), hoist);
  }
  for (mlir::Value value : {canonical.query, canonical.key, canonical.logDecay,
                            canonical.valueLogDecay, canonical.bonusKey})
    if (value)
      hoist(value);
  emitted.clear();
}

// A value that was broadcast is spread out where a tile of its own is needed.
Value TokenMap::asType(Value value, Value tensor, const Scope &scope) {
  tile::TileType type = typeOf(meaningOf[tensor], scope);
  if (!type || value.getType() == type)
    return value;
  if (value.getType().isF32())
    return tile::SplatOp::create(k->ops(), k->loc(), type, value);
  return k->map(type, {value}, [](OpBuilder &, ValueRange e) { return e[0]; });
}

TokenMap::Tiles TokenMap::quantities(const Scope &scope) {
  emitted.clear();
  auto get = [&](mlir::Value tensor) {
    return tensor ? asType(emit(tensor, scope), tensor, scope) : mlir::Value();
  };
  return {get(canonical.query),         get(canonical.key),
          get(canonical.value),         get(canonical.logDecay),
          get(canonical.valueLogDecay), get(canonical.bonusKey),
          get(canonical.probe),         get(canonical.erase),
          get(canonical.eraseScale),    get(canonical.weight),
          get(canonical.logGate)};
}

Value TokenMap::readOut(const Scope &scope, const Reading &tiles) {
  emitted[reading.read] = tiles.read;
  if (reading.denominator)
    emitted[reading.denominator] = tiles.denominator;
  if (reading.maximum)
    emitted[reading.maximum] = tiles.maximum;
  return asType(emit(result, scope), result, scope);
}
