#include "tools/effc-verify/SeqModule.h"

#include "compiler/OutOfMemory.h"
#include "compiler/Register.h"
#include "tools/terminal/Failure.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/xxhash.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace effc;
using namespace effc::verify;
using cli::Failure;

// Of the child that reads a module. The largest of today's models has some
// hundred kilobytes of bytecode, which are read in less than a second and some
// ten megabytes.
static constexpr rlim_t kMostSeconds = 10;
static constexpr rlim_t kMoreMemory = rlim_t(1) << 30;

/// What bytecode begins with (mlir/Bytecode/Encoding.h).
static constexpr std::string_view kMagic = "ML\xefR";

/// The child's exit statuses.
enum : int { kReads = 0, kIsWrong = 3, kNeedsMore = 4 };

/// Bytes of addresses that the process has: of a mapped model many.
static rlim_t addressesInUse() {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

[[noreturn]] static void readInChild(const std::string &bytecode) {
  struct rlimit seconds = {kMostSeconds, kMostSeconds}, core = {0, 0},
                memory = {addressesInUse() + kMoreMemory,
                          addressesInUse() + kMoreMemory};
  setrlimit(RLIMIT_CPU, &seconds);
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CORE, &core);
  // What ends it is not to be reported here: the parent says it in a line.
  for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE})
    std::signal(signal, SIG_DFL);
  close(STDERR_FILENO);
  endWhenOutOfMemory(kNeedsMore);
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  context.loadAllAvailableDialects();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(bytecode, &context);
  _exit(module ? kReads : kIsWrong);
}

void effc::verify::requireReadable(const std::string &bytecode) {
  pid_t child = fork();
  if (child < 0)
    throw Failure(std::string("cannot start a process that reads the file's "
                              "seq module: ") +
                  std::strerror(errno));
  if (child == 0)
    readInChild(bytecode);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kReads)
    return;
  std::string reason = "it is not one that this compiler takes";
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNeedsMore)
    reason = "reading it takes more than " + std::to_string(kMoreMemory >> 20) +
             " MiB of memory";
  if (WIFSIGNALED(status))
    reason = std::string("reading it ended by '") +
             strsignal(WTERMSIG(status)) + "'";
  throw Failure("the file's seq module is damaged: " + reason);
}

/// The number in a checksum's 16 digits.
static uint64_t checksumIn(const nlohmann::json &digits) {
  return std::strtoull(digits.get<std::string>().c_str(), nullptr, 16);
}

std::string effc::verify::readSeqModule(const Model &model) {
  auto description = nlohmann::json::parse(model.describe());
  std::string bytecode;
  std::vector<effc_segment_info_t> segments = model.segments();
  for (size_t i = 0; i < segments.size(); ++i) {
    if (std::strcmp(segments[i].kind, "seq_module") != 0)
      continue;
    bytecode.assign(reinterpret_cast<const char *>(segments[i].data),
                    segments[i].bytes);
    uint64_t expected = checksumIn(description["segments"][i]["checksum"]);
    uint64_t found = llvm::xxh3_64bits(llvm::arrayRefFromStringRef(bytecode));
    if (found != expected)
      throw Failure("the file's seq module is damaged: its checksum is " +
                    llvm::utohexstr(found, /*LowerCase=*/true) +
                    ", but the file says " +
                    llvm::utohexstr(expected, /*LowerCase=*/true));
  }
  if (bytecode.empty())
    return bytecode;
  if (!bytecode.starts_with(kMagic))
    throw Failure("the file's seq module is no MLIR bytecode");
  std::string llvm = "an LLVM that it does not name";
  if (auto from = description.find("provenance"); from != description.end())
    llvm = "LLVM " + (*from)["llvm"].get<std::string>();
  if (llvm != "LLVM " LLVM_VERSION_STRING)
    throw Failure("the file's seq module was written by " + llvm +
                  ", but this program reads that of LLVM " LLVM_VERSION_STRING
                  " alone: compile the model again, or use the effc that made "
                  "the file");
  requireReadable(bytecode);
  return bytecode;
}
