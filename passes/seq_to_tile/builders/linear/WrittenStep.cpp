// A step that is written out as a body and is not linear, token by token.
//
// The body becomes tiles as it stands. An item is one head of one segment; a
// segment as a whole where heads meet. On a GPU whose threads cannot hold a head's
// states it is a block of value channels, where these never meet. Without states
// tokens do not meet either, and an item is a head of one row. Floor: what the body
// multiplies; in decode the states read and written.
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/TileCode.h"
#include "passes/seq_to_tile/builders/convolution/ChannelBlock.h"
#include "passes/seq_to_tile/builders/linear/ItemState.h"
#include "passes/seq_to_tile/builders/linear/Recurrence.h"

using namespace mlir;
using namespace effc;

namespace {

class WrittenStep {
public:
  /// Of so many value channels of a head at a time; 0: of all.
  WrittenStep(KernelBuilder &k, seq::RecurrenceOp op, bool perHead,
              int64_t valueBlock = 0)
      : k(k), op(op), perHead(perHead), valueBlock(valueBlock), code(k) {
    code.valueBlock = valueBlock;
  }

  /// Whether the body can be said in tiles.
  bool plan();
  /// What stands in the way, or the op itself.
  Operation *getObstacle() {
    return code.obstacle ? code.obstacle : op.getOperation();
  }
  StringRef getReason() const { return code.reason; }

  LogicalResult build();

private:
  using Along = TileCode::Along;
  Block &body() { return op.getBody().front(); }
  ArrayRef<int64_t> rowShape() {
    return op.getY().getType().getShape().drop_front();
  }
  std::optional<TileCode::Axes> axesOf(ArrayRef<int64_t> shape, Along vector);
  void beginItem();
  ItemState stateOf(const seq::StateDescriptor &descriptor,
                    const TileCode::Axes &axes);
  SmallVector<Value> loadStates();
  void storeStates(ValueRange values);
  LogicalResult buildRow();
  FailureOr<SmallVector<Value>> step(Value row, ValueRange before);
  LogicalResult finish(Value row, Value y);
  TileCode::Scope scope(Value row) const {
    return {row, {}, head, head, firstValue ? firstValue : k.index(0)};
  }
  /// Along what a dimension of value channels lies.
  Along alongValues() const {
    return valueBlock > 0 ? Along::Value : Along::Column;
  }
  /// An item's part of memory, whose dimensions lie along `axes`.
  void addPart(ArrayRef<int64_t> shape, ArrayRef<Along> axes,
               SmallVectorImpl<Value> &at, SmallVectorImpl<int64_t> &sizes);

  KernelBuilder &k;
  seq::RecurrenceOp op;
  bool perHead;
  int64_t valueBlock;
  TileCode code;
  std::vector<TileCode::Axes> axes; // of the yielded: y, then the states
  tile::SegmentOp segment;
  Value head, firstValue;
  SmallVector<ItemState> states;
};

} // namespace

// A vector lies along `vector`; none where the shape has no place on a tile.
std::optional<TileCode::Axes> WrittenStep::axesOf(ArrayRef<int64_t> shape,
                                                  Along vector) {
  TileCode::Axes result;
  if (perHead) {
    if (shape.empty() || rowShape().empty() || shape[0] != rowShape()[0])
      return std::nullopt;
    result.push_back(Along::Head);
    shape = shape.drop_front();
  }
  if (shape.size() > 2)
    return std::nullopt;
  if (shape.size() == 2)
    result.append({Along::Key, alongValues()});
  if (shape.size() == 1)
    result.push_back(vector);
  return result;
}

