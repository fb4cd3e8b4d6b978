//===- Sessions.h - Sequences that clients name and go on with ------------===//
//
// A session is its tokens, and the states of the first of them, in the host's
// memory. Whoever changes one takes a lease: nobody else has it meanwhile, and a
// request that fails leaves it as it was. Any thread.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_ENGINE_SESSIONS_H
#define EFFC_TOOLS_EFFC_SERVE_ENGINE_SESSIONS_H

#include "tools/effc-serve/engine/ServedModel.h"
#include "tools/effc-serve/wire/ApiError.h"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace effc::serve {

struct SessionLimits {
  uint64_t bytes = uint64_t(1) << 30; // of states, in all; 0: no sessions
  size_t count = 1024;
  std::chrono::seconds life{3600}; // without a request, unless they say
  std::string folder;              // of saved ones; empty: none
};

/// Copies share the states.
struct NamedSession {
  std::string id;
  size_t model = 0; // among those served
  std::vector<int32_t> tokens;
  std::shared_ptr<const Checkpoint> states; // null: none
  bool isNear = false; // the states are those of other bits, maybe
  int64_t created = 0; // by the calendar
  std::chrono::seconds life{0};

  uint64_t position() const { return states ? states->position() : 0; }
};

class Sessions;

/// The right to change a session, until it goes.
class SessionLease {
public:
  ~SessionLease();
  SessionLease(const SessionLease &) = delete;
  SessionLease &operator=(const SessionLease &) = delete;

  /// As it was when the lease began, or as keep() has left it.
  const NamedSession &session() const { return held; }
  /// Has room for `bytes` of states in all. Throws ApiError where there is none.
  void reserve(uint64_t bytes);
  /// Makes the session `changed`, whose states take `bytes`.
  void keep(NamedSession changed, uint64_t bytes);
  /// Ends the session with the lease.
  void drop() { ends = true; }

private:
  friend class Sessions;
  SessionLease(std::shared_ptr<Sessions> all, NamedSession session,
               uint64_t bytes)
      : all(std::move(all)), held(std::move(session)), settled(bytes) {}

  std::shared_ptr<Sessions> all;
  NamedSession held;
  uint64_t settled; // that it takes where nothing more is kept
  bool ends = false;
};

class Sessions : public std::enable_shared_from_this<Sessions> {
public:
  explicit Sessions(SessionLimits limits) : limits(std::move(limits)) {}

  /// "a session's name": letters, digits and "._-", up to 64, no dot first.
  static bool isId(std::string_view id);

  /// A new one; an empty `id` is chosen. It is gone where nothing is kept. Throws
  /// ApiError: the name is taken, or there are too many.
  std::shared_ptr<SessionLease> create(NamedSession session);
  /// Throws ApiError: there is none, or somebody has it.
  std::shared_ptr<SessionLease> take(const std::string &id);
  /// A copy, also of one that somebody has. Throws ApiError.
  NamedSession look(const std::string &id);
  std::vector<NamedSession> list();

  const SessionLimits &settings() const { return limits; }
  struct Numbers {
    uint64_t count, bytes;
  };
  Numbers numbers();
  /// Seconds until the session ends if nobody asks for it.
  std::optional<std::chrono::seconds> timeLeft(const std::string &id);

private:
  friend class SessionLease;
  using Clock = std::chrono::steady_clock;
  struct Entry {
    NamedSession session;
    uint64_t bytes = 0;
    bool isBusy = false, isNew = false;
    Clock::time_point used = Clock::now();
  };
  void sweep();
  Entry &find(const std::string &id);
  [[noreturn]] void refuseUnknown(const std::string &id) const;

  const SessionLimits limits;
  std::mutex lock;
  std::map<std::string, Entry> entries;
  uint64_t bytes = 0;
};

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_ENGINE_SESSIONS_H
