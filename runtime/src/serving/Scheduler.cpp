#include "runtime/src/serving/Scheduler.h"

#include "runtime/src/Limits.h"
#include "runtime/src/devices/host/FloatMode.h"

#include <algorithm>
#include <chrono>
#include <sys/eventfd.h>
#include <unistd.h>

using namespace effc::rt;

const effc_event_t &Event::asShown() {
  shown.text = text.c_str();
  shown.text_size = text.size();
  shown.message = message.c_str();
  shown.logprobs = logprobs.data();
  shown.logprob_count = logprobs.size();
  return shown;
}

Scheduler::Scheduler(std::shared_ptr<Engine> given,
                     const effc_scheduler_options_t &with)
    : engine(std::move(given)), options(with), budget(engine->stateBudget()),
      grid(engine->grid()), bell(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  scratch.reserve(model().program().vocabulary_size());
  if (options.max_running == 0)
    options.max_running = engine->mostSessions();
  if (options.max_state_bytes != 0)
    budget = std::min(budget, options.max_state_bytes);

  uint64_t context = engine->model().program().max_context();
  WaitBounds bounds = {};
  bounds.queue = options.max_queue;
  bounds.running = options.max_running;
  bounds.promptTokens = options.max_prompt_tokens;
  if (context != 0 &&
      (bounds.promptTokens == 0 || bounds.promptTokens > context))
    bounds.promptTokens = context;
  bounds.newTokens = options.max_new_tokens;
  bounds.room = options.step_tokens;
  bounds.grid = grid;
  bounds.ageSteps = options.age_steps;
  uint64_t most = bounds.promptTokens + bounds.newTokens;
  if (context != 0)
    most = std::min(most, context);
  uint64_t largest = std::max<uint64_t>(engine->bytesOf(most), 1);
  bounds.together = std::clamp<uint64_t>(budget / largest, 1, bounds.running);
  counted.waited_steps_bound = bounds.mostSteps();
}

Result<std::unique_ptr<Scheduler>>
Scheduler::create(std::shared_ptr<Engine> engine,
                  const effc_scheduler_options_t &options) {
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
                {"max_unread", options.max_unread}};
  for (auto [name, value] : needed)
    if (value == 0)
      return invalidArgument("'", name, "' is 0, but at least 1 is expected");
  return std::unique_ptr<Scheduler>(new Scheduler(std::move(engine), options));
}

Scheduler::~Scheduler() {
  stop();
  for (Job *job : running)
    engine->giveSlot(job->session.slot);
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

Result<uint64_t> Scheduler::submit(const effc_request_t &request) {
  auto job = Job::create(request, model(), options);
  Result<uint64_t> number =
      job ? enqueue(std::move(*job)) : Result<uint64_t>(job.error());
  std::lock_guard guard(lock);
  ++(number ? counted.submitted : counted.refused);
  return number;
}

Result<uint64_t> Scheduler::enqueue(std::unique_ptr<Job> job) {
  job->reserved = reservationOf(*job);
  if (job->reserved > budget)
    return fail(EFFC_OUT_OF_MEMORY, "the request's states take up to ",
                job->reserved, " bytes, but all that there is for states are ",
                budget, ": ask for fewer tokens");
  if (job->deadline != 0)
    job->deadline = now() + std::min(job->deadline, UINT64_MAX - now());
  std::lock_guard guard(lock);
  if (broken)
    return *broken;
  if (queue.size() >= options.max_queue)
    return fail(EFFC_EXHAUSTED, queue.size(), " requests wait, and ",
                options.max_queue,
                " may: submit the request again when some have ended");
  uint64_t unread = uint64_t(options.max_unread) * options.max_running;
  if (events.size() >= unread)
    return fail(EFFC_EXHAUSTED, events.size(),
                " events are unread: read them, then submit again");
  job->place.number = ++numbers;
  job->place.since = counted.steps;
  queue.push_back(job.get());
  counted.queued_most =
      std::max(counted.queued_most, static_cast<uint32_t>(queue.size()));
  jobs[numbers] = std::move(job);
  work.notify_one();
  return numbers;
}

void Scheduler::cancel(uint64_t number) {
  std::lock_guard guard(lock);
  auto found = jobs.find(number);
  if (found == jobs.end())
    return;
  found->second->isCancelled = true;
  work.notify_one();
}

Result<const effc_event_t *> Scheduler::poll(uint64_t timeout) {
  std::unique_lock guard(lock);
  if (events.empty() && timeout > 0) {
    // What a clock can hold and a wait can take: a day.
    constexpr uint64_t kMost = uint64_t(86400) * 1000000000;
    news.wait_for(guard,
                  std::chrono::nanoseconds(std::min<uint64_t>(timeout, kMost)),
                  [&] { return !events.empty() || broken; });
  }
  if (events.empty() && broken)
    return *broken;
  if (events.empty())
    return static_cast<const effc_event_t *>(nullptr);
  polled = std::move(events.front());
  events.pop_front();
  if (eventfd_t rung; events.empty() && bell >= 0)
    eventfd_read(bell, &rung);
  auto found = jobs.find(polled.shown.request);
  if (found != jobs.end()) {
    Job &job = *found->second;
    --job.unread;
    if (job.unreadSince != 0) {
      job.unreadSince = 0;
      work.notify_one();
    }
  }
  return &polled.asShown();
}

effc_scheduler_stats_t Scheduler::stats() const {
  std::lock_guard guard(lock);
  effc_scheduler_stats_t filled = counted;
  filled.queued_now = static_cast<uint32_t>(queue.size());
  filled.running_now = static_cast<uint32_t>(jobs.size() - queue.size());
  filled.reserved_bytes_now = reserved;
  filled.unread_now = events.size();
  return filled;
}

//===-- One step ----------------------------------------------------------===//

/// Why a job ends without more being computed. The lock is held.
std::optional<effc_end_t> Scheduler::isOver(Job &job, uint64_t time) {
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
      if (std::optional<effc_end_t> why = isOver(*job, time))
        over.push_back({job.get(), *why});
  }
  for (auto [job, why] : over)
    end(*job, why);
  removeEnded();
}

