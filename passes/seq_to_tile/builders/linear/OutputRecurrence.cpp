// A recurrence of a product's outputs whose channels do not meet:
//
//   s = decay s + key value(x)       y = readOut(query s)
//
// for a channel x of a head, with numbers per head besides. So a mixer's token
// map and read-out are scalar code for each channel. What of it has no channel
// is computed once, ahead of the product, where the state is read too.
#include "passes/kernel_facts/TableRow.h"
#include "passes/seq_to_tile/ScalarCode.h"
#include "passes/seq_to_tile/builders/dense/OutputUpdate.h"
#include "passes/seq_to_tile/builders/linear/ItemState.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace effc;

namespace {

/// A number of each head: an operand [H], or of each token, [T, H], which may
/// be part of a row of a table.
struct HeadNumber {
  Value view;
  Value rowNumbers;   // which row each token has; null: its own
  int64_t column = 0; // of the first head
  bool perToken = false;
};

class OutputRecurrence : public OutputUpdate {
public:
  using Known = llvm::DenseMap<Value, Value>; // of the map's region

  OutputRecurrence(KernelBuilder &k, seq::MixerOpInterface mixer);

  /// Whether the map is code for single channels.
  LogicalResult check();

  SmallVector<Type> loadedTypes(tile::TileType type) const override {
    SmallVector<Type> types(1 + perHead.size(), k.ops().getF32Type());
    types.front() = type;
    return types;
  }
  SmallVector<Value> load(OutputPlace place) override;
  Value apply(OutputPlace place, ValueRange loaded, Value y) override;

private:
  HeadNumber numberOf(Value operand, bool perToken);
  void find(Value value);
  ItemState stateAt(const OutputPlace &place) const;
  Value emit(OpBuilder &b, Value value, Known &known);

  std::unique_ptr<Region> region;
  seq::LinearAttr linear;
  seq::StateDescriptor descriptor;
  Value stateView;
  llvm::DenseMap<Value, HeadNumber> numbers; // arguments of the region
  Value x, read;                             // likewise, of each channel
  Value query, key, value, decay, result;    // decay: null for none
  llvm::DenseSet<Value> varying;             // from channel to channel
  llvm::SetVector<Value> perHead;            // what channels read of the rest
};

} // namespace

OutputRecurrence::OutputRecurrence(KernelBuilder &k,
                                   seq::MixerOpInterface mixer)
    : OutputUpdate(k, mixer), region(std::make_unique<Region>()),
      linear(mixer.getStructure().getLinear()) {
  auto stateful = cast<seq::StatefulOpInterface>(op);
  descriptor = stateful.getStates().front();
  OpBuilder builder(op->getContext());
  Block *block = builder.createBlock(region.get());
  Value channels = ownChannelsOf(op)->get();
  auto argumentsFor = [&](seq::OperandRole role) {
    SmallVector<Value> arguments;
    for (Value operand : stateful.getOperandsOf(role)) {
      Value argument = block->addArgument(operand.getType(), k.loc());
      arguments.push_back(argument);
      if (operand == channels)
        x = argument;
      else
        numbers[argument] = numberOf(operand, role == seq::OperandRole::Token);
    }
    return arguments;
  };
  SmallVector<Value> tokens = argumentsFor(seq::OperandRole::Token),
                     parameters = argumentsFor(seq::OperandRole::Parameter);
  stateView = k.readWriteState(op->getOperand(descriptor.operand));
  seq::CanonicalQuantities quantities =
      mixer.buildTokenMap(builder, k.loc(), tokens, parameters);
  read = block->addArgument(channels.getType(), k.loc());
  query = quantities.query;
  key = quantities.key;
  value = quantities.value;
  if (quantities.logDecay)
    decay = seq::ExpOp::create(builder, k.loc(), quantities.logDecay);
  result = mixer.buildReadOut(builder, k.loc(), {read, {}, {}}, quantities);

  varying.insert(x);
  varying.insert(read);
  // Of what a repetition is like, no element is read.
  for (Operation &inner : *block)
    if (llvm::any_of(isa<seq::BroadcastOp>(inner)
                         ? inner.getOperands().take_front()
                         : inner.getOperands(),
                     [&](Value operand) { return varying.contains(operand); }))
      varying.insert(inner.result_begin(), inner.result_end());
  for (Value wanted : {query, key, value, decay, result})
    if (wanted)
      find(wanted);
}

HeadNumber OutputRecurrence::numberOf(Value operand, bool perToken) {
  HeadNumber number;
  number.perToken = perToken;
  auto [row, column] = TableRow::of(operand);
  if (!row) {
    number.view = k.read(operand);
    return number;
  }
  number.view = k.read(row.getTable());
  number.rowNumbers = k.read(row.getTokens());
  number.column = column;
  return number;
}

// Collects the largest parts of `value` that all channels of a head share.
void OutputRecurrence::find(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<seq::ConstantOp>(op))
    return;
  if (!varying.contains(value))
    perHead.insert(value);
  else if (op)
    for (Value operand : isa<seq::BroadcastOp>(op)
                             ? op->getOperands().take_front()
                             : op->getOperands())
      find(operand);
}

