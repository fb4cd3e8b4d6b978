// The function itself, its parameters, threads, warps and memory.
#include "codegen/sim/KernelRewrite.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace effc;
using namespace effc::sim;

static constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;

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

Value KernelRewrite::site() {
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
  return LLVM::AddressOfOp::create(b, loc(), pointer, global.getSymName());
}

Value KernelRewrite::call(size_t entryNumber, Type result, ValueRange arguments,
                          bool withSite) {
  Value at = elementAt(calls, pointer, static_cast<int32_t>(entryNumber));
  SmallVector<Value> operands = {LLVM::LoadOp::create(b, loc(), pointer, at),
                                 thread};
  llvm::append_range(operands, arguments);
  if (withSite)
    operands.push_back(site());
  Type returned =
      result ? result : Type(LLVM::LLVMVoidType::get(b.getContext()));
  auto type = LLVM::LLVMFunctionType::get(
      returned, llvm::to_vector(ValueRange(operands).drop_front().getTypes()));
  auto called = LLVM::CallOp::create(b, loc(), type, operands);
  return result ? called.getResult() : Value();
}

Value KernelRewrite::reserve(Type type, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entry);
  Value number = LLVM::ConstantOp::create(b, loc(), b.getI64Type(),
                                          b.getI64IntegerAttr(count));
  return LLVM::AllocaOp::create(b, loc(), pointer, type, number);
}

//===----------------------------------------------------------------------===//
// Threads and warps
//===----------------------------------------------------------------------===//

LogicalResult KernelRewrite::rewriteOp(NVVM::ThreadIdXOp op) {
  auto which = static_cast<uint32_t>(rt::SimSpecial::ThreadX);
  return replace(op, call(EFFC_SIM_CALL(special), b.getI32Type(), i32(which),
                          /*withSite=*/false));
}

LogicalResult KernelRewrite::rewriteOp(NVVM::BlockIdXOp op) {
  auto which = static_cast<uint32_t>(rt::SimSpecial::BlockX);
  return replace(op, call(EFFC_SIM_CALL(special), b.getI32Type(), i32(which),
                          /*withSite=*/false));
}

LogicalResult KernelRewrite::rewriteOp(NVVM::Barrier0Op op) {
  call(EFFC_SIM_CALL(barrier), {}, {}, /*withSite=*/true);
  return erase(op);
}

static rt::SimShuffle kindOf(NVVM::ShflKind kind) {
  switch (kind) {
  case NVVM::ShflKind::bfly:
    return rt::SimShuffle::Butterfly;
  case NVVM::ShflKind::idx:
    return rt::SimShuffle::Index;
  case NVVM::ShflKind::up:
    return rt::SimShuffle::Up;
  case NVVM::ShflKind::down:
    return rt::SimShuffle::Down;
  }
  llvm_unreachable("a kind of shuffle");
}

LogicalResult KernelRewrite::rewriteOp(NVVM::ShflOp op) {
  if (op.getReturnValueAndIsValid())
    return op.emitError("the simulator's shuffles give no predicate");
  Type type = op.getType();
  Value bits = op.getVal();
  if (type.isF32())
    bits = LLVM::BitcastOp::create(b, loc(), b.getI32Type(), bits);
  Value result =
      call(EFFC_SIM_CALL(shuffle), b.getI32Type(),
           {i32(static_cast<uint32_t>(kindOf(op.getKind()))),
            op.getThreadMask(), bits, op.getOffset(), op.getMaskAndClamp()},
           /*withSite=*/true);
  if (type.isF32())
    result = LLVM::BitcastOp::create(b, loc(), type, result);
  return replace(op, result);
}

