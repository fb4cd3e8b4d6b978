// Runs effc's passes on MLIR text or bytecode, with the flags of mlir-opt.
#include "compiler/OutOfMemory.h"
#include "compiler/Register.h"
#include "tools/terminal/StandardStreams.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  effc::cli::openStandardStreams();
  effc::endWhenOutOfMemory(/*status=*/1);
  effc::registerAllPasses();
  mlir::DialectRegistry registry;
  effc::registerAllDialects(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "effc-opt: passes of the effc compiler\n", registry));
}
