// The language server for effc's dialects.
#include "compiler/Register.h"
#include "tools/terminal/StandardStreams.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  effc::cli::openStandardStreams();
  mlir::DialectRegistry registry;
  effc::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
