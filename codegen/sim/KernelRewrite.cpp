// The function itself and its parameters.
#include "codegen/sim/KernelRewrite.h"

#include "codegen/LaunchNeeds.h"
#include "codegen/sim/units/Units.h"

using namespace mlir;

namespace effc::sim {

LogicalResult Rewrites::rewrite(Operation *op, RewriteState &s) const {
  s.b.setInsertionPoint(op);
  s.b.setLoc(op->getLoc());
  auto known = byKind.find(op->getName().getTypeID());
  if (known != byKind.end())
    return known->second(op, s);
  if (op->getName().getDialectNamespace() == "nvvm")
    return op->emitError("the simulator does not know this op");
  return success();
}

LogicalResult Rewrites::finish() const {
  for (const auto &end : ends)
    if (failed(end()))
      return failure();
  return success();
}

// The parameters of a GPU kernel are read from the two arrays that a simulated
// one is passed: addresses of operands and of tensor maps, and counts.
static void bindParameters(LLVM::LLVMFuncOp function, RewriteState &s) {
  Block *old = &function.getBody().front();
  s.entry = s.b.createBlock(&function.getBody(), function.getBody().begin());
  for (Type type : function.getFunctionType().getParams())
    s.entry->addArgument(type, function.getLoc());
  s.calls = s.entry->getArgument(0);
  s.thread = s.entry->getArgument(1);
  int32_t operands = 0, counts = 0;
  for (BlockArgument argument : old->getArguments()) {
    bool isOperand = isa<LLVM::LLVMPointerType>(argument.getType());
    Value array = s.entry->getArgument(isOperand ? 2 : 3);
    Type type = argument.getType();
    Value at = s.elementAt(array, isOperand ? s.pointer : type,
                           isOperand ? operands++ : counts++);
    Value value = LLVM::LoadOp::create(s.b, isOperand ? s.pointer : type, at);
    if (isOperand)
      value = LLVM::AddrSpaceCastOp::create(s.b, type, value);
    argument.replaceAllUsesWith(value);
  }
  old->eraseArguments(0, old->getNumArguments());
  LLVM::BrOp::create(s.b, ValueRange{}, old);
}

LogicalResult rewriteKernel(LLVM::LLVMFuncOp kernel, RewriteState &s) {
  s.b.setInsertionPoint(kernel);
  s.b.setLoc(kernel.getLoc());
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(s.b.getContext()),
                                  {s.pointer, s.pointer, s.pointer, s.pointer});
  auto function = LLVM::LLVMFuncOp::create(s.b, kernel.getSymName(), type);
  if (auto needs = codegen::LaunchNeeds::of(kernel))
    needs->setOn(function);
  function.getBody().takeBody(kernel.getBody());
  kernel.erase();
  Rewrites rewrites;
  addThreads(rewrites);
  addMemory(rewrites);
  addCopies(rewrites);
  addMath(rewrites);
  addProducts(rewrites, function);
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (op != function)
      ops.push_back(op);
  });
  bindParameters(function, s);
  for (Operation *op : ops)
    if (failed(rewrites.rewrite(op, s)))
      return failure();
  return rewrites.finish();
}

} // namespace effc::sim
