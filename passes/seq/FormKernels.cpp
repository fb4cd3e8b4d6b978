// Ops -> seq.kernel regions: one root each, with the elementwise ops that
// follow, for rows that a GPU takes one by one with what keeps a state of a product's
// outputs after it, for a single row with the norm before it, and with the
// convolution of a recurrence's values.
//
//   %p = seq.linear %a, %w      %r = seq.kernel "layers.0.out_proj" (...) {
//   %r = seq.add %x, %p     ->    %p = seq.linear ...
//                                 %r = seq.add ...
//                                 seq.yield %r }
#include "passes/kernel_facts/LaunchCost.h"
#include "passes/kernel_facts/SingleRows.h"
#include "passes/seq/Passes.h"

#include "dialects/seq/OpKinds.h"
#include "dialects/seq/Seq.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/seq/ConvolutionPrologues.h"
#include "passes/seq/JoinedOutputs.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "passes/seq/Passes.h.inc"

namespace {

/// Ops that become one kernel, in program order.
struct Group {
  llvm::SetVector<Operation *> ops;
  Operation *root; // or the first elementwise op

  bool contains(Operation *op) const { return ops.contains(op); }
};

/// What a kernel is called: the name its root was given, else the root's own.
std::string nameOf(const Group &group) {
  if (auto named = dyn_cast<NameLoc>(group.root->getLoc()))
    return named.getName().str();
  return group.root->getName().stripDialect().str();
}

struct FormKernelsPass : impl::FormKernelsPassBase<FormKernelsPass> {
  using FormKernelsPassBase::FormKernelsPassBase;

  void runOnOperation() override {
    prologues.clear();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr("seq.entry") &&
          (failed(checkVarying(function.getBody().front())) ||
           failed(checkViews(function.getBody().front()))))
        return signalPassFailure();
    bool launches = takesLaunches(tile::getTarget(getOperation()));
    // What joins such a product rounds otherwise than beside other rows: the factor
    // of a norm comes after the sums, and the product takes the row by itself.
    bool joinsSingleRows = launches && !tile::isBitStable(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      auto entry = function->getAttrOfType<seq::EntryAttr>("seq.entry");
      if (!entry)
        continue;
      joined = {};
      convolutions = {};
      bool isDecode = entry.getKind() == seq::EntryKind::Decode;
      if (joinsSingleRows && isDecode && entry.getRows() == 1)
        repeatNorms(function.getBody().front());
      if (joinsSingleRows && isDecode && entry.getRows() <= kMostSingleRows)
        joined.collect(function.getBody().front(), maxOps);
      // A launch less, and the same bits.
      if (launches && isDecode)
        joined.collectRows(function.getBody().front());
      if (convolutionPrologues && entry.getKind() == seq::EntryKind::Prefill)
        convolutions.collect(function.getBody().front());
      formKernels(function.getBody().front());
    }
  }

  // A norm of whole rows whose users are products that can take it in, and which
  // is worth less than a launch of the GPU to all of them.
  static bool isPrologue(seq::RowNormOpInterface norm) {
    if (norm.getGroups() != 1 || norm->use_empty())
      return false;
    int64_t terms = 0;
    for (Operation *user : norm->getUsers()) {
      auto product = dyn_cast<seq::LinearOp>(user);
      if (!product || product.getX() != norm->getResult(0) ||
          !ownsOutputs(product))
        return false;
      DenseShape shape = DenseShape::of(product);
      terms += shape.outputs * shape.inner;
    }
    return terms <=
           mostNormedTerms(tile::getTarget(norm), bool(norm.getGate()));
  }

  // Each product gets a norm of its own: where products are small, a launch costs
  // more than the row read again by every item.
  void repeatNorms(Block &block) {
    for (auto norm :
         llvm::make_early_inc_range(block.getOps<seq::RowNormOpInterface>())) {
      if (!isPrologue(norm))
        continue;
      for (OpOperand &use : llvm::make_early_inc_range(norm->getUses())) {
        Operation *own = OpBuilder(use.getOwner()).clone(*norm.getOperation());
        use.set(own->getResult(0));
        prologues.insert(own);
      }
      norm->erase();
    }
  }

  llvm::DenseSet<Operation *> prologues;

