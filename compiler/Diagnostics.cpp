// Collecting diagnostics.
#include "compiler/Diagnostics.h"

#include "dialects/seq/Remarks.h"

#include "mlir/IR/Location.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace effc;

// "layers.0.ssd" for a named op, "model.mlir:19:17" for one of a file.
static std::string describe(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto file = dyn_cast<FileLineColLoc>(loc))
    return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
        .str();
  if (auto fused = dyn_cast<FusedLoc>(loc);
      fused && !fused.getLocations().empty())
    return describe(fused.getLocations().front());
  return "";
}

DiagnosticCollector::DiagnosticCollector(MLIRContext &context,
                                         const CompileEvents &events,
                                         bool fallbackIsError)
    : events(events), fallbackIsError(fallbackIsError),
      handler(&context,
              [this](Diagnostic &diagnostic) { return handle(diagnostic); }) {}

LogicalResult DiagnosticCollector::handle(Diagnostic &diagnostic) {
  std::string where = describe(diagnostic.getLocation()),
              text = diagnostic.str();
  bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  if (!isError) {
    events.remark(where, text);
    bool isFallback = StringRef(text).starts_with(seq::kFallbackRemark);
    if (isFallback)
      events.fallback(where, text);
    if (!isFallback || !fallbackIsError)
      return success();
  }
  if (!message.empty())
    return success();
  message = where.empty() ? text : where + ": " + text;
  for (Diagnostic &note : diagnostic.getNotes()) {
    // MLIR appends the whole op; it is long, and --dump-phases shows it better.
    std::string noteText = note.str();
    if (!StringRef(noteText).starts_with("see current operation"))
      message += "\nnote: " + noteText;
  }
  return success();
}

llvm::Error DiagnosticCollector::takeError(StringRef otherwise) {
  return llvm::createStringError(message.empty() ? otherwise.str() : message);
}
