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
              [this](Diagnostic &diagnostic) { return handle(diagnostic); }) {
  // An op may be printed to far more than the text that it was read from, and
  // --dump-phases shows it better.
  context.printOpOnDiagnostic(false);
}

bool DiagnosticCollector::tell(StringRef where, StringRef text) {
  events.remark(where, text);
  bool isFallback = text.starts_with(seq::kFallbackRemark);
  if (isFallback || text.starts_with(seq::kWarningRemark))
    events.fallback(where, text);
  return isFallback && fallbackIsError;
}

bool DiagnosticCollector::keep(StringRef where, StringRef text) {
  if (!message.empty())
    return false;
  message = (where + (where.empty() ? "" : ": ") + text).str();
  return true;
}

void DiagnosticCollector::remark(StringRef where, StringRef text) {
  if (tell(where, text))
    keep(where, text);
}

LogicalResult DiagnosticCollector::handle(Diagnostic &diagnostic) {
  std::string where = describeLocation(diagnostic.getLocation()),
              text = diagnostic.str();
  bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  if (!isError && !tell(where, text))
    return success();
  if (!keep(where, text))
    return success();
  for (Diagnostic &note : diagnostic.getNotes())
    message += "\nnote: " + note.str();
  return success();
}

llvm::Error DiagnosticCollector::takeError(StringRef otherwise) {
  return llvm::createStringError(message.empty() ? otherwise.str() : message);
}
