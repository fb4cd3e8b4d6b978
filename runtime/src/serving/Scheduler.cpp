#include "runtime/src/serving/Scheduler.h"

#include "runtime/src/Limits.h"
#include "runtime/src/system/FloatMode.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

using namespace effc::rt;

const effc_event_t &Event::asShown() {
  shown.text = text.c_str();
  shown.text_size = text.size();
  shown.message = message.c_str();
  shown.logprobs = logprobs.data();
  shown.logprob_count = logprobs.size();
  shown.states = states ? &*states : nullptr;
  return shown;
}

Scheduler::Scheduler(std::shared_ptr<Engine> given,
                     const effc_scheduler_options_t &with,
                     std::unique_ptr<DiskCache> disk,
                     std::shared_ptr<Engine> drafting)
    : engine(std::move(given)), options(with), budget(engine->stateBudget()),
      grid(engine->grid()),
      exactness(exactnessOf(engine->model().program(), engine->plan())),
      noDrafts(whyNoDrafts(*engine)),
      bell(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  scratch.reserve(model().program().vocabulary_size());
  if (options.max_running == 0)
    options.max_running = engine->mostSessions();
  if (options.max_state_bytes != 0)
    budget = std::min(budget, options.max_state_bytes);
  if (options.cache_bytes != 0)
    cache.emplace(*engine,
                  StateCache::Options{options.cache_bytes,
                                      {grid, options.checkpoint_every},
                                      options.cache_near != 0},
                  std::move(disk));
  if (drafting)
    drafter.emplace(std::move(drafting), options.draft_model_tokens);

  uint64_t context = engine->model().program().max_context();
  WaitBounds bounds = {};
  bounds.queue = options.max_queue;
  bounds.running = options.max_running;
  bounds.promptTokens = options.max_prompt_tokens;
  if (context != 0 &&
      (bounds.promptTokens == 0 || bounds.promptTokens > context))
    bounds.promptTokens = context;
  bounds.newTokens = options.max_new_tokens;
  bounds.choices = options.max_choices =
      std::min(options.max_choices, options.max_running);
  bounds.room = options.step_tokens;
  bounds.grid = grid;
  bounds.ageSteps = options.age_steps;
  if (cache)
    bounds.stops = cache->mostStops(bounds.promptTokens);
  uint64_t most = bounds.promptTokens + bounds.newTokens;
  if (context != 0)
    most = std::min(most, context);
  uint64_t largest = engine->bytesOf(most);
  if (drafter)
    largest += drafter->bytesOf(most);
  largest = std::max<uint64_t>(largest, 1);
  bounds.together =
      std::clamp<uint64_t>(budget / largest, bounds.choices, bounds.running);
  counted.waited_steps_bound = bounds.mostSteps();
}

Result<std::unique_ptr<Scheduler>>
Scheduler::create(std::shared_ptr<Engine> engine,
                  const effc_scheduler_options_t &options,
                  std::shared_ptr<Engine> drafting) {
  if (options.max_running > engine->mostSessions())
    return invalidArgument("'max_running' is ", options.max_running,
                           ", but the engine has ", engine->mostSessions(),
                           " sessions");
  struct {
    const char *name;
    uint64_t value;
  } needed[] = {{"step_tokens", options.step_tokens},
                {"age_steps", options.age_steps},
                {"max_new_tokens", options.max_new_tokens},
                {"max_choices", options.max_choices},
                {"max_unread", options.max_unread}};
  for (auto [name, value] : needed)
    if (value == 0)
      return invalidArgument("'", name, "' is 0, but at least 1 is expected");
  if (Check error = engine->requireLogits())
    return *error;
  if (drafting)
    if (Check error = checkDrafting(*drafting, *engine, options))
      return *error;
  auto taken = withRoomForCache(*engine, options);
  if (!taken)
    return taken.error();
  auto disk = diskOf(*engine, options);
  if (!disk)
    return disk.error();
  taken->cache_dir = nullptr; // the caller's
  taken->draft_engine = nullptr;
  return std::unique_ptr<Scheduler>(new Scheduler(
      std::move(engine), *taken, std::move(*disk), std::move(drafting)));
}

