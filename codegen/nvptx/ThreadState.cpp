// What every lowering emits: numbers, addresses, conditions.
#include "codegen/nvptx/ThreadState.h"

#include "codegen/nvptx/ThreadBoxes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;
using namespace effc::stored;
using namespace effc::tile;

namespace effc::nvptx {

static constexpr unsigned kSharedSpace = 3;

ThreadState::ThreadState(KernelOp kernel, Block *entry, StringRef shared,
                         bool overlapsLaunches)
    : kernel(kernel), b(kernel.getLoc(), OpBuilder::atBlockEnd(entry)),
      entry(entry), threads(kernel.getSchedule()->getThreads()),
      mustAwaitLaunches(overlapsLaunches) {
  auto index = [&](Value value) -> Value {
    return arith::IndexCastUIOp::create(b, b.getIndexType(), value);
  };
  thread = index(NVVM::ThreadIdXOp::create(b, b.getI32Type()));
  scalars.map(kernel.getItem(),
              index(NVVM::BlockIdXOp::create(b, b.getI32Type())));
  if (!shared.empty())
    sharedMemory = LLVM::AddressOfOp::create(
        b, LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace), shared);
  for (auto [i, operand] : llvm::enumerate(kernel.getOperandArguments()))
    bases[operand] = entry->getArgument(i);
  SmallVector<BoxMapAttr> maps = boxMapsOf(kernel);
  for (auto [map, address] :
       llvm::zip_equal(maps, entry->getArguments().take_back(maps.size())))
    boxMaps[map] = address;
}

Value ThreadState::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}
Value ThreadState::i32(int64_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}
Value ThreadState::f32(float value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}
Value ThreadState::add(Value x, Value y) {
  return arith::AddIOp::create(b, x, y);
}
Value ThreadState::mul(Value x, int64_t y) {
  return y == 1 ? x : arith::MulIOp::create(b, x, constant(y)).getResult();
}
Value ThreadState::less(Value x, Value y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, y);
}
Value ThreadState::select(Value condition, Value x, Value y) {
  return condition ? arith::SelectOp::create(b, condition, x, y).getResult()
                   : x;
}
void ThreadState::barrier() { NVVM::Barrier0Op::create(b); }

Value ThreadState::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return arith::AndIOp::create(b, x, y);
}

Value ThreadState::further(Value address, Type element, int64_t count) {
  if (count == 0)
    return address;
  if (!llvm::isInt<32>(count))
    return further(address, element, constant(count));
  return LLVM::GEPOp::create(
      b, address.getType(), element, address,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(count)});
}

Value ThreadState::further(Value address, Type element, Value count) {
  bool isShared =
      cast<LLVM::LLVMPointerType>(address.getType()).getAddressSpace() == 3;
  count = arith::IndexCastOp::create(
      b, isShared ? b.getI32Type() : b.getI64Type(), count);
  return LLVM::GEPOp::create(b, address.getType(), element, address,
                             ArrayRef<LLVM::GEPArg>{count});
}

ElementPlace ThreadState::further(const ElementPlace &place, Type element,
                                  int64_t count) {
  if (!place.number)
    return {further(place.address, element, count), {}, 0};
  auto storage = storage::Storage::get(element);
  ElementPlace next = place;
  if (storage.divides(count)) {
    int64_t bytes = count / storage.blockElements() * storage.blockBytes();
    next.address = further(place.address, b.getI8Type(), bytes);
    next.alignment = std::gcd(place.alignment, bytes);
    return next;
  }
  next.number = add(place.number, constant(count));
  next.divisor = std::gcd(place.divisor, count);
  return next;
}

ElementPlace ThreadState::further(const ElementPlace &place, Type element,
                                  Value count) {
  if (!place.number)
    return {further(place.address, element, count), {}, 0};
  ElementPlace next = place;
  next.number = add(place.number, count);
  next.divisor = 1;
  return next;
}

ElementPlace ThreadState::further(const ElementPlace &place, Type element,
                                  Value index, int64_t stride) {
  auto storage = storage::Storage::get(element);
  if (!place.number || !storage.divides(stride))
    return further(place, element, mul(index, stride));
  int64_t bytes = stride / storage.blockElements() * storage.blockBytes();
  ElementPlace next = place;
  next.address = further(place.address, b.getI8Type(), mul(index, bytes));
  next.alignment = std::gcd(place.alignment, bytes);
  return next;
}

void ThreadState::guarded(Value condition, function_ref<void()> body) {
  if (!condition)
    return body();
  auto taken = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(taken.thenBlock());
  body();
}

Elements ThreadState::either(Value condition, size_t count,
                             function_ref<Elements()> yes,
                             function_ref<Elements()> no) {
  auto taken = scf::IfOp::create(b, SmallVector<Type>(count, b.getF32Type()),
                                 condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(taken.thenBlock());
  scf::YieldOp::create(b, yes());
  b.setInsertionPointToStart(taken.elseBlock());
  scf::YieldOp::create(b, no());
  return Elements(taken.getResults());
}

void ThreadState::forEachOf(int64_t count, function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, thread, constant(count), constant(threads));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

} // namespace effc::nvptx
