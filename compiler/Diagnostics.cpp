// Collecting diagnostics.
#include "compiler/Diagnostics.h"

#include "compiler/Locations.h"
#include "dialects/seq/Remarks.h"

#include "mlir/IR/Location.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace effc;

DiagnosticCollector::DiagnosticCollector(MLIRContext &context,
                                         const CompileEvents &events,
                                         bool fallbackIsError)
    : events(events), fallbackIsError(fallbackIsError),
      handler(&context,
              [this](Diagnostic &diagnostic) { return handle(diagnostic); }) {}

LogicalResult DiagnosticCollector::handle(Diagnostic &diagnostic) {
  std::string where = describeLocation(diagnostic.getLocation()),
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
