// PTX -> cubin, by NVIDIA's assembler.
#include "codegen/TemporaryPlace.h"
#include "codegen/nvptx/Ptx.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace effc::nvptx;

// What `ptxas -v` says of each kernel.
static void readReport(StringRef report, Cubin &cubin) {
  Regex entry("Compiling entry function '([^']+)'"),
      spills("([0-9]+) bytes spill stores, ([0-9]+) bytes spill loads"),
      registers("Used ([0-9]+) registers"), serialised("\\(C751[0-9]\\)"),
      function("function '([^']+)'");
  Cubin::Kernel *kernel = nullptr;
  SmallVector<StringRef> lines, found;
  report.split(lines, '\n');
  for (StringRef line : lines) {
    int64_t number;
    if (serialised.match(line)) {
      cubin.serialised += (line.trim() + "\n").str();
      if (function.match(line, &found))
        cubin.kernels[found[1]].isSerialised = true;
    } else if (entry.match(line, &found))
      kernel = &cubin.kernels[found[1]];
    else if (kernel && spills.match(line, &found) &&
             !found[1].getAsInteger(10, number))
      kernel->spillBytes = number;
    else if (kernel && registers.match(line, &found) &&
             !found[1].getAsInteger(10, number))
      kernel->registers = number;
  }
}

Expected<Cubin> effc::nvptx::assemble(StringRef ptxas, StringRef ptx,
                                      StringRef chip) {
  SmallString<64> source, binary, report;
  int descriptor;
  auto made = [&](const char *suffix, SmallString<64> &path) {
    return sys::fs::createTemporaryFile("effc", suffix, path);
  };
  if (std::error_code code =
          sys::fs::createTemporaryFile("effc", "ptx", descriptor, source))
    return codegen::refuseTemporary("file", code);
  scope_exit remove([&] {
    for (StringRef path : {source.str(), binary.str(), report.str()})
      if (!path.empty())
        sys::fs::remove(path);
  });
  {
    raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << ptx;
    stream.close();
    std::error_code code = stream.error();
    stream.clear_error(); // the stream would end the process over it
    if (code)
      return createStringError("cannot write " + source.str() + ": " +
                               code.message());
  }
  for (auto [suffix, path] :
       {std::pair<const char *, SmallString<64> *>{"cubin", &binary},
        {"log", &report}})
    if (std::error_code code = made(suffix, *path))
      return codegen::refuseTemporary("file", code);
  std::string arch = ("-arch=" + chip).str();
  StringRef arguments[] = {ptxas, arch,         "-v",        "-O3",
                           "-o",  binary.str(), source.str()};
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(report),
                                          StringRef(report)};
  std::string message;
  int status = sys::ExecuteAndWait(ptxas, arguments, std::nullopt, redirects, 0,
                                   0, &message);
  auto said = MemoryBuffer::getFile(report);
  StringRef text = said ? (*said)->getBuffer() : StringRef();
  if (status != 0)
    return createStringError("ptxas cannot assemble the kernels for " + chip +
                             ": " + (message.empty() ? text.trim() : message));
  Cubin cubin;
  readReport(text, cubin);
  auto bytes = MemoryBuffer::getFile(binary, /*IsText=*/false,
                                     /*RequiresNullTerminator=*/false);
  if (!bytes)
    return createStringError("cannot read what ptxas wrote: " +
                             bytes.getError().message());
  StringRef written = (*bytes)->getBuffer();
  if (written.size() < sizeof(ELF::Elf64_Ehdr) ||
      !written.starts_with(ELF::ElfMagic))
    return createStringError(
        "ptxas says that it has assembled the kernels for " + chip +
        ", but wrote " + Twine(written.size()) + " bytes that are no ELF file" +
        (text.trim().empty() ? "" : ": " + text.trim()));
  cubin.bytes.assign(written.bytes_begin(), written.bytes_end());
  return cubin;
}