Scheduler::~Scheduler() {
  stop();
  for (Job *job : running) {
    engine->giveSlot(job->session.slot);
    if (job->follower)
      drafter->leave(*job->follower);
  }
  engine->coolDown();
  if (bell >= 0)
    close(bell);
}

uint64_t Scheduler::now() const {
  if (options.clock)
    return options.clock(options.clock_user);
  auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

//===-- From other threads ------------------------------------------------===//

/// What the states of a request fill at most.
uint64_t Scheduler::reservationOf(const Job &job) const {
  uint64_t tokens = job.mostTokens();
  if (uint64_t context = model().program().max_context())
    tokens = std::min(tokens, context);
  return engine->bytesOf(tokens);
}

/// A job for each choice, which differ in their seeds.
Result<std::vector<std::unique_ptr<Job>>>
Scheduler::choicesOf(const effc_request_t &request) const {
  if (request.draft_tokens > 0 && !noDrafts.empty())
    return fail(EFFC_UNSUPPORTED, "'draft_tokens' is set, but ", noDrafts);
  std::vector<std::unique_ptr<Job>> choices;
  effc_request_t each = request;
  effc_sampler_options_t sampling = *request.sampling;
  each.sampling = &sampling;
  uint32_t count = 0;
  do {
    sampling.seed = request.sampling->seed + count;
    auto job = Job::create(each, model(), options);
    if (!job) // the first of them has refused what cannot be
      return job.error();
    choices.push_back(std::move(*job));
    choices.back()->choice = count;
    if (count > 0)
      choices.back()->promptLogprobs = 0;
    // A text is cut once.
    each.text = nullptr;
    each.text_size = 0;
    each.tokens = choices[0]->prompt.data();
    each.token_count = choices[0]->prompt.size();
  } while (++count < request.choices);
  return choices;
}

Result<uint64_t> Scheduler::submit(const effc_request_t &request) {
  auto choices = choicesOf(request);
  Result<uint64_t> number = choices ? enqueue(std::move(*choices))
                                    : Result<uint64_t>(choices.error());
  std::lock_guard guard(lock);
  ++(number ? counted.submitted : counted.refused);
  return number;
}

Result<uint64_t> Scheduler::enqueue(std::vector<std::unique_ptr<Job>> choices) {
  uint64_t bytes = reservationOf(*choices[0]), all = 0;
  if (__builtin_mul_overflow(bytes, choices.size(), &all) || all > budget)
    return fail(EFFC_OUT_OF_MEMORY, "the request's states take up to ", bytes,
                " bytes for each of ", choices.size(),
                " choices, but all that there is for states are ", budget,
                ": ask for fewer tokens or choices");
  uint64_t time = now();
  std::lock_guard guard(lock);
  if (broken)
    return *broken;
  if (queue.size() >= options.max_queue)
    return fail(EFFC_EXHAUSTED, queue.size(), " requests wait, and ",
                options.max_queue,
                " may: submit the request again when some have ended");
  // What runs may leave half of that, so a slow reader alone refuses nobody.
  uint64_t unread = 2 * uint64_t(options.max_unread) * options.max_running;
  if (events.size() >= unread)
    return fail(EFFC_EXHAUSTED, events.size(),
                " events are unread: read them, then submit again");
  uint64_t number = numbers + 1;
  numbers += choices.size();
  queue.push_back(choices[0].get());
  for (std::unique_ptr<Job> &job : choices) {
    job->reserved = bytes;
    if (job->deadline != 0)
      job->deadline = time + std::min(job->deadline, UINT64_MAX - time);
    job->submittedAt = time;
    job->place.number = number;
    job->place.since = counted.steps;
    if (job->choice > 0)
      queue.back()->others.push_back(job.get());
    jobs[number + job->choice] = std::move(job);
  }
  counted.queued_most =
      std::max(counted.queued_most, static_cast<uint32_t>(queue.size()));
  work.notify_one();
  return number;
}

void Scheduler::cancel(uint64_t number) {
  std::lock_guard guard(lock);
  for (auto at = jobs.lower_bound(number);
       at != jobs.end() && at->second->place.number == number; ++at)
    at->second->isCancelled = true;
  work.notify_one();
}

effc_scheduler_stats_t Scheduler::stats() const {
  std::lock_guard guard(lock);
  effc_scheduler_stats_t filled = counted;
  // Places are given back at the end of a step, but ends are told within it.
  auto countGoing = [](std::span<Job *const> of) {
    return static_cast<uint32_t>(std::ranges::count_if(
        of, [](const Job *job) { return !job->hasEnded; }));
  };
  filled.queued_now = countGoing(queue);
  filled.running_now = countGoing(running);
  filled.reserved_bytes_now = reserved;
  filled.unread_now = events.size();
  if (!cache)
    return filled;
  cache->fill(filled);
  return filled;
}

//===-- One step ----------------------------------------------------------===//

/// Why a job ends without more being computed. The lock is held.
std::optional<effc_end_t> Scheduler::whyOver(Job &job, uint64_t time) {
  if (job.isCancelled)
    return EFFC_END_CANCELLED;
  if (job.deadline != 0 && time >= job.deadline)
    return EFFC_END_DEADLINE;
  if (job.unreadSince != 0 && time - job.unreadSince >= options.reader_ns)
    return EFFC_END_UNREAD;
  return std::nullopt;
}

void Scheduler::endWhatIsOver() {
  uint64_t time = now();
  std::vector<std::pair<Job *, effc_end_t>> over;
  {
    std::lock_guard guard(lock);
    for (auto &[number, job] : jobs)
      if (std::optional<effc_end_t> why = whyOver(*job, time))
        over.push_back({job.get(), *why});
  }
  for (auto [job, why] : over)
    end(*job, why);
  tell();
  keepEnds();
  removeEnded();
}

/// Gives each choice a session, or none of them.
bool Scheduler::takeSlots(std::span<Job *const> choices) {
  for (size_t i = 0; i < choices.size(); ++i) {
    Result<uint32_t> slot = engine->takeSlot();
    if (!slot) {
      while (i-- > 0)
        engine->giveSlot(choices[i]->session.slot);
      return false;
    }
    choices[i]->session.engine = engine;
    choices[i]->session.slot = *slot;
  }
  return true;
}

/// In order, while there are places and memory; nobody passes one who waits for
/// them, which would keep large requests waiting for ever.
void Scheduler::admit() {
  uint64_t time = now();
  std::lock_guard guard(lock);
  while (!queue.empty()) {
    auto first = std::min_element(
        queue.begin(), queue.end(), [&](const Job *a, const Job *b) {
          return a->place.goesBefore(b->place, counted.steps,
                                     options.age_steps);
        });
    std::vector<Job *> choices = (*first)->others;
    choices.insert(choices.begin(), *first);
    uint64_t bytes = choices.size() * choices[0]->reserved;
    if (running.size() + choices.size() > options.max_running ||
        bytes > budget - reserved || !takeSlots(choices))
      return;
    for (Job *job : choices) {
      job->phase = Job::Phase::Waiting;
      job->admittedAt = time;
    }
    uint64_t waited = time - choices[0]->submittedAt;
    ++counted.admitted;
    counted.queued_ns += waited;
    counted.queued_ns_most = std::max(counted.queued_ns_most, waited);
    choices[0]->phase = Job::Phase::Prompt;
    reserved += bytes;
    giveFollowers(choices);
    running.insert(running.end(), choices.begin(), choices.end());
    queue.erase(first);
    counted.running_most =
        std::max(counted.running_most, static_cast<uint32_t>(running.size()));
    counted.reserved_bytes_most =
        std::max(counted.reserved_bytes_most, reserved);
  }
}

/// A token of each sequence that has one to feed and a reader.
bool Scheduler::decode() {
  std::vector<Job *> decoding;
  {
    std::lock_guard guard(lock);
    for (Job *job : running)
      if (job->phase == Job::Phase::Decoding && job->unreadSince == 0 &&
          !job->isDrafted)
        decoding.push_back(job);
  }
  if (decoding.empty())
    return false;
  std::vector<effc_session_t *> sessions;
  std::vector<effc_sampler_t *> samplers;
  std::vector<int32_t> tokens;
  for (Job *job : decoding) {
    sessions.push_back(&job->session);
    samplers.push_back(&*job->sampler);
    tokens.push_back(job->drawn.back());
  }
  if (Check error = measured(CallKind::Decode, tokens.size(), [&] {
        return engine->decodeDraw(sessions, samplers, tokens, tokens.data());
      })) {
    hit(decoding, *error);
    return true;
  }
  for (size_t i = 0; i < decoding.size(); ++i)
    took(*decoding[i], tokens[i]);
  return true;
}

/// Tokens that were drawn before a failure are fed as they were then, one by one,
/// so that the states are those of then.
bool Scheduler::replay() {
  std::vector<Job *> replaying;
  std::vector<effc_session_t *> sessions;
  std::vector<int32_t> tokens;
  for (Job *job : running)
    if (job->phase == Job::Phase::Replaying) {
      replaying.push_back(job);
      sessions.push_back(&job->session);
      tokens.push_back(job->drawn[job->fed]);
    }
  if (replaying.empty())
    return false;
  if (Check error = measured(CallKind::Decode, tokens.size(), [&] {
        return engine->decode(sessions, tokens, nullptr);
      })) {
    hit(replaying, *error);
    return true;
  }
  for (Job *job : replaying)
    if (++job->fed + 1 == job->drawn.size())
      job->phase = Job::Phase::Decoding;
  return true;
}

/// A token was drawn for a job, or none.
void Scheduler::took(Job &job, int32_t token) {
  size_t before = job.drawn.size();
  Spoken spoken = job.take(token);
  if (job.drawn.size() > before) {
    Event event;
    event.shown.kind = EFFC_EVENT_TOKEN;
    event.shown.token = token;
    event.text = std::move(spoken.text);
    std::span<const effc_logprob_t> found = job.sampler->sampler.logprobs();
    event.logprobs.assign(found.begin(), found.end());
    say(job, std::move(event));
  }
  uint64_t context = model().program().max_context();
  if (!spoken.end && context != 0 &&
      job.prompt.size() + job.drawn.size() > context)
    spoken.end = EFFC_END_CONTEXT;
  if (spoken.end) {
    Event event;
    event.shown.stop = spoken.stop;
    if (*spoken.end == EFFC_END_FAILED)
      event.shown.code = EFFC_BAD_DATA;
    event.message = std::move(spoken.message);
    job.hasFailed = *spoken.end == EFFC_END_FAILED;
    event.shown.end = *spoken.end;
    event.shown.kind = EFFC_EVENT_END;
    event.text = job.finishText();
    bringStates(job, event);
    say(job, std::move(event));
  }
}

void Scheduler::end(Job &job, effc_end_t end, std::string message,
                    effc_status_code_t code) {
  Event event;
  event.shown.code = code;
  event.shown.kind = EFFC_EVENT_END;
  event.shown.end = end;
  event.message = std::move(message);
  job.hasFailed = end == EFFC_END_FAILED;
  event.text = job.finishText();
  bringStates(job, event);
  say(job, std::move(event));
}

/// A call failed, and may have lost the sequences that it named: each is run again
/// as often as it may be.
void Scheduler::hit(std::span<Job *const> called, const Error &error) {
  bool deviceFailed = error.code == EFFC_DEVICE_ERROR;
  auto isGivenUp = [&](const Job *job) {
    return job->retries >= options.max_retries;
  };
  // Before a request is told, whose caller may ask at once.
  if (deviceFailed) {
    std::lock_guard guard(lock);
    ++counted.device_failures;
    if (std::ranges::any_of(called, isGivenUp))
      counted.device_lost_now = 1;
  }
  for (Job *job : called) {
    if (!deviceFailed || isGivenUp(job)) {
      for (Job *other : job->others) // they have nobody to wait for
        end(*other, EFFC_END_FAILED, error.message, error.code);
      end(*job, EFFC_END_FAILED, error.message, error.code);
      continue;
    }
    ++job->retries;
    engine->reset(job->session);
    if (Check failed = job->restart()) {
      end(*job, EFFC_END_FAILED, failed->message, failed->code);
      continue;
    }
    std::lock_guard guard(lock);
    ++counted.retries;
  }
}

/// When what the job waits for came, and at its end how long each took.
static void keepTimes(Job &job, effc_event_t &event, uint64_t time) {
  if (event.kind == EFFC_EVENT_TOKEN) {
    job.lastTokenAt = time;
    if (!job.firstTokenAt)
      job.firstTokenAt = time;
  }
  if (event.kind != EFFC_EVENT_END)
    return;
  event.queued_ns = job.admittedAt.value_or(time) - job.submittedAt;
  if (!job.firstTokenAt)
    return;
  event.prompt_ns = *job.firstTokenAt - *job.admittedAt;
  event.decode_ns = *job.lastTokenAt - *job.firstTokenAt;
}

void Scheduler::count(Job &job, const effc_event_t &event) {
  std::lock_guard guard(lock);
  if (event.kind == EFFC_EVENT_END) {
    job.hasEnded = true;
    ++counted.ended[event.end];
  } else if (event.kind == EFFC_EVENT_TOKEN) {
    ++counted.new_tokens;
  }
}

void Scheduler::say(Job &job, Event event) {
  uint64_t time = now();
  keepTimes(job, event.shown, time);
  event.shown.size = sizeof event.shown;
  event.shown.request = job.place.number;
  event.shown.choice = job.choice;
  event.shown.user = job.user;
  event.shown.prompt_tokens = job.prompt.size();
  event.shown.new_tokens = job.drawn.size();
  event.shown.cached_tokens = job.cached.position;
  event.shown.matched_tokens = job.cached.matched;
  event.shown.kept_tokens = job.cached.kept;
  event.shown.cache_miss = job.cached.miss;
  event.shown.is_near = job.cached.isNear;
  event.shown.drafted_tokens = job.drafted;
  event.shown.accepted_tokens = job.accepted;
  if (event.shown.kind != EFFC_EVENT_END)
    event.shown.stop = -1;
  if (event.shown.kind != EFFC_EVENT_TOKEN)
    event.shown.token = -1;
  // Before it is told: who hears of an end may ask at once what runs.
  count(job, event.shown);
  if (options.on_event) {
    options.on_event(options.on_event_user, &event.asShown());
    return;
  }
  untold.push_back({&job, std::move(event)});
}

/// Jobs that have ended, and of which that was told, give back their places.
void Scheduler::removeEnded() {
  std::lock_guard guard(lock);
  std::erase_if(running, [&](Job *job) {
    if (!job->hasEnded)
      return false;
    // What goes on from kept states is copied into pages that are there.
    engine->giveSlot(job->session.slot, /*staysWarm=*/cache.has_value());
    reserved -= job->reserved;
    if (job->follower)
      dropFollower(*job);
    return true;
  });
  std::erase_if(queue, [](const Job *job) { return job->hasEnded; });
  std::erase_if(jobs, [](const auto &each) { return each.second->hasEnded; });
}

Result<bool> Scheduler::step() {
  std::lock_guard turnGuard(turn);
  if (std::lock_guard guard(lock); broken)
    return *broken;
  endWhatIsOver();
  admit();
  bool did = readAhead();
  did |= decodeDrafts();
  tell();
  did |= decode();
  tell();
  did |= replay();
  did |= feedPrompts();
  tell();
  keepEnds();
  removeEnded();
  countStep();
  return did;
}

void Scheduler::countStep() {
  uint64_t rows = std::exchange(stepRows, 0);
  std::lock_guard guard(lock);
  ++counted.steps;
  if (rows > 0)
    ++counted.sized_steps[std::min<int>(std::bit_width(rows - 1),
                                        EFFC_STEP_SIZES - 1)];
}
