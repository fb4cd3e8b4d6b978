// What units, launches and boxes have no op for in NVVM -> inline assembly.
#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/units/Units.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace effc::nvptx {
#define GEN_PASS_DEF_WRITEASSEMBLYPASS
#include "codegen/nvptx/Passes.h.inc"

/// Replaces an op without results by assembly that nothing which touches memory
/// passes.
static void writeWait(Operation *wait, StringRef text, ValueRange inputs,
                      StringRef kinds) {
  OpBuilder b(wait);
  LLVM::InlineAsmOp::create(
      b, wait->getLoc(), LLVM::LLVMVoidType::get(b.getContext()), inputs, text,
      (kinds + "~{memory}").str(), /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      /*asm_dialect=*/LLVM::AsmDialectAttr(), /*operand_attrs=*/ArrayAttr());
  wait->erase();
}

// Lanes of a warp may see the phase end at different times.
static constexpr StringLiteral kWaitForPhase =
    "{\n\t.reg .pred over;\nagain:\n\t"
    "mbarrier.try_wait.parity.shared.b64 over, [$0], $1, $2;\n\t"
    "@over bra done;\n\tbra again;\ndone:\n\t}";

namespace {
struct WriteAssemblyPass : impl::WriteAssemblyPassBase<WriteAssemblyPass> {
  using WriteAssemblyPassBase::WriteAssemblyPassBase;

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (writeUnitAssembly(op))
        return;
      if (auto control = dyn_cast<NVVM::GriddepcontrolOp>(op);
          control && control.getKind() == NVVM::GridDepActionKind::wait)
        writeWait(control, "griddepcontrol.wait;", {}, "");
      else if (auto phase = dyn_cast<NVVM::MBarrierTryWaitParityOp>(op))
        writeWait(phase, kWaitForPhase, phase->getOperands(), "l,r,r,");
    });
  }
};
} // namespace
} // namespace effc::nvptx
