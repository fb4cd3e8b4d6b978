// Products of warps and of warp groups, and the loads of their fragments.
#include "codegen/sim/KernelRewrite.h"

using namespace mlir;
using namespace effc;
using namespace effc::sim;

/// Elements in a register of a fragment, at most.
static constexpr size_t kRegisterElements = 2;

// The values in memory, one after another.
Value KernelRewrite::arrayOf(ValueRange values) {
  Type element = values[0].getType();
  Value array = reserve(element, values.size());
  for (auto [i, value] : llvm::enumerate(values))
    LLVM::StoreOp::create(b, loc(), value, elementAt(array, element, i));
  return array;
}

LogicalResult KernelRewrite::rewriteOp(NVVM::LdMatrixOp op) {
  if (op.getEltType() != NVVM::LdStMatrixEltType::B16)
    return op.emitError("the simulator loads matrices of 16-bit elements only");
  Type word = b.getI32Type();
  int32_t count = static_cast<int32_t>(op.getNum());
  Value out = reserve(word, count);
  SmallVector<Value> arguments = {plain(op.getPtr()), i32(count),
                                  i32(op.getLayout() == NVVM::MMALayout::col),
                                  out};
  if (origins.contains(op)) {
    Value from = reserve(pointer, count * kRegisterElements);
    matrixOrigins[op] = from;
    arguments.push_back(from);
    call(EFFC_SIM_CALL(loadMatrixFrom), {}, arguments, /*withSite=*/true);
  } else {
    call(EFFC_SIM_CALL(loadMatrix), {}, arguments, /*withSite=*/true);
  }
  auto load = [&](int32_t i) -> Value {
    return LLVM::LoadOp::create(b, loc(), word, elementAt(out, word, i));
  };
  Value result =
      count == 1 ? load(0)
                 : LLVM::PoisonOp::create(b, loc(), op.getType()).getResult();
  for (int32_t i = 0; count > 1 && i < count; ++i)
    result = LLVM::InsertValueOp::create(b, loc(), result, load(i), i);
  op.getResult().replaceAllUsesWith(result);
  matrices.push_back(op);
  return success();
}

// Tells where the elements of A and B lie, before the product that `product`
// is. The array is read by the time that the product's call returns.
void KernelRewrite::passOrigins(Operation *product) {
  ArrayRef<ElementOrigin> elements = origins.of(product);
  if (elements.empty())
    return;
  constexpr int64_t kMost = 12;
  if (!passedOrigins)
    passedOrigins = reserve(pointer, kMost);
  Value none = LLVM::ZeroOp::create(b, loc(), pointer);
  for (auto [i, origin] : llvm::enumerate(elements)) {
    Value address = none;
    auto number = static_cast<int32_t>(origin.element);
    if (auto load = dyn_cast_or_null<LLVM::LoadOp>(origin.from))
      address = elementAt(plain(load.getAddr()),
                          getElementTypeOrSelf(load.getType()), number);
    else if (origin.from)
      address = LLVM::LoadOp::create(
          b, loc(), pointer,
          elementAt(matrixOrigins.lookup(origin.from), pointer, number));
    LLVM::StoreOp::create(
        b, loc(), address,
        elementAt(passedOrigins, pointer, static_cast<int32_t>(i)));
  }
  call(EFFC_SIM_CALL(passOrigins), {}, {passedOrigins, i32(elements.size())},
       /*withSite=*/false);
}

static std::optional<rt::SimMma> typeOf(NVVM::MmaOp op) {
  if (!op.getMultiplicandAPtxType())
    return std::nullopt;
  switch (*op.getMultiplicandAPtxType()) {
  case NVVM::MMATypes::tf32:
    return rt::SimMma::M16N8K8Tf32;
  case NVVM::MMATypes::bf16:
    return rt::SimMma::M16N8K16Bf16;
  case NVVM::MMATypes::f16:
    return rt::SimMma::M16N8K16F16;
  default:
    return std::nullopt;
  }
}

