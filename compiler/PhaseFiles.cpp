#include "compiler/PhaseFiles.h"

#include "compiler/Compiler.h"
#include "dialects/tile/Tile.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace effc;
using llvm::createStringError;

std::string effc::phaseFile(StringRef folder, const CompileOptions &options,
                            const Target &target, Phase phase) {
  SmallString<128> path(folder);
  if (targetsWithPlans(options.targets).size() > 1)
    llvm::sys::path::append(path, target.name);
  llvm::sys::path::append(path, getPhaseInfo(phase).dumpFile);
  return std::string(path);
}

llvm::Error effc::writePhaseFile(ModuleOp module, Phase phase, StringRef path) {
  StringRef folder = llvm::sys::path::parent_path(path);
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return createStringError("cannot make folder " + folder + ": " +
                             code.message());
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (!code)
    module->print(stream,
                  OpPrintingFlags().enableDebugInfo(phase == Phase::Import));
  stream.close();
  if (!code)
    code = stream.error();
  stream.clear_error(); // the stream would end the process over it
  if (code)
    return createStringError("cannot write " + path + ": " + code.message());
  return llvm::Error::success();
}

static std::string textOf(Attribute attr) {
  std::string text;
  llvm::raw_string_ostream(text) << attr;
  return text;
}

llvm::Expected<OwningOpRef<ModuleOp>> effc::readPhaseFile(StringRef path,
                                                          Attribute expected) {
  if (!llvm::sys::fs::exists(path))
    return createStringError(
        "there is no " + path +
        ": --dump-phases, with the same targets, writes it");
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(path, expected.getContext());
  if (!module)
    return createStringError("the module of a phase cannot be read");
  Attribute found = (*module)->getAttr(tile::kTargetAttr);
  if (found != expected)
    return createStringError(
        path + " was made for another target or by other options: expects " +
        textOf(expected) + ", but got " +
        (found ? textOf(found) : std::string("none")));
  return module;
}
