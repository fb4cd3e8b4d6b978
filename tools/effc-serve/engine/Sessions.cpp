#include "tools/effc-serve/engine/Sessions.h"

#include "tools/terminal/Quantities.h"

#include <algorithm>
#include <ctime>
#include <random>

using namespace effc;
using namespace effc::serve;

bool Sessions::isId(std::string_view id) {
  auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == '-';
  };
  return !id.empty() && id.size() <= 64 && id[0] != '.' &&
         std::ranges::all_of(id, fits);
}

/// Whoever is not told it does not guess it.
static std::string newSessionId() {
  std::random_device random;
  char digits[40];
  std::snprintf(digits, sizeof digits, "sess-%08x%08x%08x%08x", random(),
                random(), random(), random());
  return digits;
}

void Sessions::sweep() {
  auto now = Clock::now();
  std::erase_if(entries, [&](const auto &each) {
    const Entry &entry = each.second;
    bool isOver = !entry.isBusy && now - entry.used >= entry.session.life;
    bytes -= isOver ? entry.bytes : 0;
    return isOver;
  });
}

void Sessions::refuseUnknown(const std::string &id) const {
  throw ApiError(404, "there is no session '" + id + "' here", "session",
                 "session_not_found");
}

Sessions::Entry &Sessions::find(const std::string &id) {
  sweep();
  auto found = entries.find(id);
  if (found == entries.end() || found->second.isNew)
    refuseUnknown(id);
  return found->second;
}

std::shared_ptr<SessionLease> Sessions::create(NamedSession session) {
  if (limits.bytes == 0)
    throw ApiError(400, "the server has no room for sessions: --session-ram",
                   "", "no_sessions");
  if (session.id.empty())
    session.id = newSessionId();
  std::lock_guard guard(lock);
  sweep();
  if (entries.contains(session.id))
    throw ApiError(409, "there is a session '" + session.id + "' already", "id",
                   "session_exists");
  if (entries.size() >= limits.count)
    throw ApiError(413,
                   "there are " + std::to_string(entries.size()) +
                       " sessions, and no more are possible: delete some",
                   "", "too_many_sessions");
  session.created = std::time(nullptr);
  Entry &entry = entries[session.id];
  entry.session = session;
  entry.isBusy = entry.isNew = true;
  return std::shared_ptr<SessionLease>(
      new SessionLease(shared_from_this(), std::move(session), 0));
}

std::shared_ptr<SessionLease> Sessions::take(const std::string &id) {
  std::lock_guard guard(lock);
  Entry &entry = find(id);
  if (entry.isBusy)
    throw ApiError(409, "another request has the session '" + id + "'",
                   "session", "session_busy");
  entry.isBusy = true;
  return std::shared_ptr<SessionLease>(
      new SessionLease(shared_from_this(), entry.session, entry.bytes));
}

NamedSession Sessions::look(const std::string &id) {
  std::lock_guard guard(lock);
  Entry &entry = find(id);
  entry.used = Clock::now();
  return entry.session;
}

std::vector<NamedSession> Sessions::list() {
  std::lock_guard guard(lock);
  sweep();
  std::vector<NamedSession> all;
  for (const auto &[id, entry] : entries)
    if (!entry.isNew)
      all.push_back(entry.session);
  return all;
}

Sessions::Numbers Sessions::numbers() {
  std::lock_guard guard(lock);
  sweep();
  return {entries.size(), bytes};
}

std::optional<std::chrono::seconds> Sessions::timeLeft(const std::string &id) {
  std::lock_guard guard(lock);
  auto found = entries.find(id);
  if (found == entries.end() || found->second.isBusy)
    return std::nullopt;
  return std::chrono::ceil<std::chrono::seconds>(
      found->second.used + found->second.session.life - Clock::now());
}

//===-- Leases ------------------------------------------------------------===//

void SessionLease::reserve(uint64_t wanted) {
  std::lock_guard guard(all->lock);
  Sessions::Entry &entry = all->entries.at(held.id);
  uint64_t others = all->bytes - entry.bytes, most = all->limits.bytes;
  if (wanted > most || others > most - wanted)
    throw ApiError(413,
                   "the session's states take up to " +
                       cli::formatBytes(wanted) + ", but of the " +
                       cli::formatBytes(most) +
                       " for sessions (--session-ram) others have " +
                       cli::formatBytes(others) + ": delete some",
                   "", "session_memory");
  all->bytes = others + wanted;
  entry.bytes = wanted;
}

void SessionLease::keep(NamedSession changed, uint64_t bytes) {
  std::lock_guard guard(all->lock);
  Sessions::Entry &entry = all->entries.at(held.id);
  all->bytes = all->bytes - entry.bytes + bytes;
  entry.bytes = settled = bytes;
  entry.session = held = std::move(changed);
  entry.isNew = false;
}

SessionLease::~SessionLease() {
  std::lock_guard guard(all->lock);
  auto found = all->entries.find(held.id);
  Sessions::Entry &entry = found->second;
  if (entry.isNew || ends) {
    all->bytes -= entry.bytes;
    all->entries.erase(found);
    return;
  }
  all->bytes = all->bytes - entry.bytes + settled;
  entry.bytes = settled;
  entry.isBusy = false;
  entry.used = Sessions::Clock::now();
}