  // The norm that a product takes in, or null.
  Operation *prologueOf(Operation *op) const {
    auto product = dyn_cast<seq::LinearOp>(op);
    Operation *norm = product ? product.getX().getDefiningOp() : nullptr;
    return norm && prologues.contains(norm) ? norm : nullptr;
  }

  // Where a convolution takes the whole product for itself, an epilogue may
  // follow it; else the product's outputs are not where its own are.
  void addJoined(Group &group, size_t place,
                 llvm::DenseMap<Value, size_t> &lastResults) const {
    for (Operation *op : joined.behind(group.root)) {
      group.ops.insert(op);
      if (seq::isViewOp(op))
        continue;
      emitRemark(op->getLoc())
          << "fused into kernel '" << nameOf(group) << "' as its epilogue";
      auto convolution = dyn_cast<seq::ShortConvolutionOp>(op);
      if (!convolution)
        continue;
      Value x = convolution.getX();
      if (x.getDefiningOp() == group.root && x.hasOneUse())
        lastResults[convolution.getY()] = place;
    }
  }

  JoinedOutputs joined;
  ConvolutionPrologues convolutions;

  // A kernel has a row for each token: what has none would be computed as far
  // as there happen to be tokens.
  static LogicalResult checkVarying(Block &block) {
    llvm::DenseSet<Value> fixed;
    for (Operation &op : block.without_terminator()) {
      bool isFixed = llvm::all_of(op.getOperands(), [&](Value operand) {
        return fixed.contains(operand);
      });
      if (!isFixed)
        continue;
      if (!isa<seq::ParameterOp>(op) && !seq::isViewOp(&op))
        return op.emitOpError(
            "computes from parameters alone, which no call does: expects a "
            "weight with the numbers it gives, or the op inside of a "
            "'seq.recurrence'");
      fixed.insert(op.result_begin(), op.result_end());
    }
    return success();
  }

  // Kernels hold the views that they read through.
  static LogicalResult checkViews(Block &block) {
    constexpr unsigned kMostViews = 256;
    llvm::DenseMap<Value, unsigned> views; // that lead to a value
    for (Operation &op : block.without_terminator()) {
      if (!seq::isViewOp(&op))
        continue;
      unsigned before = 0;
      for (Value operand : op.getOperands())
        before = std::max(before, views.lookup(operand));
      if (before >= kMostViews)
        return op.emitOpError() << "expects at most " << kMostViews
                                << " views in a row, but this one is another";
      for (Value result : op.getResults())
        views[result] = before + 1;
    }
    return success();
  }

  void formKernels(Block &block) {
    std::vector<Group> groups;
    llvm::DenseMap<Value, size_t> lastResults; // of which group
    for (Operation &op : block.without_terminator()) {
      if (seq::isViewOp(&op) || seq::isBetweenKernels(&op) ||
          prologues.contains(&op) || joined.contains(&op) ||
          convolutions.contains(&op))
        continue;
      bool follows = seq::isElementwiseOp(&op) || isa<seq::BestOp>(op);
      std::optional<size_t> place =
          follows ? findHost(groups, lastResults, &op) : std::nullopt;
      if (place && groups[*place].ops.size() >= maxOps) {
        emitRemark(op.getLoc())
            << "not fused into kernel '" << nameOf(groups[*place])
            << "', which has " << maxOps.getValue() << " ops";
        place.reset();
      }
      if (place) {
        Group &host = groups[*place];
        emitRemark(op.getLoc())
            << "fused into kernel '" << nameOf(host) << "' as its epilogue";
        host.ops.insert(&op);
      } else {
        place = groups.size();
        Group &group = groups.emplace_back();
        group.root = &op;
        SmallVector<Operation *> first(convolutions.before(&op));
        llvm::append_range(first, joined.before(&op));
        if (Operation *norm = prologueOf(&op))
          first.push_back(norm);
        for (Operation *before : first) {
          if (!seq::isViewOp(before))
            emitRemark(before->getLoc())
                << "fused into kernel '" << nameOf(group)
                << "' as its prologue";
          group.ops.insert(before);
        }
        group.ops.insert(&op);
        addJoined(group, *place, lastResults);
      }
      for (Value result : op.getResults())
        lastResults[result] = *place;
    }
    for (const Group &group : groups)
      enclose(group);
    // Views are copied into the kernels that read through them.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (seq::isViewOp(&op) && op.use_empty())
        op.erase();
  }