bool WrittenStep::plan() {
  size_t tokens = op.getTokens().size(), parameters = op.getParameters().size();
  std::optional<TileCode::Axes> ofY = axesOf(rowShape(), alongValues());
  if (!ofY)
    return false;
  axes = {*ofY};
  for (auto [i, argument] : llvm::enumerate(body().getArguments())) {
    if (i < tokens + parameters) {
      code.setSource(argument, op->getOperand(i), /*perToken=*/i < tokens);
      continue;
    }
    auto type = cast<RankedTensorType>(argument.getType());
    std::optional<TileCode::Axes> ofState = axesOf(type.getShape(), Along::Key);
    if (!ofState)
      return false;
    // What value channels share would be written by all of them.
    if (valueBlock > 0 && !llvm::is_contained(*ofState, Along::Value))
      return false;
    code.declareBound(argument, *ofState);
    axes.push_back(*ofState);
  }
  code.setVarying(body(), [&](BlockArgument argument) {
    return argument.getArgNumber() < tokens ||
           argument.getArgNumber() >= tokens + parameters;
  });
  for (auto [yielded, along] :
       llvm::zip_equal(body().getTerminator()->getOperands(), axes))
    if (!code.canEmit(yielded, along))
      return false;
  return true;
}

void WrittenStep::beginItem() {
  int64_t heads = perHead ? rowShape()[0] : 1;
  int64_t blocks = valueBlock > 0 ? rowShape().back() / valueBlock : 1;
  k.setItems(tile::Count::Segments, 1, heads * blocks);
  auto [sequence, part] = k.divide(k.item(), heads * blocks);
  head = part;
  if (blocks > 1) {
    auto [headOfItem, block] = k.divide(part, blocks);
    head = headOfItem;
    firstValue = k.mul(block, valueBlock);
  }
  segment =
      tile::SegmentOp::create(k.ops(), k.loc(), k.segmentTable(), sequence);
  for (auto [descriptor, along] :
       llvm::zip_equal(op.getStates(), llvm::drop_begin(axes)))
    states.push_back(stateOf(descriptor, along));
}

void WrittenStep::addPart(ArrayRef<int64_t> shape, ArrayRef<Along> axes,
                          SmallVectorImpl<Value> &at,
                          SmallVectorImpl<int64_t> &sizes) {
  for (auto [extent, axis] : llvm::zip_equal(shape, axes)) {
    at.push_back(axis == Along::Head    ? head
                 : axis == Along::Value ? firstValue
                                        : k.index(0));
    sizes.push_back(axis == Along::Head    ? 1
                    : axis == Along::Value ? valueBlock
                                           : extent);
  }
}

ItemState WrittenStep::stateOf(const seq::StateDescriptor &descriptor,
                               const TileCode::Axes &along) {
  ItemState state{descriptor,
                  k.readWriteState(op->getOperand(descriptor.operand)),
                  {},
                  {},
                  {}};
  addPart(descriptor.type.getShape(), along, state.at, state.sizes);
  ArrayRef<int64_t> channels =
      ArrayRef(state.sizes).drop_front(along.front() == Along::Head ? 1 : 0);
  state.type = channels.size() == 2   ? k.blockType(channels[0], channels[1],
                                                    tile::Role::Accumulator)
               : channels.size() == 1 ? k.columnType(channels[0])
                                      : k.rowType(1);
  return state;
}

// A state of one number is a scalar between the tokens.
SmallVector<Value> WrittenStep::loadStates() {
  SmallVector<Value> loaded;
  for (const ItemState &state : states) {
    Value tile = state.load(k, segment);
    if (state.type.getRole() == tile::Role::Row)
      tile = tile::ReduceOp::create(k.ops(), k.loc(), k.ops().getF32Type(),
                                    tile::ReduceKind::Add, tile,
                                    /*over_rows=*/false);
    loaded.push_back(tile);
  }
  return loaded;
}

void WrittenStep::storeStates(ValueRange values) {
  for (auto [state, value] : llvm::zip_equal(states, values)) {
    Value tile = value;
    if (tile.getType().isF32())
      tile = tile::SplatOp::create(k.ops(), k.loc(), state.type, tile);
    state.store(k, segment, tile);
  }
}

// One token: the states after it; stores the token's result.
FailureOr<SmallVector<Value>> WrittenStep::step(Value row, ValueRange before) {
  code.beginScope();
  for (auto [argument, tile] :
       llvm::zip_equal(body().getArguments().take_back(states.size()), before))
    code.bind(argument, tile);
  SmallVector<Value> tiles;
  for (auto [yielded, along] :
       llvm::zip_equal(body().getTerminator()->getOperands(), axes))
    tiles.push_back(code.emit(yielded, along, scope(row)));
  if (failed(finish(row, tiles.front())))
    return failure();
  return SmallVector<Value>(llvm::drop_begin(tiles));
}