/// In order, while there are places and memory; nobody passes one who waits for
/// memory, which would keep large requests waiting for ever.
void Scheduler::admit() {
  std::lock_guard guard(lock);
  while (!queue.empty() && running.size() < options.max_running) {
    auto first = std::min_element(
        queue.begin(), queue.end(), [&](const Job *a, const Job *b) {
          return a->place.goesBefore(b->place, counted.steps,
                                     options.age_steps);
        });
    Job &job = **first;
    if (job.reserved > budget - reserved)
      return;
    Result<uint32_t> slot = engine->takeSlot();
    if (!slot)
      return;
    job.session.engine = engine;
    job.session.slot = *slot;
    job.phase = Job::Phase::Prompt;
    reserved += job.reserved;
    running.push_back(&job);
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
      if (job->phase == Job::Phase::Decoding && job->unreadSince == 0)
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
  if (Check error =
          engine->decodeDraw(sessions, samplers, tokens, tokens.data())) {
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
  if (Check error = engine->decode(sessions, tokens, nullptr)) {
    hit(replaying, *error);
    return true;
  }
  for (Job *job : replaying)
    if (++job->fed + 1 == job->drawn.size())
      job->phase = Job::Phase::Decoding;
  return true;
}

bool Scheduler::feedPrompts() {
  std::vector<Job *> feeding;
  bool isAlone = true; // nobody would have to wait for a long call
  for (Job *job : running)
    if (job->phase == Job::Phase::Prompt)
      feeding.push_back(job);
    else
      isAlone = false;
  if (feeding.empty())
    return false;
  std::sort(feeding.begin(), feeding.end(), [&](const Job *a, const Job *b) {
    return a->place.goesBefore(b->place, counted.steps, options.age_steps);
  });
  std::vector<Prompt> left;
  for (const Job *job : feeding)
    left.push_back({job->fed, job->prompt.size() - job->fed});
  uint64_t room = options.step_tokens;
  if (isAlone)
    room = std::max<uint64_t>(room, engine->mostPrefillRows());
  std::vector<uint64_t> lengths = shareRoom(left, room, grid);

  size_t vocabulary = model().program().vocabulary_size();
  std::vector<effc_prompt_t> prompts;
  std::vector<Job *> called;
  size_t ends = 0;
  for (size_t i = 0; i < feeding.size(); ++i)
    ends += lengths[i] == left[i].left;
  logits.resize(std::max(logits.size(), ends * vocabulary));
  float *row = logits.data();
  for (size_t i = 0; i < feeding.size(); ++i) {
    if (lengths[i] == 0)
      continue;
    Job &job = *feeding[i];
    bool isLast = lengths[i] == left[i].left;
    prompts.push_back({&job.session, job.prompt.data() + job.fed, lengths[i],
                       isLast ? EFFC_LOGITS_LAST : EFFC_LOGITS_NONE,
                       isLast ? row : nullptr, sizeof(effc_prompt_t)});
    called.push_back(&job);
    row += isLast ? vocabulary : 0;
  }
  if (Check error = engine->prefill(prompts.data(), prompts.size())) {
    hit(called, *error);
    return true;
  }
  uint64_t tokens = 0;
  for (size_t i = 0; i < called.size(); ++i) {
    tokens += prompts[i].count;
    called[i]->fed += prompts[i].count;
    if (prompts[i].out_logits)
      fedTo(*called[i], prompts[i].out_logits);
  }
  std::lock_guard guard(lock);
  counted.prompt_tokens += tokens;
  return true;
}

/// The prompt of a job has been fed, and left these logits.
void Scheduler::fedTo(Job &job, const float *row) {
  if (!job.drawn.empty()) { // it was run before
    job.fed = 0;
    job.phase =
        job.drawn.size() > 1 ? Job::Phase::Replaying : Job::Phase::Decoding;
    return;
  }
  job.phase = Job::Phase::Decoding;
  size_t vocabulary = model().program().vocabulary_size();
  DefaultFloatMode mode; // as where others draw
  int32_t token = job.sampler->sampler.draw({row, vocabulary}, scratch);
  {
    std::lock_guard guard(lock);
    uint64_t waited = counted.steps - job.place.since;
    ++counted.first_tokens;
    counted.waited_steps += waited;
    counted.waited_steps_most = std::max(counted.waited_steps_most, waited);
  }
  took(job, token);
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
  if (!spoken.end && context != 0 && job.session.position >= context)
    spoken.end = EFFC_END_CONTEXT;
  if (spoken.end) {
    Event event;
    event.shown.stop = spoken.stop;
    event.message = std::move(spoken.message);
    event.shown.end = *spoken.end;
    event.shown.kind = EFFC_EVENT_END;
    event.text = job.finishText();
    say(job, std::move(event));
  }
}

void Scheduler::end(Job &job, effc_end_t end, std::string message) {
  Event event;
  event.shown.kind = EFFC_EVENT_END;
  event.shown.end = end;
  event.message = std::move(message);
  event.text = job.finishText();
  say(job, std::move(event));
}

/// A call failed, and may have lost the sequences that it named: each is run again
/// as often as it may be.
void Scheduler::hit(std::span<Job *const> called, const Error &error) {
  for (Job *job : called) {
    if (error.code != EFFC_DEVICE_ERROR ||
        job->retries >= options.max_retries) {
      end(*job, EFFC_END_FAILED, error.message);
      continue;
    }
    ++job->retries;
    engine->reset(job->session);
    if (Check failed = job->restart()) {
      end(*job, EFFC_END_FAILED, failed->message);
      continue;
    }
    std::lock_guard guard(lock);
    ++counted.retries;
  }
}

void Scheduler::say(Job &job, Event event) {
  event.shown.size = sizeof event.shown;
  event.shown.request = job.place.number;
  event.shown.user = job.user;
  event.shown.prompt_tokens = job.prompt.size();
  event.shown.new_tokens = job.drawn.size();
  bool isEnd = event.shown.kind == EFFC_EVENT_END;
  if (!isEnd)
    event.shown.stop = -1;
  else
    event.shown.token = -1;
  job.hasEnded |= isEnd;
  if (options.on_event)
    options.on_event(options.on_event_user, &event.asShown());
  uint64_t time = now();
  std::lock_guard guard(lock);
  if (isEnd)
    ++counted.ended[event.shown.end];
  else
    ++counted.new_tokens;
  if (options.on_event)
    return;
  if (++job.unread >= options.max_unread && job.unreadSince == 0)
    job.unreadSince = std::max<uint64_t>(time, 1);
  if (events.empty() && bell >= 0)
    eventfd_write(bell, 1);
  events.push_back(std::move(event));
  news.notify_one();
}

/// Jobs that have ended give back their places.
void Scheduler::removeEnded() {
  std::lock_guard guard(lock);
  std::erase_if(running, [&](Job *job) {
    if (!job->hasEnded)
      return false;
    engine->giveSlot(job->session.slot);
    reserved -= job->reserved;
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
  bool did = decode();
  did |= replay();
  did |= feedPrompts();
  removeEnded();
  std::lock_guard guard(lock);
  ++counted.steps;
  return did;
}

//===-- A thread of its own -----------------------------------------------===//

/// Whether a step would find something to do. The lock is held.
bool Scheduler::hasWork() const {
  return std::any_of(jobs.begin(), jobs.end(), [](const auto &each) {
    return each.second->unreadSince == 0 || each.second->isCancelled;
  });
}

void Scheduler::loop() {
  while (true) {
    {
      std::unique_lock guard(lock);
      // Deadlines and readers that take too long are looked for now and then.
      constexpr auto kPatience = std::chrono::milliseconds(20);
      work.wait_for(guard, kPatience, [&] { return stopping || hasWork(); });
      if (stopping)
        return;
      if (jobs.empty())
        continue;
    }
    try {
      Result<bool> did = step();
      if (!did)
        return;
      if (!*did) // all wait for their readers
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } catch (const std::exception &error) {
      std::lock_guard guard(lock);
      broken =
          Error{EFFC_INTERNAL,
                std::string("the scheduler's thread ended: ") + error.what()};
      news.notify_all();
      return;
    }
  }
}

void Scheduler::start() {
  std::lock_guard threadGuard(threadLock);
  if (thread.joinable())
    return;
  {
    std::lock_guard guard(lock);
    stopping = false;
  }
  thread = std::thread([this] { loop(); });
}

void Scheduler::stop() {
  std::lock_guard threadGuard(threadLock);
  if (!thread.joinable())
    return;
  if (!process.isThis()) { // a forked child has no such thread
    thread.detach();
    return;
  }
  {
    std::lock_guard guard(lock);
    stopping = true;
  }
  work.notify_all();
  thread.join();
}
