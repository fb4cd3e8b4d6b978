#include "passes/seq/JoinedOutputs.h"
#include "passes/kernel_facts/SingleRows.h"

#include "dialects/seq/OpKinds.h"
#include "dialects/seq/Seq.h"
#include "passes/kernel_facts/TableRow.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace effc;

ArrayRef<Operation *> JoinedOutputs::before(Operation *root) const {
  auto known = ofRoot.find(root);
  return known == ofRoot.end() ? ArrayRef<Operation *>()
                               : ArrayRef(known->second.before);
}

ArrayRef<Operation *> JoinedOutputs::behind(Operation *product) const {
  auto known = ofRoot.find(product);
  return known == ofRoot.end() ? ArrayRef<Operation *>()
                               : ArrayRef(known->second.behind);
}

void JoinedOutputs::collect(Block &block, unsigned most) {
  mostOps = most;
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  for (Operation *op : ops)
    if (ownChannelsOf(op))
      take(op);
  for (Operation *op : ops)
    if (seq::isElementwiseOp(op) || isa<seq::ConcatOp>(op))
      follow(op);
  eraseUnread(block);
}

// What each kernel has of its own nobody reads elsewhere.
void JoinedOutputs::eraseUnread(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if ((seq::isViewOp(&op) || isa<seq::EmbeddingOp>(op)) && op.use_empty())
      op.erase();
}

void JoinedOutputs::collectRows(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    if (ownChannelsOf(&op) && !contains(&op))
      ops.push_back(&op);
  for (Operation *op : ops) {
    OpOperand *channels = ownChannelsOf(op);
    for (OpOperand &operand : op->getOpOperands())
      if (&operand != channels && TableRow::of(operand.get()).row)
        operand.set(rowBefore(operand.get(), op));
  }
  eraseUnread(block);
}

// With views, of which a value has up to 256, kernels stay within what one may
// hold.
bool JoinedOutputs::hasRoom(const Ops &ops, Operation *op) const {
  constexpr size_t kMostWithViews = 192;
  if (ops.count < mostOps &&
      ops.before.size() + ops.behind.size() < kMostWithViews)
    return true;
  emitRemark(op->getLoc()) << "not fused into the kernel of its product, which "
                              "has "
                           << ops.count << " ops behind it";
  return false;
}

// Of two ops that share outputs both see the same channels as the same heads.
bool JoinedOutputs::isFree(const TakenOutputs &taken) const {
  return llvm::all_of(behind(taken.product), [&](Operation *op) {
    TakenOutputs other = TakenOutputs::of(op);
    return !other.product || other.isLike(taken) || !other.overlaps(taken);
  });
}

// Collects what has to move for `value` to be there before `place`, in order;
// false where that is more than parameters and views of them.
static bool collectLater(Value value, Operation *place,
                         llvm::SetVector<Operation *> &later) {
  Operation *op = value.getDefiningOp();
  if (!op || op->isBeforeInBlock(place))
    return true;
  if (!isa<seq::ParameterOp>(op) && !seq::isViewOp(op))
    return false;
  for (Value operand : op->getOperands())
    if (!collectLater(operand, place, later))
      return false;
  later.insert(op);
  return true;
}

// A copy of the row, and of the slices of it, that is the kernel's own.
Value JoinedOutputs::rowBefore(Value row, Operation *root) {
  Operation *op = row.getDefiningOp();
  Operation *&copy = copies[{root, op}];
  if (copy)
    return copy->getResult(0);
  Value x = isa<seq::EmbeddingOp>(op) ? op->getOperand(0)
                                      : rowBefore(op->getOperand(0), root);
  Operation *made = OpBuilder(root).clone(*op);
  made->setOperand(0, x);
  copies[{root, op}] = made;
  ofRoot[root].before.push_back(made);
  all.insert(made);
  return made->getResult(0);
}

// Puts an op behind its product and what has come there before.
void JoinedOutputs::place(Operation *op, Operation *product) {
  Ops &ops = ofRoot[product];
  Operation *last = ops.behind.empty() ? product : ops.behind.back();
  op->moveAfter(last);
  ops.behind.push_back(op);
  ops.count += seq::isViewOp(op) ? 0 : 1;
  all.insert(op);
}

// A copy of views of what has been placed, behind it: of the product itself, or
// of what is made of it.
Value JoinedOutputs::viewBehind(Value view, Operation *product) {
  Operation *op = view.getDefiningOp();
  if (op == product || all.contains(op))
    return view;
  Value x = viewBehind(op->getOperand(0), product);
  Operation *copy = OpBuilder(op).clone(*op);
  copy->setOperand(0, x);
  place(copy, product);
  return copy->getResult(0);
}

void JoinedOutputs::take(Operation *op) {
  TakenOutputs taken = TakenOutputs::of(op);
  Operation *product = taken.product;
  if (!product || !ownsOutputs(taken.product) || !isFree(taken) ||
      !hasRoom(ofRoot[product], op))
    return;
  OpOperand *channels = ownChannelsOf(op);
  llvm::SetVector<Operation *> later;
  for (OpOperand &operand : op->getOpOperands()) {
    if (&operand == channels)
      continue;
    seq::EmbeddingOp row = TableRow::of(operand.get()).row;
    if (!collectLater(row ? row.getTable() : operand.get(), product, later))
      return;
  }
  for (Operation *parameter : later)
    parameter->moveBefore(product);
  for (OpOperand &operand : op->getOpOperands())
    if (&operand == channels)
      operand.set(viewBehind(operand.get(), product));
    else if (TableRow::of(operand.get()).row)
      operand.set(rowBefore(operand.get(), product));
  place(op, product);
  auto stateful = cast<seq::StatefulOpInterface>(op);
  places[stateful.getTokenResults().front()] = {product, taken.first,
                                                taken.end()};
}

// What joins or adds what updates of one product give, and nothing else. What
// follows a convolution of all outputs elsewhere may read other tensors too.
void JoinedOutputs::follow(Operation *op) {
  auto concat = dyn_cast<seq::ConcatOp>(op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (concat && (concat.getAxis() != 1 || type.getRank() != 2))
    return;
  Place common = places.lookup(elementsOf(op->getOperand(0)));
  if (!common.product)
    return;
  for (Value operand : op->getOperands()) {
    Value elements = elementsOf(operand);
    Place place = places.lookup(elements);
    bool isConvolved = !!elements.getDefiningOp<seq::ShortConvolutionOp>();
    if (place.product != common.product ||
        (!concat && (isConvolved || place.first != common.first ||
                     place.end != common.end)))
      return;
  }
  if (!hasRoom(ofRoot[common.product], op))
    return;
  for (OpOperand &operand : op->getOpOperands())
    operand.set(viewBehind(operand.get(), common.product));
  place(op, common.product);
  // Joined outputs lie elsewhere.
  if (!concat)
    places[op->getResult(0)] = common;
}
