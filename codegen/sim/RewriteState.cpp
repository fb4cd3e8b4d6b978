// Calls of the simulator's table, and the sites that they name.
#include "codegen/sim/RewriteState.h"

using namespace mlir;
using namespace effc;
using namespace effc::sim;

// "layers.0.norm: tile.store", of a location that names the op inside the
// location of the model's part.
static std::string siteOf(Location loc) {
  if (auto named = dyn_cast<NameLoc>(loc)) {
    std::string child = siteOf(named.getChildLoc());
    return child.empty() ? named.getName().str()
                         : child + ": " + named.getName().str();
  }
  if (auto fused = dyn_cast<FusedLoc>(loc))
    return fused.getLocations().empty() ? "" : siteOf(fused.getLocations()[0]);
  if (auto file = dyn_cast<FileLineColLoc>(loc))
    return "line " + std::to_string(file.getLine());
  return "";
}

Value RewriteState::site() {
  std::string text = siteOf(loc());
  LLVM::GlobalOp &global = sites[text];
  if (!global) {
    OpBuilder atStart = OpBuilder::atBlockBegin(module.getBody());
    std::string bytes = text + '\0';
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
    global = LLVM::GlobalOp::create(
        atStart, module.getLoc(), type, /*isConstant=*/true,
        LLVM::Linkage::Internal, "effc_site_" + std::to_string(sites.size()),
        b.getStringAttr(bytes));
  }
  return LLVM::AddressOfOp::create(b, pointer, global.getSymName());
}

Value RewriteState::call(size_t entryNumber, Type result, ValueRange arguments,
                         bool withSite) {
  Value at = elementAt(calls, pointer, static_cast<int32_t>(entryNumber));
  SmallVector<Value> operands = {LLVM::LoadOp::create(b, pointer, at), thread};
  llvm::append_range(operands, arguments);
  if (withSite)
    operands.push_back(site());
  Type returned =
      result ? result : Type(LLVM::LLVMVoidType::get(b.getContext()));
  auto type = LLVM::LLVMFunctionType::get(
      returned, llvm::to_vector(ValueRange(operands).drop_front().getTypes()));
  auto called = LLVM::CallOp::create(b, type, operands);
  return result ? called.getResult() : Value();
}

Value RewriteState::reserve(Type type, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entry);
  Value number =
      LLVM::ConstantOp::create(b, b.getI64Type(), b.getI64IntegerAttr(count));
  return LLVM::AllocaOp::create(b, pointer, type, number);
}

Value RewriteState::arrayOf(ValueRange values) {
  Type element = values[0].getType();
  Value array = reserve(element, values.size());
  for (auto [i, value] : llvm::enumerate(values))
    LLVM::StoreOp::create(b, value, elementAt(array, element, i));
  return array;
}
