// Where NVIDIA's assembler is, and which one.
#include "codegen/nvptx/Ptx.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

static constexpr StringLiteral kName = "ptxas";
/// For a program that hangs.
static constexpr unsigned kMostSeconds = 10;

static std::optional<std::string> findIn(ArrayRef<StringRef> folders) {
  ErrorOr<std::string> path = sys::findProgramByName(kName, folders);
  return path ? std::optional(*path) : std::nullopt;
}

// What a program prints, or nothing where it fails.
static std::string outputOf(StringRef program, ArrayRef<StringRef> arguments) {
  SmallString<64> output;
  if (sys::fs::createTemporaryFile("effc", "txt", output))
    return "";
  scope_exit remove([&] { sys::fs::remove(output); });
  std::optional<StringRef> redirects[] = {StringRef(), output.str(),
                                          StringRef()};
  SmallVector<StringRef> all = {program};
  append_range(all, arguments);
  if (sys::ExecuteAndWait(program, all, std::nullopt, redirects,
                          kMostSeconds) != 0)
    return "";
  auto text = MemoryBuffer::getFile(output, /*IsText=*/true);
  return text ? (*text)->getBuffer().str() : "";
}

// The wheels have it in nvidia/cu13/bin and in nvidia/cuda_nvcc/bin; Python
// knows where packages are, of a virtual environment or of a user.
std::optional<std::string> effc::nvptx::findPtxasOfWheel() {
  ErrorOr<std::string> python = sys::findProgramByName("python3");
  if (!python)
    return std::nullopt;
  std::string paths =
      outputOf(*python, {"-c", "import sys; print(*sys.path, sep='\\n')"});
  SmallVector<StringRef> folders;
  StringRef(paths).split(folders, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef folder : folders) {
    SmallString<128> packages(folder);
    sys::path::append(packages, "nvidia");
    std::error_code error;
    std::vector<std::string> parts;
    for (sys::fs::directory_iterator at(packages, error), end;
         at != end && !error; at.increment(error))
      parts.push_back(at->path() + "/bin");
    llvm::sort(parts); // not in the file system's order
    for (StringRef part : parts)
      if (auto path = findIn({part}))
        return path;
  }
  return std::nullopt;
}

std::optional<std::string> effc::nvptx::findPtxas() {
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (std::optional<std::string> home = sys::Process::GetEnv(variable))
      if (auto path = findIn({*home + "/bin"}))
        return path;
  if (auto path = findIn({}))
    return path;
  if (auto path = findIn({"/usr/local/cuda/bin"}))
    return path;
  return findPtxasOfWheel();
}

// "Cuda compilation tools, release 13.0, V13.0.88" is a line of it.
std::optional<std::string> effc::nvptx::versionOfPtxas(StringRef ptxas) {
  SmallVector<StringRef> found;
  std::string text = outputOf(ptxas, {"--version"});
  if (!Regex(", V([0-9]+(\\.[0-9]+)*)").match(text, &found))
    return std::nullopt;
  return found[1].str();
}
