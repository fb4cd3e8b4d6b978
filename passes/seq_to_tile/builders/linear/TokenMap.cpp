// From a mixer's token map to tiles.
#include "passes/seq_to_tile/builders/linear/TokenMap.h"

#include "dialects/seq/TokenMapChecks.h"

using namespace mlir;
using namespace effc;

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

// e^x, without the logarithm where x is one.
static Value exponentialOf(OpBuilder &builder, Location loc, Value x) {
  Operation *op = x.getDefiningOp();
  if (auto log = dyn_cast_or_null<seq::LogOp>(op))
    return log.getX();
  if (auto log = dyn_cast_or_null<seq::LogSigmoidOp>(op))
    return seq::SigmoidOp::create(builder, loc, log.getX());
  return seq::ExpOp::create(builder, loc, x);
}

FailureOr<TokenMap>
TokenMap::create(KernelBuilder &k, seq::MixerOpInterface mixer, bool chunked) {
  FailureOr<TokenMap> map = describe(k, mixer, chunked);
  if (failed(map))
    return failure();
  if (std::optional<Obstacle> obstacle = map->findObstacle()) {
    InFlightDiagnostic error =
        mixer->emitOpError("has a token map without a translation to tiles");
    error.attachNote(obstacle->op->getLoc()) << obstacle->str();
    return error;
  }
  return map;
}

std::optional<std::string> TokenMap::findObstacle(KernelBuilder &k,
                                                  seq::MixerOpInterface mixer,
                                                  bool chunked) {
  FailureOr<TokenMap> map = describe(k, mixer, chunked);
  if (failed(map))
    return std::nullopt; // wrong in any way, as is said when it is built
  if (std::optional<Obstacle> obstacle = map->findObstacle())
    return obstacle->str();
  return std::nullopt;
}

std::string TokenMap::Obstacle::str() const {
  return ("'" + op->getName().getStringRef() + "' " + reason).str();
}

std::optional<TokenMap::Obstacle> TokenMap::findObstacle() {
  SmallVector<Wanted> all(wanted.begin(), wanted.end());
  all.push_back(output);
  for (const auto &[value, axes] : all)
    if (value && !code.canEmit(value, axes))
      return Obstacle{code.obstacle, code.reason};
  return std::nullopt;
}

FailureOr<TokenMap> TokenMap::describe(KernelBuilder &k,
                                       seq::MixerOpInterface mixer,
                                       bool chunked) {
  TokenMap map(k);
  Operation *op = mixer.getOperation();
  auto stateful = cast<seq::StatefulOpInterface>(op);
  map.linear = mixer.getStructure().getLinear();
  map.region = std::make_unique<Region>();
  OpBuilder builder(op->getContext());
  Block *block = builder.createBlock(map.region.get());
  auto argumentsFor = [&](seq::OperandRole role) {
    SmallVector<mlir::Value> arguments;
    for (mlir::Value operand : stateful.getOperandsOf(role)) {
      arguments.push_back(block->addArgument(operand.getType(), k.loc()));
      map.code.setSource(arguments.back(), operand, /*perToken=*/false);
    }
    return arguments;
  };
  SmallVector<mlir::Value> tokens = argumentsFor(seq::OperandRole::Token),
                           parameters =
                               argumentsFor(seq::OperandRole::Parameter);
  FailureOr<seq::CanonicalQuantities> checked =
      seq::buildCheckedTokenMap(mixer, builder, k.loc(), tokens, parameters);
  if (failed(checked))
    return failure();
  map.canonical = *checked;
  // Chunks add logarithms up, and a stabiliser subtracts from them; a time loop
  // multiplies.
  map.hasFactors =
      !chunked && map.linear.getStabiliser() == seq::Stabiliser::None;
  if (map.hasFactors)
    for (mlir::Value *decay :
         {&map.canonical.logDecay, &map.canonical.valueLogDecay})
      if (*decay)
        *decay = exponentialOf(builder, k.loc(), *decay);
  const seq::CanonicalQuantities &canonical = map.canonical;

  RankedTensorType valueType = tensorOf(canonical.value);
  map.heads = valueType.getDimSize(1);
  map.valueChannels = map.code.valueBlock = valueType.getDimSize(2);
  map.groups = map.heads / map.linear.getHeadsPerGroup();
  // Of [T, G, K], [G, K] or, per element, [T, H, K, V].
  ArrayRef<int64_t> query = tensorOf(canonical.query).getShape();
  map.keyChannels = query.size() == 4 ? query[2] : query.back();

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
  mlir::Value result =
      mixer.buildReadOut(builder, k.loc(), map.reading, map.canonical);

  map.code.isChunked = chunked;
  map.code.setVarying(*block, [&](BlockArgument argument) {
    return argument.getArgNumber() < tokens.size() ||
           argument.getArgNumber() >= tokens.size() + parameters.size();
  });
  map.assignAxes(result);
  return map;
}

