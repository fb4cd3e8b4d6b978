#include "frontend/ModuleText.h"

#include "frontend/checkpoint/MappedFile.h"
#include "frontend/checkpoint/Refusal.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace effc;
using namespace effc::frontend;

// The position behind the string or the comment that begins at `position`, or
// `position` itself.
static size_t skipText(llvm::StringRef text, size_t position) {
  if (text.substr(position).starts_with("//"))
    return std::min(text.find('\n', position), text.size());
  if (text[position] != '"')
    return position;
  for (++position; position < text.size() && text[position] != '"'; ++position)
    if (text[position] == '\\')
      ++position;
  return std::min(position + 1, text.size());
}

std::optional<size_t> frontend::findNestedText(llvm::StringRef text,
                                               unsigned most) {
  size_t open = 0, signs = 0;
  for (size_t i = 0; i < text.size();) {
    if (size_t next = skipText(text, i); next > i) {
      i = next;
      signs = 0;
      continue;
    }
    // "->" and ">=" close nothing, "<=" opens nothing.
    llvm::StringRef pair = text.substr(i, 2);
    if (pair == "->" || pair == ">=" || pair == "<=") {
      i += 2;
      signs = 0;
      continue;
    }
    char c = text[i];
    if (llvm::StringRef("([{<").contains(c))
      ++open;
    else if (llvm::StringRef(")]}>").contains(c) && open > 0)
      --open;
    if (c == '-')
      ++signs;
    else if (!llvm::isSpace(c))
      signs = 0;
    if (open + signs > most)
      return i;
    ++i;
  }
  return std::nullopt;
}

static std::string describe(mlir::Diagnostic &diagnostic) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (auto at = llvm::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation()))
    out << at.getFilename().getValue() << ":" << at.getLine() << ":"
        << at.getColumn() << ": ";
  out << diagnostic;
  text = text.substr(0, text.find('\n'));
  // Notes say what probably led to it. MLIR appends the whole op, which is
  // long and stands in the file.
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    if (std::string cause = note.str();
        !llvm::StringRef(cause).starts_with("see current operation"))
      text += " (" + cause + ")";
  return text;
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
  if (auto deep = findNestedText(text, kMostTextLevels)) {
    llvm::StringRef before = text.take_front(*deep);
    return refuse(path.str() + ":" + std::to_string(before.count('\n') + 1) +
                  ":" + std::to_string(*deep - before.rfind('\n')) +
                  ": expects at most " + std::to_string(kMostTextLevels) +
                  " levels of brackets or signs, but got more");
  }
  std::string reason;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error &&
            reason.empty())
          reason = describe(diagnostic);
        return mlir::success();
      });
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(copy), llvm::SMLoc());
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(
      sources, mlir::ParserConfig(&context));
  if (!module)
    return refuse(reason.empty() ? "cannot read " + quote(path) : reason);
  return module;
}