LogicalResult KernelRewrite::rewriteOp(NVVM::GriddepcontrolOp op) {
  // When the next launch begins makes no difference to this one.
  if (op.getKind() == NVVM::GridDepActionKind::wait)
    call(EFFC_SIM_CALL(awaitLaunches), {}, {}, /*withSite=*/true);
  return erase(op);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void KernelRewrite::checkAccess(Operation *op, Value address, Type type,
                                uint64_t alignment, bool writes) {
  unsigned space =
      cast<LLVM::LLVMPointerType>(address.getType()).getAddressSpace();
  if (space != kGlobalSpace && space != kSharedSpace)
    return;
  DataLayout layout = DataLayout::closest(op);
  uint64_t bytes = layout.getTypeSize(type);
  if (alignment == 0)
    alignment = layout.getTypeABIAlignment(type);
  uint32_t flags = (writes ? rt::kSimWrite : rt::kSimRead) |
                   (space == kSharedSpace ? rt::kSimShared : 0);
  call(EFFC_SIM_CALL(access), {},
       {plain(address), i32(bytes), i32(alignment), i32(flags)},
       /*withSite=*/true);
}

LogicalResult KernelRewrite::rewriteOp(LLVM::LoadOp op) {
  checkAccess(op, op.getAddr(), op.getType(), op.getAlignment().value_or(0),
              /*writes=*/false);
  return success();
}

LogicalResult KernelRewrite::rewriteOp(LLVM::StoreOp op) {
  checkAccess(op, op.getAddr(), op.getValue().getType(),
              op.getAlignment().value_or(0), /*writes=*/true);
  return success();
}

LogicalResult KernelRewrite::rewriteOp(LLVM::AddressOfOp op) {
  auto type = cast<LLVM::LLVMPointerType>(op.getType());
  if (type.getAddressSpace() != kSharedSpace)
    return success();
  Value start = call(EFFC_SIM_CALL(shared), pointer, {}, /*withSite=*/false);
  return replace(op, LLVM::AddrSpaceCastOp::create(b, loc(), type, start));
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

LogicalResult KernelRewrite::rewrite(Operation *op) {
  current = op;
  b.setInsertionPoint(op);
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<NVVM::ThreadIdXOp, NVVM::BlockIdXOp, NVVM::Barrier0Op, NVVM::ShflOp,
            NVVM::GriddepcontrolOp, LLVM::LoadOp, LLVM::StoreOp,
            LLVM::AddressOfOp, NVVM::CpAsyncOp, NVVM::CpAsyncCommitGroupOp,
            NVVM::CpAsyncWaitGroupOp,
            NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp,
            NVVM::MBarrierInitOp, NVVM::MBarrierArriveExpectTxOp,
            NVVM::MBarrierTryWaitParityOp, NVVM::FenceProxyOp,
            LLVM::CallIntrinsicOp, LLVM::FPTruncOp, NVVM::ConvertFloatToTF32Op,
            NVVM::LdMatrixOp, NVVM::MmaOp, tile::WarpGroupDotOp,
            tile::WarpGroupWaitOp, tile::WarpGroupFenceOp,
            NVVM::WgmmaGroupSyncAlignedOp>(
          [&](auto known) { return rewriteOp(known); })
      .Default([](Operation *other) -> LogicalResult {
        if (other->getName().getDialectNamespace() == "nvvm")
          return other->emitError("the simulator does not know this op");
        return success();
      });
}

// The parameters of a GPU kernel are read from the two arrays that a simulated
// one is passed: addresses of operands and of tensor maps, and counts.
void KernelRewrite::bindParameters(LLVM::LLVMFuncOp function) {
  Block *old = &function.getBody().front();
  entry = b.createBlock(&function.getBody(), function.getBody().begin());
  for (Type type : function.getFunctionType().getParams())
    entry->addArgument(type, function.getLoc());
  calls = entry->getArgument(0);
  thread = entry->getArgument(1);
  int32_t operands = 0, counts = 0;
  for (BlockArgument argument : old->getArguments()) {
    bool isOperand = isa<LLVM::LLVMPointerType>(argument.getType());
    Value array = entry->getArgument(isOperand ? 2 : 3);
    Type type = argument.getType();
    Value at = elementAt(array, isOperand ? pointer : type,
                         isOperand ? operands++ : counts++);
    Value value =
        LLVM::LoadOp::create(b, loc(), isOperand ? pointer : type, at);
    if (isOperand)
      value = LLVM::AddrSpaceCastOp::create(b, loc(), type, value);
    argument.replaceAllUsesWith(value);
  }
  old->eraseArguments(0, old->getNumArguments());
  LLVM::BrOp::create(b, loc(), ValueRange{}, old);
}

LogicalResult KernelRewrite::run(LLVM::LLVMFuncOp kernel) {
  current = kernel;
  b.setInsertionPoint(kernel);
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  {pointer, pointer, pointer, pointer});
  auto function =
      LLVM::LLVMFuncOp::create(b, kernel.getLoc(), kernel.getSymName(), type);
  for (StringRef name :
       {"effc.threads", "effc.shared_bytes", "effc.box_maps", "effc.overlaps"})
    if (Attribute attr = kernel->getAttr(name))
      function->setAttr(name, attr);
  function.getBody().takeBody(kernel.getBody());
  kernel.erase();
  current = function;
  origins.collect(function);
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (op != function)
      ops.push_back(op);
  });
  bindParameters(function);
  for (Operation *op : ops)
    if (failed(rewrite(op)))
      return failure();
  for (Operation *loaded : matrices)
    loaded->erase();
  for (Operation *product : llvm::reverse(begun)) {
    if (!product->use_empty())
      return product->emitError("is read before it has been waited for");
    product->erase();
  }
  return success();
}