// Of a log-decay that is not of value channels.
TokenMap::Axes TokenMap::decayAxes() const {
  Axes axes = {Along::Token, Along::Head};
  using enum seq::DecayAxis;
  seq::DecayAxis axis = linear.getDecay();
  if (axis == Key || axis == KeyAndValue || axis == Element)
    axes.push_back(Along::Key);
  if (axis == Element)
    axes.push_back(Along::Value);
  return axes;
}

void TokenMap::assignAxes(mlir::Value result) {
  using enum TileCode::Along;
  // Where every head has keys of its own, groups are heads.
  Along group = heads == groups ? Head : Group;
  Axes keys = {Token, group, Key}, values = {Token, Head, Value};
  Axes scalars = {Token, Head};
  if (canonical.valueLogDecay)
    scalars.push_back(Value);
  for (auto [argument, axes] : {std::pair(reading.read, values),
                                {reading.denominator, scalars},
                                {reading.maximum, scalars}})
    if (argument)
      code.declareBound(argument, axes);
  auto want = [&](mlir::Value value, Axes axes) -> Wanted {
    // What does not vary with the token lacks T.
    if (value && tensorOf(value).getRank() + 1 == int64_t(axes.size()))
      axes.erase(axes.begin());
    return {value, axes};
  };
  auto factor = [&](mlir::Value value) {
    bool perElement = value && tensorOf(value).getRank() == 4;
    return want(value, perElement ? Axes{Token, Head, Key, Value} : keys);
  };
  wanted = {factor(canonical.query),
            factor(canonical.key),
            want(canonical.value, values),
            want(canonical.logDecay, decayAxes()),
            want(canonical.valueLogDecay, values),
            want(canonical.bonusKey, keys),
            want(canonical.probe, keys),
            want(canonical.erase, {Token, Head, Key}),
            want(canonical.eraseScale, {Token, Head}),
            want(canonical.weight, scalars),
            want(canonical.logGate, scalars),
            want(canonical.sumQuery, keys),
            want(canonical.sumKey, keys),
            want(canonical.turn, decayAxes()),
            want(canonical.turnImaginary, decayAxes()),
            factor(canonical.queryImaginary),
            factor(canonical.keyImaginary)};
  for (const seq::LaterWrite &write : canonical.laterWrites)
    wanted.append({want(write.key, keys), want(write.value, values),
                   want(write.probe, keys),
                   want(write.eraseScale, {Token, Head})});
  output = want(result, values);
}

void TokenMap::emitConstants(const Scope &scope) {
  code.beginScope();
  for (const auto &[value, axes] : wanted)
    if (value)
      code.emitConstants(value, axes, scope);
  code.emitConstants(output.value, output.axes, scope);
  code.beginScope();
}

Value TokenMap::constant(Value quantity) const {
  for (const auto &[value, axes] : wanted)
    if (value == quantity)
      return code.constant(value, axes);
  return {};
}

Value TokenMap::emit(const Wanted &quantity, const Scope &scope) {
  if (!quantity.value)
    return {};
  return code.emit(quantity.value, quantity.axes, scope);
}

TokenMap::Tiles TokenMap::quantities(const Scope &scope) {
  code.beginScope();
  std::array<mlir::Value, kFields> tiles;
  for (auto [tile, quantity] :
       llvm::zip_equal(tiles, ArrayRef(wanted).take_front(kFields)))
    tile = emit(quantity, scope);
  auto [query, key, value, decay, valueDecay, bonusKey, probe, erase,
        eraseScale, weight, logGate, sumQuery, sumKey, turn, turnImaginary,
        queryImaginary, keyImaginary] = tiles;
  return {query,  key,   value,         decay,          valueDecay,  bonusKey,
          probe,  erase, eraseScale,    weight,         logGate,     sumQuery,
          sumKey, turn,  turnImaginary, queryImaginary, keyImaginary};
}

seq::LaterWrite TokenMap::laterWrite(size_t number, const Scope &scope) {
  const Wanted *fields = wanted.begin() + kFields + number * kWriteFields;
  return {emit(fields[0], scope), emit(fields[1], scope),
          emit(fields[2], scope), emit(fields[3], scope)};
}

Value TokenMap::readOut(const Scope &scope, const Reading &tiles) {
  for (auto [argument, tile] : {std::pair(reading.read, tiles.read),
                                {reading.denominator, tiles.denominator},
                                {reading.maximum, tiles.maximum}})
    if (argument)
      code.bind(argument, tile);
  return code.emit(output.value, output.axes, scope);
}
