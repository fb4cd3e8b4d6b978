//===- Scheduler.h - Many requests on one engine --------------------------===//
//
// Two locks. `turn` is held by whoever steps, and guards the engine and what jobs
// compute. `lock` guards what other threads see: the jobs by number, the queue,
// events and counters; nothing is computed under it.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SERVING_SCHEDULER_H
#define EFFC_RUNTIME_SRC_SERVING_SCHEDULER_H

#include "runtime/src/OwnProcess.h"
#include "runtime/src/serving/Job.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

namespace effc::rt {

/// An event with what its pointers lead to.
struct Event {
  effc_event_t shown = {};
  std::string text, message;
  std::vector<effc_logprob_t> logprobs;
  std::optional<effc_checkpoint> states;
  /// `shown`, its pointers set.
  const effc_event_t &asShown();
};

class Scheduler {
public:
  static Result<std::unique_ptr<Scheduler>>
  create(std::shared_ptr<Engine> engine,
         const effc_scheduler_options_t &options,
         std::shared_ptr<Engine> drafting = nullptr);
  ~Scheduler();

  const Model &model() const { return engine->model(); }
  const std::shared_ptr<const Model> &sharedModel() const {
    return engine->sharedModel();
  }

  /// `request` has `sampling`.
  Result<uint64_t> submit(const effc_request_t &request);
  void cancel(uint64_t number);
  /// Has a request wait for its reader, or go on.
  void hold(uint64_t number, bool isHeld);
  /// Whether there was anything to compute.
  Result<bool> step();
  void start();
  void stop();
  /// The oldest event, until the next call; null where none comes in time.
  Result<const effc_event_t *> poll(uint64_t timeout);
  effc_scheduler_stats_t stats() const;
  Result<effc_cache_lookup_t> lookUp(const effc_request_t &request) const;
  const std::string &note() const;
  /// Why no request can have drafts; "" where they can.
  const std::string &whyNoDrafts() const { return noDrafts; }
  /// Readable while events wait; -1 where there is none.
  int descriptor() const { return bell; }

private:
  Scheduler(std::shared_ptr<Engine> engine,
            const effc_scheduler_options_t &options,
            std::unique_ptr<DiskCache> disk, std::shared_ptr<Engine> drafting);

  uint64_t now() const;
  uint64_t reservationOf(const Job &job) const;
  Result<std::vector<std::unique_ptr<Job>>>
  choicesOf(const effc_request_t &request) const;
  Result<uint64_t> enqueue(std::vector<std::unique_ptr<Job>> choices);
  void endWhatIsOver();
  std::optional<effc_end_t> whyOver(Job &job, uint64_t time);
  void admit();
  bool takeSlots(std::span<Job *const> choices);
  struct Fed;
  enum class CallKind { Prompt, Decode };
  bool decodeDrafts();
  void feedDrafts(std::vector<Fed> &all);
  void drawDrafted(Fed &fed, const float *row);
  static Check checkDrafting(const Engine &drafting, const Engine &engine,
                             const effc_scheduler_options_t &options);
  void giveFollowers(std::span<Job *const> choices);
  void dropFollower(Job &job);
  bool readAhead();
  void guess(std::span<Fed *const> all, uint64_t rowsLeft);
  uint64_t rowsToFeed(uint64_t rowsLeft) const;
  void copyFollower(Job &from, Job &to);
  bool countGuessing(uint64_t start, const Check &error,
                     std::span<Job *const> called);
  static std::string whyNoDrafts(const Engine &engine);
  bool decode();
  bool replay();
  bool feedPrompts();
  bool tellScores(Job &job, std::span<const float> rows);
  static Result<effc_scheduler_options_t>
  withRoomForCache(const Engine &engine,
                   const effc_scheduler_options_t &options);
  static Result<std::unique_ptr<DiskCache>>
  diskOf(const Engine &engine, const effc_scheduler_options_t &options);
  CacheUse withGiven(const Job &job, CacheUse use) const;
  Result<CacheUse> restore(Job &job);
  void goOnFromCache(std::span<Job *const> feeding);
  void bringStates(const Job &job, Event &event);
  void countCached(Job &job);
  void keepAtStop(Job &job);
  void keepEnds();
  void fedTo(Job &job, const float *logits);
  void drawFirst(Job &job, const float *logits);
  void took(Job &job, int32_t token);
  void end(Job &job, effc_end_t end, std::string message = "",
           effc_status_code_t code = EFFC_OK);
  template <typename Call>
  Check measured(CallKind kind, uint64_t rows, Call call);
  void countStep();
  void hit(std::span<Job *const> jobs, const Error &error);
  void count(Job &job, const effc_event_t &event);
  void say(Job &job, Event event);
  void tell();
  void stopRinging();
  void removeEnded();
  bool hasWork() const;
  void loop();

  std::shared_ptr<Engine> engine;
  effc_scheduler_options_t options;
  uint64_t budget, grid;
  const Exactness exactness;
  const std::string noDrafts;
  std::optional<StateCache> cache;
  std::optional<DraftModel> drafter;

  mutable std::mutex turn;
  std::vector<Job *> running; // of `jobs`, oldest first
  std::vector<float> logits;
  SamplingScratch scratch;
  uint64_t stepRows = 0; // tokens that calls of the current step were fed
  std::deque<std::pair<Job *, Event>> untold; // of the current step

  mutable std::mutex lock;
  std::condition_variable work, news; // for the thread that steps; for readers
  /// By the number of the request, and those behind it for its other choices.
  std::map<uint64_t, std::unique_ptr<Job>> jobs;
  std::vector<Job *> queue; // first choices
  std::deque<Event> events;
  int bell;            // an eventfd; rung while there are events
  bool isRung = false; // or is about to be
  Event polled;
  uint64_t numbers = 0, reserved = 0;
  effc_scheduler_stats_t counted = {};
  std::optional<Error> broken; // why nothing goes on

  const OwnProcess process; // that `thread` belongs to
  std::thread thread;
  std::mutex threadLock;
  bool stopping = false; // under `lock`
};

/// Runs a call of the engine, which feeds `rows` tokens, and counts it.
template <typename Call>
Check Scheduler::measured(CallKind kind, uint64_t rows, Call call) {
  uint64_t start = now();
  if (Check error = call())
    return error;
  uint64_t took = now() - start;
  bool ofPrompts = kind == CallKind::Prompt;
  std::lock_guard guard(lock);
  ++(ofPrompts ? counted.prompt_calls : counted.decode_calls);
  (ofPrompts ? counted.prompt_tokens : counted.decode_tokens) += rows;
  (ofPrompts ? counted.prompt_ns : counted.decode_ns) += took;
  counted.device_lost_now = 0;
  stepRows += rows;
  return {};
}

} // namespace effc::rt

/// The C handle.
struct effc_scheduler {
  std::unique_ptr<effc::rt::Scheduler> scheduler;
};

#endif // EFFC_RUNTIME_SRC_SERVING_SCHEDULER_H
