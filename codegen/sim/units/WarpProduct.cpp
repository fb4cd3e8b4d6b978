// Products of single warps (mma.sync).
#include "codegen/sim/units/Units.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace effc;

namespace effc::sim {

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

static LogicalResult rewrite(NVVM::MmaOp op, RewriteState &s,
                             Fragments &fragments) {
  std::optional<rt::SimMma> type = typeOf(op);
  if (!type)
    return op.emitError(
        "the simulator knows products of tf32, bf16 and f16 only");
  Value a = s.arrayOf(op.getOperandA()), w = s.arrayOf(op.getOperandB()),
        c = s.arrayOf(op.getOperandC());
  Value d = s.reserve(s.b.getF32Type(), 4);
  fragments.passOrigins(op, s);
  s.call(EFFC_SIM_CALL(mma), {},
         {s.i32(static_cast<uint32_t>(*type)), a, w, c, d},
         /*withSite=*/true);
  Value result = LLVM::PoisonOp::create(s.b, op.getType());
  for (int32_t i = 0; i < 4; ++i) {
    Value element = LLVM::LoadOp::create(s.b, s.b.getF32Type(),
                                         s.elementAt(d, s.b.getF32Type(), i));
    result = LLVM::InsertValueOp::create(s.b, result, element, i);
  }
  return replace(op, result);
}

std::optional<ProductRegisters> warpProductRegisters(Operation *op) {
  auto mma = dyn_cast<NVVM::MmaOp>(op);
  if (!mma)
    return std::nullopt;
  return ProductRegisters{mma.getOperandA(), mma.getOperandB(),
                          /*inPairs=*/mma.getMultiplicandAPtxType() !=
                              NVVM::MMATypes::tf32};
}

void addWarpProduct(Rewrites &rewrites, std::shared_ptr<Fragments> fragments) {
  rewrites.add<NVVM::MmaOp>([fragments](auto op, RewriteState &s) {
    return rewrite(op, s, *fragments);
  });
}

} // namespace effc::sim
