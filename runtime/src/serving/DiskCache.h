//===- DiskCache.h - Kept states that outlive a process -------------------===//
//
// State files with their tokens (StateOrigin.h) in a folder, named by a hash of model,
// code, salt and tokens. A thread writes them, one at a time, each whole or not at all;
// what is found, is compared token by token, and summed when it is loaded. The least
// recently used go when there are too many bytes.
//
// A disk that refuses to be written to turns everything off: requests go on without.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SERVING_DISKCACHE_H
#define EFFC_RUNTIME_SRC_SERVING_DISKCACHE_H

#include "runtime/src/Engine.h"
#include "runtime/src/Exactness.h"
#include "runtime/src/OwnProcess.h"
#include "runtime/src/StateFile.h"

#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <thread>

namespace effc::rt {

class DiskCache {
public:
  struct Options {
    std::string folder;
    uint64_t bytes = 0;
    uint64_t mostOfFile = 0; // larger ones could not be loaded
  };
  struct Numbers {
    uint64_t files = 0, bytes = 0; // now
    uint64_t written = 0, loaded = 0;
    uint64_t refused = 0;  // damaged, or of another model, code or format
    uint64_t dropped = 0;  // that came too fast to be written, or are too large
    uint64_t failures = 0; // after the first of which it is off
  };

  /// Makes the folder if there is none, and reads which files it has. EFFC_IO_ERROR:
  /// neither is possible.
  static Result<std::unique_ptr<DiskCache>> open(const Engine &engine,
                                                 const Options &options);
  /// Writes what waits.
  ~DiskCache();

  /// How far the best file takes a text, if further than `from` and not behind
  /// `most`; 0: no file does.
  uint64_t find(const Sha256Digest &salt, std::span<const int32_t> tokens,
                uint64_t from, uint64_t most, bool takesInexact) const;
  /// That file's states, of all its tokens.
  struct Loaded {
    StateOrigin origin;
    SequenceState state;
  };
  std::optional<Loaded> load(const Sha256Digest &salt,
                             std::span<const int32_t> tokens, uint64_t from,
                             uint64_t most, bool takesInexact);
  /// Has the states of `origin` written, sooner or later.
  void write(StateOrigin origin, CopiedStates states);
  Numbers numbers() const;

private:
  struct File {
    std::string name;
    StateOrigin origin;
    uint64_t bytes;
  };
  struct Waiting {
    StateOrigin origin;
    CopiedStates states;
  };
  DiskCache(const Engine &engine, const Options &options);
  Check readFolder();
  std::string pathOf(const std::string &name) const;
  std::string nameOf(const StateOrigin &origin) const;
  uint64_t reachOf(const File &file, const Sha256Digest &salt,
                   std::span<const int32_t> tokens, uint64_t most,
                   bool takesInexact) const;
  std::list<File>::const_iterator bestOf(const Sha256Digest &salt,
                                         std::span<const int32_t> tokens,
                                         uint64_t from, uint64_t most,
                                         bool takesInexact,
                                         uint64_t &reach) const;
  bool isAsGood(const StateOrigin &one, const StateOrigin &other) const;
  void loop();
  void writeFile(const Waiting &one);
  void addFile(File file);
  void removeFile(std::list<File>::const_iterator file);

  const std::shared_ptr<const Model> model;
  const CopyLayout layout;
  const Exactness exactness;
  const std::string code; // the instruction set of what computes
  const Options options;
  const OwnProcess process; // that `thread` belongs to

  mutable std::mutex lock;
  std::condition_variable news;
  std::list<File> files; // the last used first
  std::deque<Waiting> waiting;
  bool isOff = false, stops = false;
  Numbers counted;
  std::thread thread;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SERVING_DISKCACHE_H
