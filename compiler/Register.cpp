#include "compiler/Register.h"

#include "compiler/Pipelines.h"

#include "codegen/host/Passes.h"
#include "codegen/image/Passes.h"
#include "codegen/math/Passes.h"
#include "codegen/nvptx/Passes.h"
#include "codegen/sim/Passes.h"
#include "dialects/plan/Plan.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/StorageDialect.h"
#include "dialects/tile/Tile.h"
#include "passes/plan/Passes.h"
#include "passes/seq/Passes.h"
#include "passes/seq_to_tile/Passes.h"
#include "passes/tile/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Transforms/Passes.h"

void effc::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<storage::StorageDialect, seq::SeqDialect, tile::TileDialect,
                  plan::PlanDialect>();
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect,
                  mlir::NVVM::NVVMDialect, mlir::scf::SCFDialect,
                  mlir::vector::VectorDialect>();
}

void effc::registerAllPasses() {
  mlir::registerTransformsPasses();
  mlir::registerConversionPasses();
  registerEffcSeqPasses();
  registerEffcSeqToTilePasses();
  registerEffcTilePasses();
  registerEffcPlanPasses();
  f32::registerEffcMathPasses();
  host::registerEffcHostPasses();
  image::registerEffcImagePasses();
  nvptx::registerEffcNvptxPasses();
  sim::registerEffcSimPasses();
  registerPipelines();
}