LogicalResult KernelRewrite::rewriteOp(NVVM::MmaOp op) {
  std::optional<rt::SimMma> type = typeOf(op);
  if (!type)
    return op.emitError(
        "the simulator knows products of tf32, bf16 and f16 only");
  Value a = arrayOf(op.getOperandA()), w = arrayOf(op.getOperandB()),
        c = arrayOf(op.getOperandC());
  Value d = reserve(b.getF32Type(), 4);
  passOrigins(op);
  call(EFFC_SIM_CALL(mma), {}, {i32(static_cast<uint32_t>(*type)), a, w, c, d},
       /*withSite=*/true);
  Value result = LLVM::PoisonOp::create(b, loc(), op.getType());
  for (int32_t i = 0; i < 4; ++i) {
    Value element = LLVM::LoadOp::create(b, loc(), b.getF32Type(),
                                         elementAt(d, b.getF32Type(), i));
    result = LLVM::InsertValueOp::create(b, loc(), result, element, i);
  }
  return replace(op, result);
}

//===----------------------------------------------------------------------===//
// Warp groups
//===----------------------------------------------------------------------===//

// The array that `op` adds to: a chain of products has one, which the simulator
// changes when they are waited for. Null where `op` adds to a part of a chain.
Value KernelRewrite::sumsOf(tile::WarpGroupDotOp op) {
  if (op.getAcc().empty()) {
    Value zero = LLVM::ConstantOp::create(b, loc(), b.getF32Type(),
                                          b.getF32FloatAttr(0));
    return arrayOf(SmallVector<Value>(op.getSums().size(), zero));
  }
  Value sums = underWay.lookup(op.getAcc()[0]).first;
  bool isChain = llvm::all_of(llvm::enumerate(op.getAcc()), [&](auto item) {
    auto [array, number] = underWay.lookup(item.value());
    return array == sums && (!sums || number == item.index());
  });
  if (!isChain)
    return {};
  return sums ? sums : arrayOf(op.getAcc());
}

LogicalResult KernelRewrite::rewriteOp(tile::WarpGroupDotOp op) {
  Value sums = sumsOf(op);
  if (!sums)
    return op.emitError("the simulator adds to sums that are under way only "
                        "all together");
  for (auto [i, sum] : llvm::enumerate(op.getSums()))
    underWay[sum] = {sums, i};
  rt::SimMma type = op.getElement().isF16() ? rt::SimMma::M16N8K16F16
                                            : rt::SimMma::M16N8K16Bf16;
  uint32_t how =
      static_cast<uint32_t>(type) | (op.getAcross() ? rt::kSimAcross : 0);
  Value a = arrayOf(op.getA());
  passOrigins(op);
  call(EFFC_SIM_CALL(multiplyGroup), {},
       {i32(how), i32(op.getSums().size()), a, op.getB(), sums},
       /*withSite=*/true);
  begun.push_back(op);
  return success();
}

LogicalResult KernelRewrite::rewriteOp(tile::WarpGroupWaitOp op) {
  call(EFFC_SIM_CALL(waitProducts), {}, {}, /*withSite=*/true);
  for (auto [pending, sum] : llvm::zip_equal(op.getPending(), op.getSums())) {
    auto [array, number] = underWay.lookup(pending);
    if (!array)
      return op.emitError("the simulator waits for sums that are under way, "
                          "in the block that began them");
    sum.replaceAllUsesWith(LLVM::LoadOp::create(
        b, loc(), b.getF32Type(), elementAt(array, b.getF32Type(), number)));
  }
  return erase(op);
}

// Registers are values here.
LogicalResult KernelRewrite::rewriteOp(tile::WarpGroupFenceOp op) {
  op->replaceAllUsesWith(op->getOperands());
  return erase(op);
}

LogicalResult KernelRewrite::rewriteOp(NVVM::WgmmaGroupSyncAlignedOp op) {
  call(EFFC_SIM_CALL(commitProducts), {}, {}, /*withSite=*/true);
  return erase(op);
}
