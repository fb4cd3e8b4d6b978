// From a module of GPU kernels to PTX and cubins.
#ifndef EFFC_CODEGEN_NVPTX_PTX_H
#define EFFC_CODEGEN_NVPTX_PTX_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace effc::nvptx {

/// How loops compute the addresses they read and write.
enum class Addresses {
  /// By pointers that are stepped (LLVM's loop strength reduction): fewer
  /// instructions, and a register or two for each pointer.
  Stepped,
  /// From the loop's counter, every time.
  Computed
};

/// What LLVM makes code for.
struct Chip {
  std::string name;     ///< as `ptxas` has it: "sm_80"
  std::string features; ///< LLVM's, "+ptx80"; empty: the chip's own
};

/// The chip that the module's target names. Where there is none, an error on the
/// module says so.
mlir::FailureOr<Chip> findChip(mlir::ModuleOp module);

/// The PTX of every function with `nvvm.kernel`, for `chip`. The module is left as
/// it is.
llvm::Expected<std::string> emitPtx(mlir::ModuleOp module, const Chip &chip,
                                    Addresses addresses = Addresses::Stepped);

/// What `ptxas` makes of PTX.
struct Cubin {
  struct Kernel {
    int64_t registers = 0, spillBytes = 0;
    /// Whether products of its warp groups wait where nobody asked for it.
    bool isSerialised = false;
  };
  std::vector<uint8_t> bytes;
  llvm::StringMap<Kernel> kernels;
  /// The lines in which `ptxas` says that it serialised products of warp
  /// groups, or put a wait or a fence of its own between them (C7510 to C7519);
  /// empty where it did not.
  std::string serialised;
};

/// The path of `ptxas`: of $CUDA_HOME, on the PATH, where the toolkit is
/// usually installed, or of a wheel (`findPtxasOfWheel`); absent where there is
/// none.
std::optional<std::string> findPtxas();

/// That of the wheel nvidia-cuda-nvcc (or nvidia-cuda-nvcc-cu12) which the
/// `python3` on the PATH sees; absent where there is none.
std::optional<std::string> findPtxasOfWheel();

/// The version of a `ptxas`, "13.0.88"; absent where it does not say.
std::optional<std::string> versionOfPtxas(llvm::StringRef ptxas);

/// Assembles PTX. Fails with what `ptxas` says.
llvm::Expected<Cubin> assemble(llvm::StringRef ptxas, llvm::StringRef ptx,
                               llvm::StringRef chip);

} // namespace effc::nvptx

#endif // EFFC_CODEGEN_NVPTX_PTX_H
