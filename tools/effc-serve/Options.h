//===- Options.h - The command line of effc serve -------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_OPTIONS_H
#define EFFC_TOOLS_EFFC_SERVE_OPTIONS_H

#include "tools/effc-serve/Service.h"
#include "tools/effc-serve/engine/ServedModel.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace effc::serve {

/// What was typed.
struct Options {
  std::vector<std::string> files, names;
  ModelSettings model;
  ServiceSettings service;
  std::string address = "127.0.0.1", unixPath, portFile, keyFile, log = "text";
  std::string memory, cacheMemory, cacheDisk = "16G", sessionMemory = "1G";
  uint16_t port = 8080;
  bool noAuth = false, noPage = false;
  uint64_t bodyBytes = uint64_t(8) << 20;
  uint64_t sessionSeconds = 3600;
  uint32_t drainSeconds = 30, headerSeconds = 10, bodySeconds = 30,
           idleSeconds = 75;

  /// Declares all options on `app`.
  void declare(CLI::App &app);
  /// Checks what depends on several, and fills `model` and `service`. Throws
  /// UsageError or Failure.
  void resolve();
  /// The name of the file `index`: that was given, or the file's without its end.
  std::string nameOf(size_t index) const;
};

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_OPTIONS_H
