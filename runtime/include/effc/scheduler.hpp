//===- scheduler.hpp - scheduler.h for C++17 ------------------------------===//
//
// A part of effc.hpp, which includes it.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_SCHEDULER_HPP
#define EFFC_SCHEDULER_HPP

#include "effc.hpp"

namespace effc {

class Scheduler : public Handle<effc_scheduler_t, effc_scheduler_free> {
public:
  explicit Scheduler(const Engine &engine)
      : Scheduler(engine, effc_scheduler_options_default()) {}
  Scheduler(const Engine &engine, const effc_scheduler_options_t &options)
      : Handle(create(engine, options)) {}

  uint64_t submit(const effc_request_t &request) {
    uint64_t number = 0;
    check(effc_scheduler_submit(get(), &request, &number));
    return number;
  }
  void cancel(uint64_t request) { effc_scheduler_cancel(get(), request); }
  /// What the request would find in the cache now.
  effc_cache_lookup_t lookUp(const effc_request_t &request) const {
    effc_cache_lookup_t lookup = {};
    lookup.size = sizeof lookup;
    check(effc_scheduler_cache_lookup(get(), &request, &lookup));
    return lookup;
  }
  /// What is not as one would expect of how requests run, or "".
  std::string note() const { return effc_scheduler_note(get()); }
  /// Why no request can have `draft_tokens`, or "".
  std::string whyNoDrafts() const { return effc_scheduler_no_drafts(get()); }
  void hold(uint64_t request, bool hold) {
    effc_scheduler_hold(get(), request, hold);
  }
  /// Whether there was anything to compute.
  bool step() {
    bool did = false;
    check(effc_scheduler_step(get(), &did));
    return did;
  }
  void start() { check(effc_scheduler_start(get())); }
  void stop() { effc_scheduler_stop(get()); }
  /// The oldest event, valid until the next call; `kind` is EFFC_EVENT_NONE where
  /// none has come in `timeout` nanoseconds.
  effc_event_t poll(uint64_t timeout = 0) {
    effc_event_t event = {};
    event.size = sizeof event;
    check(effc_scheduler_poll(get(), timeout, &event));
    return event;
  }
  /// Readable while events wait.
  int fd() const { return effc_scheduler_fd(get()); }
  effc_scheduler_stats_t stats() const {
    effc_scheduler_stats_t stats = {};
    stats.size = sizeof stats;
    effc_scheduler_stats(get(), &stats);
    return stats;
  }

private:
  static effc_scheduler_t *create(const Engine &engine,
                                  const effc_scheduler_options_t &options) {
    effc_scheduler_t *scheduler = nullptr;
    check(effc_scheduler_create(engine.get(), &options, &scheduler));
    return scheduler;
  }
};

} // namespace effc

#endif // EFFC_SCHEDULER_HPP
