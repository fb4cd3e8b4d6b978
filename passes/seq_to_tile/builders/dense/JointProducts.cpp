#include "passes/seq_to_tile/builders/dense/JointProducts.h"

#include "passes/kernel_facts/LaunchCost.h"
#include "passes/kernel_facts/SingleRows.h"
#include "passes/seq_to_tile/JoinedResults.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace effc;

// A value, or what it is a view of.
static Value viewed(Value value) {
  while (isa_and_nonnull<seq::SliceOp, seq::ReshapeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

// What a kernel is given that an operand of its product is, or is a view of; null where
// the kernel computes it.
static Value givenTo(seq::KernelOp kernel, Value operand) {
  auto argument = dyn_cast<BlockArgument>(viewed(operand));
  return argument ? viewed(kernel.getInputs()[argument.getArgNumber()])
                  : Value();
}

// Whether a kernel's launch can stand where an earlier one does: what it reads is there,
// of launches before. Parameters and views of values have no launch.
static bool canGoWith(seq::KernelOp kernel, seq::KernelOp first) {
  return llvm::all_of(kernel.getInputs(), [&](Value input) {
    auto made = viewed(input).getDefiningOp<seq::KernelOp>();
    return !made || made->isBeforeInBlock(first);
  });
}

// Whether both results lie in one tensor that joins them: launches that write the same
// memory are not joined.
static bool writeTogether(seq::KernelOp a, seq::KernelOp b) {
  auto onlyUser = [](seq::KernelOp kernel) -> Operation * {
    return kernel.getResult(0).hasOneUse()
               ? *kernel.getResult(0).getUsers().begin()
               : nullptr;
  };
  Operation *user = onlyUser(a);
  if (!user || user != onlyUser(b))
    return false;
  llvm::DenseMap<Value, JoinedPart> parts = findJoinedResults(*a->getBlock());
  return parts.contains(a.getResult(0)) && parts.contains(b.getResult(0));
}

// The kernels of products that read such rows and sum up as many terms, in order.
static SmallVector<seq::KernelOp> productsOf(Value rows, int64_t terms) {
  SmallVector<seq::KernelOp> products;
  llvm::SmallPtrSet<Operation *, 8> seen;
  for (Operation *user : rows.getUsers()) {
    auto kernel = dyn_cast<seq::KernelOp>(user);
    if (!kernel || !seen.insert(kernel).second)
      continue;
    auto linear = dyn_cast_or_null<seq::LinearOp>(kernel.getRootOp());
    if (linear && givenTo(kernel, linear.getX()) == rows &&
        DenseShape::of(linear).inner == terms)
      products.push_back(kernel);
  }
  llvm::sort(products, [](seq::KernelOp a, seq::KernelOp b) {
    return a->isBeforeInBlock(b);
  });
  return products;
}

SmallVector<int64_t> effc::jointOutputs(Operation *product,
                                        const CallContext &call) {
  DenseShape own = DenseShape::of(product);
  auto kernel = product->getParentOfType<seq::KernelOp>();
  Value rows = givenTo(kernel, product->getOperand(0));
  if (!isa<seq::LinearOp>(product) || !rows ||
      call.kind != seq::EntryKind::Decode || !takesLaunches(call.target))
    return {own.outputs};
  // As JoinLaunches does it: the first takes all that can be with it, then the first of
  // those that are left.
  SmallVector<seq::KernelOp> left = productsOf(rows, own.inner), joint;
  if (!llvm::is_contained(left, kernel)) // another op is its root
    return {own.outputs};
  while (!llvm::is_contained(joint, kernel)) {
    joint.clear();
    for (seq::KernelOp next : left)
      if (canGoWith(next, left.front()) &&
          llvm::none_of(joint, [&](seq::KernelOp one) {
            return writeTogether(one, next);
          }))
        joint.push_back(next);
    llvm::erase_if(left, [&](seq::KernelOp one) {
      return llvm::is_contained(joint, one);
    });
  }
  return llvm::map_to_vector(joint, [](seq::KernelOp one) {
    return DenseShape::of(one.getRootOp()).outputs;
  });
}
