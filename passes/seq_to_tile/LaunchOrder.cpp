#include "passes/seq_to_tile/LaunchOrder.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace effc;

/// The memory that a launch's operand is a part of.
static Value memoryOf(Value operand) {
  while (auto offset = operand.getDefiningOp<plan::OffsetOp>())
    operand = offset.getBase();
  return operand;
}

void LaunchAccesses::add(plan::LaunchOp launch, tile::KernelOp kernel) {
  for (Value operand : launch.getOperands())
    read.insert(memoryOf(operand));
  for (int64_t index : kernel.getWrites())
    written.insert(memoryOf(launch.getOperands()[index]));
}

bool LaunchAccesses::areIndependentOf(const LaunchAccesses &other) const {
  auto meet = [](const llvm::DenseSet<Value> &a,
                 const llvm::DenseSet<Value> &b) {
    return llvm::any_of(a, [&](Value memory) { return b.contains(memory); });
  };
  return !meet(written, other.read) && !meet(read, other.written);
}

bool effc::isAlwaysLaunched(plan::LaunchOp launch) {
  return !launch.getOnlyFor() && !launch.getProduct();
}

void effc::moveOperands(plan::LaunchOp launch, Operation *place) {
  for (Value operand : launch.getOperands()) {
    SmallVector<Operation *> definitions;
    for (Operation *op = operand.getDefiningOp(); op;
         op = op->getNumOperands() ? op->getOperand(0).getDefiningOp()
                                   : nullptr)
      definitions.push_back(op);
    for (Operation *op : llvm::reverse(definitions))
      if (!op->isBeforeInBlock(place))
        op->moveBefore(place);
  }
}

void effc::eraseUnlaunched(ModuleOp module, SymbolTable &symbols,
                           ArrayRef<std::string> names) {
  llvm::SmallPtrSet<Operation *, 32> launched;
  module.walk([&](plan::LaunchOp launch) {
    launched.insert(symbols.lookup(launch.getKernel()));
  });
  for (const std::string &name : names)
    if (Operation *kernel = symbols.lookup(name);
        kernel && !launched.contains(kernel))
      symbols.erase(kernel);
}

std::string effc::joinNotes(ArrayRef<plan::LaunchOp> launches) {
  plan::LaunchOp first = launches.front();
  std::string all = first.getNote().str();
  size_t common = all.rfind('.') + 1;
  for (plan::LaunchOp launch : launches.drop_front())
    while (launch.getNote().substr(0, common) !=
           StringRef(all).substr(0, common))
      common = common < 2 ? 0 : all.rfind('.', common - 2) + 1;
  for (plan::LaunchOp launch : launches.drop_front())
    all += "+" + launch.getNote().substr(common).str();
  return all;
}
