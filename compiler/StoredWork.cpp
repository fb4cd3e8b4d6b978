// The published FLOPs of a stored model.
#include "compiler/StoredModel.h"

#include "compiler/Register.h"
#include "dialects/seq/Seq.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace effc;

llvm::Expected<seq::PublishedWork>
effc::countPublishedWork(const StoredModel &model,
                         const seq::PublishedSettings &settings) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false); // it may be longer than the module
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(model.seqBytecode, &context);
  auto function =
      module ? module->lookupSymbol<func::FuncOp>("forward") : func::FuncOp();
  if (!function)
    return llvm::createStringError("the stored seq module has no '@forward'");
  return seq::countPublishedWork(function, settings);
}