// Sums over channels, or over heads, are none of a single channel.
static bool isPerChannel(Operation *op) {
  auto contract = dyn_cast<seq::ContractOp>(op);
  if (!contract)
    return seq::isElementwiseOp(op) ||
           isa<seq::BroadcastOp, seq::ConstantOp>(op);
  SmallVector<AffineMap, 3> maps = contract.getMaps();
  for (unsigned i : {0, 1})
    for (auto [dimension, extent] : llvm::zip_equal(
             maps[i].getResults(),
             cast<RankedTensorType>(op->getOperand(i).getType()).getShape()))
      if (extent != 1 && !maps[2].getResultPosition(dimension))
        return false;
  return true;
}

LogicalResult OutputRecurrence::check() {
  for (Operation &inner : region->front())
    if (!isPerChannel(&inner)) {
      InFlightDiagnostic error = op->emitOpError(
          "shares its kernel with a product, but its channels meet");
      error.attachNote(inner.getLoc())
          << "'" << inner.getName() << "' is no op on single channels";
      return error;
    }
  return success();
}

// One element of a value of the region, of which `known` holds some.
Value OutputRecurrence::emit(OpBuilder &b, Value value, Known &known) {
  if (Value before = known.lookup(value))
    return before;
  Operation *op = value.getDefiningOp();
  Value element;
  if (auto constant = dyn_cast<seq::ConstantOp>(op)) {
    element =
        arith::ConstantOp::create(b, k.loc(),
                                  b.getF32FloatAttr(static_cast<float>(
                                      constant.getValue().convertToDouble())));
  } else if (auto broadcast = dyn_cast<seq::BroadcastOp>(op)) {
    element = emit(b, broadcast.getX(), known);
  } else {
    SmallVector<Value> inputs;
    for (Value operand : op->getOperands())
      inputs.push_back(emit(b, operand, known));
    element = isa<seq::ContractOp>(op)
                  ? arith::MulFOp::create(b, k.loc(), inputs[0], inputs[1])
                  : emitScalarCode(b, k.loc(), op, inputs);
  }
  return known[value] = element;
}

ItemState OutputRecurrence::stateAt(const OutputPlace &place) const {
  return {descriptor,
          stateView,
          {place.head, k.index(0), place.channel},
          {1, 1, place.type.rows()},
          place.type,
          place.count};
}

SmallVector<Value> OutputRecurrence::load(OutputPlace place) {
  OpBuilder &b = k.ops();
  SmallVector<Value> loaded = {stateAt(place).load(k, place.segment)};
  llvm::DenseMap<Value, Value> rows; // by the table that says which
  Known known;
  for (Value argument : region->front().getArguments()) {
    auto found = numbers.find(argument);
    if (found == numbers.end())
      continue;
    const HeadNumber &number = found->second;
    SmallVector<Value> at;
    if (number.rowNumbers) {
      Value &row = rows[number.rowNumbers];
      if (!row)
        row = tile::ReadOp::create(b, k.loc(), b.getIndexType(),
                                   number.rowNumbers,
                                   ValueRange{place.segment.getFirstRow()});
      at.push_back(row);
    } else if (number.perToken) {
      at.push_back(place.segment.getFirstRow());
    }
    at.push_back(number.column == 0
                     ? place.head
                     : k.add(place.head, k.index(number.column)));
    known[argument] =
        tile::ReadOp::create(b, k.loc(), b.getF32Type(), number.view, at);
  }
  for (Value shared : perHead)
    loaded.push_back(emit(b, shared, known));
  return loaded;
}

Value OutputRecurrence::apply(OutputPlace place, ValueRange loaded, Value y) {
  SmallVector<Value> inputs(loaded);
  inputs.push_back(y);
  // A map's elements: the state, the shared numbers, the output.
  auto knownOf = [&](ValueRange e) {
    Known known;
    for (auto [shared, element] :
         llvm::zip_equal(perHead, e.drop_front().drop_back()))
      known[shared] = element;
    known[x] = e.back();
    return known;
  };
  Value next =
      k.map(place.type, inputs, [&](OpBuilder &b, ValueRange e) -> Value {
        Known known = knownOf(e);
        Value past = e.front();
        if (decay)
          past = arith::MulFOp::create(b, k.loc(), past, emit(b, decay, known));
        Value written = emit(b, key, known);
        return math::FmaOp::create(b, k.loc(), written, emit(b, value, known),
                                   past);
      });
  stateAt(place).store(k, place.segment, next);
  if (linear.getRead() == seq::ReadOrder::AfterWrite)
    inputs.front() = next;
  return k.map(place.type, inputs, [&](OpBuilder &b, ValueRange e) -> Value {
    Known known = knownOf(e);
    known[read] =
        arith::MulFOp::create(b, k.loc(), emit(b, query, known), e.front());
    return emit(b, result, known);
  });
}

std::unique_ptr<OutputUpdate>
effc::createOutputRecurrence(KernelBuilder &k, seq::MixerOpInterface mixer) {
  auto update = std::make_unique<OutputRecurrence>(k, mixer);
  if (failed(update->check()))
    return nullptr;
  return update;
}
