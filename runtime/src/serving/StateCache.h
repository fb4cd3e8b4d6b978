//===- StateCache.h - States of prompts that have been fed ----------------===//
//
// A tree of prefixes (PrefixTree.h) together with the engine that its states come
// from and go to. Copies are made by the thread that steps; other threads may look.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SERVING_STATECACHE_H
#define EFFC_RUNTIME_SRC_SERVING_STATECACHE_H

#include "runtime/src/Engine.h"
#include "runtime/src/serving/Checkpoints.h"
#include "runtime/src/serving/DiskCache.h"
#include "runtime/src/serving/PrefixTree.h"

#include <mutex>

namespace effc::rt {

/// What a prompt had of the cache.
struct CacheUse {
  uint64_t position = 0; // of the states that it went on from
  uint64_t matched = 0;  // tokens that it shares with others
  uint64_t lost = 0;     // that it is fed for the reason below
  uint64_t kept = 0;     // behind `position`, whose states were kept
  effc_cache_miss_t miss = EFFC_CACHE_DISABLED;
  bool isNear = false; // by states that may lead to other bits
};

class StateCache {
public:
  struct Options {
    uint64_t bytes = 0;
    CheckpointRules rules = {};
    bool takesNear = false;
  };
  /// `disk`: null: there is none. Salts are digests (Sha256.h), or "".
  StateCache(Engine &engine, const Options &options,
             std::unique_ptr<DiskCache> disk = nullptr);

  /// Why it can never hit; "" if it can.
  const std::string &note() const { return whyNever; }
  /// The most checkpoints of a prompt on its way.
  uint64_t mostStops(uint64_t tokens) const;
  /// Changes when there is something new to find.
  uint64_t version() const { return changes; }

  /// What there is for a prompt, but for its last token.
  CacheUse look(std::string_view salt, std::span<const int32_t> prompt) const;
  /// The same, and the session goes on from there.
  Result<CacheUse> restore(Session &session, std::string_view salt,
                           std::span<const int32_t> prompt);
  /// Where the prompt has to stop to be copied.
  std::vector<uint64_t> stopsOf(const CacheUse &use, uint64_t tokens,
                                std::span<const uint64_t> marks) const;
  /// Whether states that decoding has made may be taken up.
  bool keepsDecoded() const;
  /// Keeps what `session` holds, which has taken `tokens`; whether it is there
  /// now. `byPrefill`: all of them that way, and from exact states.
  bool keep(const Session &session, std::string_view salt,
            std::span<const int32_t> tokens, bool byPrefill, bool isMarked);

  /// What `stats` has of the cache itself.
  void fill(effc_scheduler_stats_t &stats) const;

private:
  bool bringFromDisk(std::string_view salt, std::span<const int32_t> prompt,
                     const PrefixMatch &match, uint64_t most);
  std::vector<uint64_t> cutsOf(uint64_t from, uint64_t to) const;
  void writeToDisk(std::string_view salt, std::span<const int32_t> tokens,
                   bool byPrefill);
  CacheUse describe(const PrefixMatch &match, uint64_t most) const;

  Engine &engine;
  const Options options;
  const Exactness exactness;
  std::string whyNever;
  const std::unique_ptr<DiskCache> disk;
  uint64_t changes = 1;

  mutable std::mutex lock; // of what follows
  PrefixTree tree;
  struct {
    uint64_t kept = 0, unkept = 0, mostBytes = 0;
  } counted;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SERVING_STATECACHE_H
