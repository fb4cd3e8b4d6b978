// nvvm.kernel functions -> a file of PTX.
#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/Ptx.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace effc::nvptx {
#define GEN_PASS_DEF_EMITPTXPASS
#include "codegen/nvptx/Passes.h.inc"

namespace {
struct EmitPtxPass : impl::EmitPtxPassBase<EmitPtxPass> {
  using EmitPtxPassBase::EmitPtxPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    EmitPtxPassBase::getDependentDialects(registry);
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerNVVMDialectTranslation(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Chip> chip = findChip(module);
    if (failed(chip))
      return signalPassFailure();
    llvm::Expected<std::string> ptx =
        emitPtx(module, *chip,
                computedAddresses ? Addresses::Computed : Addresses::Stepped);
    if (!ptx) {
      module.emitError(llvm::toString(ptx.takeError()));
      return signalPassFailure();
    }
    std::error_code code;
    llvm::raw_fd_ostream stream(output, code);
    if (!code)
      stream << *ptx;
    stream.flush();
    if (code || stream.has_error()) {
      module.emitError("cannot write " + output + ": " +
                       (code ? code : stream.error()).message());
      stream.clear_error();
      return signalPassFailure();
    }
  }
};
} // namespace
} // namespace effc::nvptx
