#include "runtime/src/Profile.h"

#include "runtime/src/JsonWriter.h"

#include <algorithm>
#include <chrono>
#include <set>

using namespace effc;
using namespace effc::rt;

int64_t Profile::now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Small numbers for threads, in the order in which they first do something.
uint32_t Profile::laneOfThread() {
  static std::atomic<uint32_t> next{0};
  thread_local uint32_t lane = next.fetch_add(1);
  return lane;
}

namespace {
// Rows of the viewer: the calls, the stream of a device, then threads.
constexpr uint32_t kCallRow = 0, kStreamRow = 1, kFirstThreadRow = 2;

/// Events of the trace, which counts microseconds from the profile's begin.
class TraceWriter {
public:
  explicit TraceWriter(int64_t begin) : begin(begin) {
    json.beginObject();
    json.field("displayTimeUnit", "ms");
    json.key("traceEvents");
    json.beginArray();
  }

  void nameRow(uint32_t row, std::string_view name) {
    json.beginObject();
    json.field("name", "thread_name");
    json.field("ph", "M");
    json.field("pid", uint32_t(1));
    json.field("tid", row);
    json.key("args");
    json.beginObject();
    json.field("name", name);
    json.endObject();
    json.endObject();
  }

  /// Begins an event, whose "args" follow; endEvent() ends it.
  void beginEvent(std::string_view name, const char *category, uint32_t row,
                  int64_t from, int64_t to) {
    json.beginObject();
    json.field("name", name);
    json.field("cat", category);
    json.field("ph", "X");
    json.field("pid", uint32_t(1));
    json.field("tid", row);
    json.field("ts", double(from - begin) * 1e-3);
    json.field("dur", double(to - from) * 1e-3);
    json.key("args");
    json.beginObject();
  }
  template <typename T> void argument(std::string_view name, const T &value) {
    json.field(name, value);
  }
  void endEvent() {
    json.endObject();
    json.endObject();
  }

  std::string take(uint64_t lost) {
    json.endArray();
    json.key("otherData");
    json.beginObject();
    json.field("lost_parts", lost);
    json.endObject();
    json.endObject();
    return json.take();
  }

private:
  JsonWriter json;
  int64_t begin;
};
} // namespace

std::string Profile::trace(const Plan &plan) const {
  size_t kept =
      std::min<uint64_t>(parts.size(), count.load(std::memory_order_acquire));
  std::vector<Part> sorted(parts.begin(),
                           parts.begin() + static_cast<ptrdiff_t>(kept));
  std::sort(sorted.begin(), sorted.end(), [](const Part &a, const Part &b) {
    return a.lane != b.lane ? a.lane < b.lane : a.begin < b.begin;
  });
  TraceWriter trace(begin);
  trace.nameRow(kCallRow, "calls");
  std::set<uint32_t> lanes;
  for (const Part &part : sorted)
    lanes.insert(part.lane);
  for (uint32_t lane : lanes)
    if (lane == kStream)
      trace.nameRow(kStreamRow, "stream");
    else
      trace.nameRow(kFirstThreadRow + lane, "thread " + std::to_string(lane));

  for (const Call &call : calls) {
    const artifact::Entry &entry = *plan.entries->Get(call.entry);
    trace.beginEvent(entry.name()->string_view(), "call", kCallRow, call.begin,
                     call.end);
    trace.argument("rows", call.rows);
    trace.argument("sequences", call.segments);
    trace.argument("outputs", call.outputs);
    trace.endEvent();
  }
  for (size_t i = 0; i < sorted.size();) {
    Part part = sorted[i];
    int64_t items = 0, busy = 0;
    for (; i < sorted.size() && sorted[i].lane == part.lane &&
           sorted[i].call == part.call && sorted[i].launch == part.launch;
         ++i) {
      part.end = sorted[i].end;
      items += sorted[i].last - sorted[i].first;
      busy += sorted[i].end - sorted[i].begin;
    }
    const artifact::Entry &entry = *plan.entries->Get(calls[part.call].entry);
    const artifact::Launch &launch = *entry.launches()->Get(part.launch);
    std::string_view kernel =
        plan.kernels->Get(launch.kernel())->name()->string_view();
    std::string_view note =
        launch.note() ? launch.note()->string_view() : std::string_view();
    trace.beginEvent(note.empty() ? kernel : note, "launch",
                     part.lane == kStream ? kStreamRow
                                          : kFirstThreadRow + part.lane,
                     part.begin, part.end);
    trace.argument("kernel", kernel);
    trace.argument("launch", part.launch);
    trace.argument("items", items);
    trace.argument("busy_us", double(busy) * 1e-3);
    trace.endEvent();
  }
  return trace.take(lost());
}
