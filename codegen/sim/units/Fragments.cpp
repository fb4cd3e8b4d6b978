#include "codegen/sim/units/Fragments.h"

#include "codegen/sim/units/Units.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace effc;

namespace effc::sim {

/// Elements in a register of a fragment, at most.
static constexpr size_t kRegisterElements = 2;

Fragments::Fragments(LLVM::LLVMFuncOp function) {
  origins.collect(function, productRegisters);
}

LogicalResult Fragments::load(NVVM::LdMatrixOp op, RewriteState &s) {
  if (op.getEltType() != NVVM::LdStMatrixEltType::B16)
    return op.emitError("the simulator loads matrices of 16-bit elements only");
  Type word = s.b.getI32Type();
  int32_t count = static_cast<int32_t>(op.getNum());
  Value out = s.reserve(word, count);
  SmallVector<Value> arguments = {s.plain(op.getPtr()), s.i32(count),
                                  s.i32(op.getLayout() == NVVM::MMALayout::col),
                                  out};
  if (origins.contains(op)) {
    Value from = s.reserve(s.pointer, count * kRegisterElements);
    matrixOrigins[op] = from;
    arguments.push_back(from);
    s.call(EFFC_SIM_CALL(loadMatrixFrom), {}, arguments, /*withSite=*/true);
  } else {
    s.call(EFFC_SIM_CALL(loadMatrix), {}, arguments, /*withSite=*/true);
  }
  auto load = [&](int32_t i) -> Value {
    return LLVM::LoadOp::create(s.b, word, s.elementAt(out, word, i));
  };
  Value result = count == 1
                     ? load(0)
                     : LLVM::PoisonOp::create(s.b, op.getType()).getResult();
  for (int32_t i = 0; count > 1 && i < count; ++i)
    result = LLVM::InsertValueOp::create(s.b, result, load(i), i);
  op.getResult().replaceAllUsesWith(result);
  matrices.push_back(op);
  return success();
}

void Fragments::passOrigins(Operation *product, RewriteState &s) {
  ArrayRef<ElementOrigin> elements = origins.of(product);
  if (elements.empty())
    return;
  constexpr int64_t kMost = 12;
  if (!passedOrigins)
    passedOrigins = s.reserve(s.pointer, kMost);
  Value none = LLVM::ZeroOp::create(s.b, s.pointer);
  for (auto [i, origin] : llvm::enumerate(elements)) {
    Value address = none;
    auto number = static_cast<int32_t>(origin.element);
    if (auto load = dyn_cast_or_null<LLVM::LoadOp>(origin.from))
      address = s.elementAt(s.plain(load.getAddr()),
                            getElementTypeOrSelf(load.getType()), number);
    else if (origin.from)
      address = LLVM::LoadOp::create(
          s.b, s.pointer,
          s.elementAt(matrixOrigins.lookup(origin.from), s.pointer, number));
    LLVM::StoreOp::create(
        s.b, address,
        s.elementAt(passedOrigins, s.pointer, static_cast<int32_t>(i)));
  }
  s.call(EFFC_SIM_CALL(passOrigins), {},
         {passedOrigins, s.i32(elements.size())},
         /*withSite=*/false);
}

void Fragments::eraseLoads() {
  for (Operation *loaded : matrices)
    loaded->erase();
}

void addFragments(Rewrites &rewrites, std::shared_ptr<Fragments> fragments) {
  rewrites.add<NVVM::LdMatrixOp>(
      [fragments](auto op, RewriteState &s) { return fragments->load(op, s); });
  rewrites.addEnd([fragments] {
    fragments->eraseLoads();
    return success();
  });
}

} // namespace effc::sim
