//===- Profile.h - What ran when ------------------------------------------===//
//
// The calls of an engine, and in each the launches, with the threads or the stream
// that ran them: a timeline in the format of Chrome's trace viewer, which Perfetto and
// chrome://tracing show.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_PROFILE_H
#define EFFC_RUNTIME_SRC_PROFILE_H

#include "runtime/src/Plan.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace effc::rt {

/// Written by one engine; parts of launches by all threads that work for it.
class Profile {
public:
  /// Keeps `most` parts, whose memory is taken here, and counts those beyond.
  explicit Profile(size_t most) : parts(most), begin(now()) {}

  /// Nanoseconds of a clock that only grows.
  static int64_t now();

  struct Call {
    uint32_t entry; // of the plan
    int64_t rows, segments, outputs;
    int64_t begin, end;
  };
  void beginCall(const Call &call) { calls.push_back(call); }
  void endCall() { calls.back().end = now(); }

  /// Launch `launch` of the entry of the current call did items `first` to `last` - 1
  /// on this thread.
  void addPart(uint32_t launch, int64_t first, int64_t last, int64_t begin,
               int64_t end) {
    add({launch, laneOfThread(), first, last, begin, end});
  }
  /// The same of a device's stream.
  void addLaunch(uint32_t launch, int64_t items, int64_t begin, int64_t end) {
    add({launch, kStream, 0, items, begin, end});
  }

  /// Parts that there was no room for.
  uint64_t lost() const {
    uint64_t all = count.load(std::memory_order_relaxed);
    return all > parts.size() ? all - parts.size() : 0;
  }

  /// The timeline of what has run on `plan`, in JSON. Parts of a launch that follow
  /// each other on a thread are one. Between calls.
  std::string trace(const Plan &plan) const;

private:
  static constexpr uint32_t kStream = UINT32_MAX;
  struct Part {
    uint32_t launch, lane;
    int64_t first, last, begin, end;
    uint32_t call = 0;
  };

  void add(Part part) {
    uint64_t at = count.fetch_add(1, std::memory_order_relaxed);
    if (at >= parts.size())
      return;
    part.call = static_cast<uint32_t>(calls.size() - 1);
    parts[at] = part;
  }
  static uint32_t laneOfThread();

  std::vector<Part> parts;
  std::vector<Call> calls;
  std::atomic<uint64_t> count{0};
  int64_t begin;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_PROFILE_H
