#include "frontend/ModuleText.h"

#include "dialects/seq/Seq.h"
#include "frontend/TextBounds.h"
#include "frontend/TextMistakes.h"
#include "frontend/checkpoint/MappedFile.h"
#include "frontend/checkpoint/Refusal.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace effc;
using namespace effc::frontend;

static std::string describe(mlir::Location location) {
  auto at = llvm::dyn_cast<mlir::FileLineColLoc>(location);
  if (!at)
    return "";
  return (at.getFilename().getValue() + ":" + llvm::Twine(at.getLine()) + ":" +
          llvm::Twine(at.getColumn()) + ": ")
      .str();
}

// The text from a location on.
static llvm::StringRef textAt(mlir::Location location, llvm::StringRef text) {
  auto at = llvm::dyn_cast<mlir::FileLineColLoc>(location);
  if (!at || at.getLine() == 0 || at.getColumn() == 0)
    return "";
  for (unsigned line = 1; line < at.getLine(); ++line)
    text = text.split('\n').second;
  return text.drop_front(std::min<size_t>(at.getColumn() - 1, text.size()));
}

// Where a note stands, unless it is on the line of what it is a note of.
static std::string lineOf(mlir::Location location, mlir::Location of) {
  auto at = llvm::dyn_cast<mlir::FileLineColLoc>(location);
  auto main = llvm::dyn_cast<mlir::FileLineColLoc>(of);
  if (!at || !main || at.getLine() == main.getLine())
    return "";
  return ", line " + std::to_string(at.getLine());
}

static std::string describe(mlir::Diagnostic &diagnostic,
                            llvm::StringRef whole) {
  std::string text = diagnostic.str();
  text = text.substr(0, text.find('\n'));
  mlir::Location location = diagnostic.getLocation();
  text = describe(location) +
         explainMistake(text, textAt(location, whole), *location.getContext());
  // Notes say what probably led to it. MLIR appends the dialects that it knows.
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    std::string cause = note.str();
    if (!llvm::StringRef(cause).starts_with("Available dialects") &&
        !llvm::StringRef(cause).starts_with("Registered dialects"))
      text += " (" + cause + lineOf(note.getLocation(), location) + ")";
  }
  return text;
}

// Nothing is called, nothing branches, and what is no part of the model would
// be dropped.
static llvm::Error checkParts(mlir::ModuleOp module) {
  auto name = [](mlir::Operation &op) {
    std::string text =
        describe(op.getLoc()) + quote(op.getName().getStringRef());
    if (auto symbol = op.getAttrOfType<mlir::StringAttr>(
            mlir::SymbolTable::getSymbolAttrName()))
      text += " " + quote(symbol);
    return text;
  };
  size_t weights = 0;
  for (mlir::Operation &part : *module.getBody()) {
    auto function = llvm::dyn_cast<mlir::func::FuncOp>(part);
    if (function ? function.getSymName() != "forward"
                 : !llvm::isa<seq::WeightOp>(part))
      return refuse(name(part) + " is no part of a model: expects weights and "
                                 "one function, '@forward'");
    if (!function && ++weights > kMostWeights)
      return refuse(name(part) + " is one too many: expects at most " +
                    llvm::Twine(kMostWeights) + " weights");
    if (!function)
      continue;
    if (!function.getBody().hasOneBlock())
      return refuse(name(part) + " expects one block, but got " +
                    llvm::Twine(function.getBody().getBlocks().size()));
    size_t ops = function.getBody().front().getOperations().size();
    if (ops > kMostOps)
      return refuse(name(part) + " expects at most " + llvm::Twine(kMostOps) +
                    " ops, but got " + llvm::Twine(ops));
    for (mlir::Operation &op : function.getBody().front().without_terminator())
      if (!llvm::isa<seq::SeqDialect>(op.getDialect()))
        return refuse(name(op) + " is no part of a model: expects ops of the "
                                 "'seq' dialect");
  }
  return llvm::Error::success();
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
frontend::readModuleText(mlir::MLIRContext &context, llvm::StringRef path) {
  // The mapping refuses what is no file; the parser wants a copy that ends in
  // 0.
  auto file = MappedFile::open(path, llvm::sys::path::filename(path));
  if (!file)
    return file.takeError();
  auto bytes = (*file)->view(0, (*file)->size());
  if (!bytes)
    return bytes.takeError();
  auto copy =
      llvm::MemoryBuffer::getMemBufferCopy(llvm::toStringRef(*bytes), path);
  if (llvm::Error error = (*file)->checkUnchanged())
    return error;
  if (mlir::isBytecode(*copy))
    return refuse(quote(path) + ": expects IR text, but got bytecode");
  llvm::StringRef text = copy->getBuffer();
  if (auto excess = findTextExcess(text, TextBounds())) {
    llvm::StringRef before = text.take_front(excess->at);
    return refuse(path.str() + ":" + std::to_string(before.count('\n') + 1) +
                  ":" + std::to_string(excess->at - before.rfind('\n')) + ": " +
                  excess->reason);
  }
  std::string reason;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error &&
            reason.empty())
          reason = describe(diagnostic, text);
        return mlir::success();
      });
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(copy), llvm::SMLoc());
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(
      sources, mlir::ParserConfig(&context));
  if (!module)
    return refuse(reason.empty() ? "cannot read " + quote(path) : reason);
  if (llvm::Error error = checkParts(*module))
    return error;
  return module;
}