LogicalResult WrittenStep::finish(Value row, Value y) {
  SmallVector<Value> at = {row};
  SmallVector<int64_t> sizes = {1};
  addPart(rowShape(), axes.front(), at, sizes);
  if (y.getType().isF32())
    y = tile::SplatOp::create(k.ops(), k.loc(), k.rowType(1), y);
  auto type = cast<tile::TileType>(y.getType());
  return k.finish(
      op.getY(), y,
      [&](Value tensor) { return k.load(k.read(tensor), at, sizes, type); },
      [&](unsigned index, Value tile) {
        k.store(tile, k.write(index), at, sizes);
      });
}

// Rows of tokens, or those that were chosen.
LogicalResult WrittenStep::buildRow() {
  int64_t heads = perHead ? rowShape()[0] : 1;
  k.setItems(k.getContext().lead, 1, heads);
  auto [row, part] = k.divide(k.item(), heads);
  head = part;
  return success(succeeded(step(row, ValueRange())));
}

LogicalResult WrittenStep::build() {
  if (seq::isStatelessStep(op))
    return buildRow();
  OpBuilder &b = k.ops();
  beginItem();
  code.beginScope();
  for (auto [yielded, along] :
       llvm::zip_equal(body().getTerminator()->getOperands(), axes))
    code.emitConstants(yielded, along, scope({}));
  SmallVector<Value> before = loadStates();
  // Of a single token too, as in a decode call: what stands before the loop would
  // else share loops over elements with what stands in it, and sums over rows be
  // added in another order than in a prompt.
  auto loop = scf::ForOp::create(b, k.loc(), k.index(0), segment.getLength(),
                                 k.index(1), before);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    FailureOr<SmallVector<Value>> after =
        step(k.add(segment.getFirstRow(), loop.getInductionVar()),
             loop.getRegionIterArgs());
    if (failed(after))
      return failure();
    scf::YieldOp::create(b, k.loc(), *after);
  }
  storeStates(loop.getResults());
  return success();
}

// Value channels of an item where the threads of a GPU cannot hold the matrices of a
// head; 0: all of them. Sums over channels are added in the same order wherever a
// step is built.
static int64_t valuesOfItem(KernelBuilder &k, seq::RecurrenceOp op) {
  std::optional<int64_t> held = heldStateOf(k.getContext());
  int64_t keys = 0, values = op.getY().getType().getShape().back();
  for (const seq::StateDescriptor &state : op.getStates())
    if (ArrayRef<int64_t> shape = state.type.getShape();
        shape.size() == 3 && shape.back() == values)
      keys += shape[1];
  if (!held || keys * values <= *held)
    return 0;
  // Of some numbers of channels there is no block but all of them.
  int64_t block = blockOf(values, std::max<int64_t>(*held / keys, 8));
  return block < values ? block : 0;
}

LogicalResult effc::buildWrittenStep(KernelBuilder &k) {
  auto op = dyn_cast<seq::RecurrenceOp>(k.getRoot());
  if (!op)
    return k.getRoot()->emitOpError(
        "has no kernel: a mixer of class opaque needs a step that is written "
        "out, as 'seq.recurrence' has");
  if (int64_t values = valuesOfItem(k, op)) {
    WrittenStep blocks(k, op, /*perHead=*/true, values);
    if (blocks.plan())
      return blocks.build();
  }
  WrittenStep heads(k, op, /*perHead=*/true);
  if (heads.plan())
    return heads.build();
  WrittenStep whole(k, op, /*perHead=*/false);
  if (whole.plan())
    return whole.build();
  InFlightDiagnostic error = op.emitOpError(
      "has a step without a translation to tiles, which have two dimensions: "
      "expects heads that do not meet, or states of at most two dimensions");
  if (!heads.getReason().empty())
    error.attachNote(heads.getObstacle()->getLoc())
        << "'" << heads.getObstacle()->getName() << "' " << heads.getReason();
  return error;
}
