#include "compiler/Register.h"

#include "dialects/seq/Seq.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Transforms/Passes.h"

void effc::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::func::FuncDialect, seq::SeqDialect>();
}

void effc::registerAllPasses() { mlir::registerTransformsPasses(); }