  static bool endsInChoice(Operation *op) {
    while (seq::isElementwiseOp(op) && op->getResult(0).hasOneUse())
      op = *op->getResult(0).user_begin();
    return isa<seq::BestOp>(op);
  }

  // The group whose last result `op` alone uses, if the op can move there: its
  // other operands then are there already or come before. Logits are nobody's
  // but the call's, if not those that only a choice is made of; a choice ends
  // its kernel, and what is joined is nowhere as a whole.
  static std::optional<size_t>
  findHost(const std::vector<Group> &groups,
           const llvm::DenseMap<Value, size_t> &lastResults, Operation *op) {
    for (Value operand : op->getOperands()) {
      auto known = lastResults.find(operand);
      if (known == lastResults.end() || !operand.hasOneUse() ||
          cast<OpResult>(operand).getResultNumber() != 0)
        continue;
      Operation *producer = operand.getDefiningOp();
      if (!seq::endsKernel(producer) &&
          (!isa<seq::LmHeadOp>(producer) || endsInChoice(op)) &&
          (!isa<seq::BestOp>(op) || seq::isDenseOp(groups[known->second].root)))
        return known->second;
    }
    return std::nullopt;
  }

  // What a value inside the kernel is read from: through views, to a value from
  // outside; the views passed are collected, outermost first. What a view names
  // besides, the shape of a repetition, becomes an input.
  static Value sourceOf(Value value, const Group &group,
                        llvm::SetVector<Operation *> &views,
                        llvm::SetVector<Value> &inputs) {
    Operation *op = value.getDefiningOp();
    if (!op || !seq::isViewOp(op) || group.contains(op))
      return value;
    Value source = sourceOf(op->getOperand(0), group, views, inputs);
    for (Value shape : op->getOperands().drop_front())
      inputs.insert(sourceOf(shape, group, views, inputs));
    views.insert(op);
    return source;
  }

  // The number of the root behind so many views; null where ops are elementwise.
  static IntegerAttr rootOf(const Group &group, size_t views,
                            OpBuilder &builder) {
    if (seq::isElementwiseOp(group.root))
      return {};
    auto at = llvm::find(group.ops, group.root);
    return builder.getI64IntegerAttr(views + (at - group.ops.begin()));
  }

  static void enclose(const Group &group) {
    llvm::SetVector<Operation *> views;
    llvm::SetVector<Value> inputs;
    for (Operation *op : group.ops)
      for (Value operand : op->getOperands()) {
        Value source = sourceOf(operand, group, views, inputs);
        if (!source.getDefiningOp() || !group.contains(source.getDefiningOp()))
          inputs.insert(source);
      }
    SmallVector<Value> results;
    for (Operation *op : group.ops)
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) {
              return !group.contains(user);
            }))
          results.push_back(result);

    Operation *last = group.ops.back();
    OpBuilder builder(last->getBlock(), std::next(last->getIterator()));
    auto kernel = seq::KernelOp::create(
        builder, last->getLoc(), TypeRange(ValueRange(results)),
        builder.getStringAttr(nameOf(group)), inputs.getArrayRef(),
        rootOf(group, views.size(), builder), /*narrow=*/DenseI64ArrayAttr(),
        /*narrow_to=*/TypeAttr());
    Block *body = builder.createBlock(&kernel.getBody());
    IRMapping mapping;
    for (Value input : inputs)
      mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
    for (Operation *view : views)
      builder.clone(*view, mapping);
    for (Operation *op : group.ops)
      builder.clone(*op, mapping);
    SmallVector<Value> yielded;
    for (Value result : results)
      yielded.push_back(mapping.lookup(result));
    seq::YieldOp::create(builder, last->getLoc(), yielded);
    for (auto [old, result] : llvm::zip_equal(results, kernel.getResults()))
      old.replaceAllUsesWith(result);
    for (Operation *op : llvm::reverse(group.ops))
      op->erase();
  }
};
} // namespace
} // namespace effc
