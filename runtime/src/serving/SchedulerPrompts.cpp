// Prompts of the scheduler's requests: pieces of them go into one call, and what the
// call says is told, drawn from, and kept.

#include "runtime/src/serving/Scheduler.h"
#include "runtime/src/system/FloatMode.h"

#include <algorithm>
#include <utility>

using namespace effc::rt;

static bool isScored(const Job *job) { return job->promptLogprobs > 0; }

bool Scheduler::feedPrompts() {
  std::vector<Job *> feeding;
  bool isAlone = true; // nobody would have to wait for a long call
  for (Job *job : running)
    if (job->phase == Job::Phase::Prompt)
      feeding.push_back(job);
    else if (job->phase != Job::Phase::Waiting)
      isAlone = false;
  if (feeding.empty())
    return false;
  std::sort(feeding.begin(), feeding.end(), [&](const Job *a, const Job *b) {
    return a->place.goesBefore(b->place, counted.steps, options.age_steps);
  });
  goOnFromCache(feeding);
  std::erase_if(feeding, [](const Job *job) { return job->hasEnded; });
  if (feeding.empty())
    return true;
  std::vector<Prompt> left;
  for (const Job *job : feeding)
    left.push_back(
        {job->fed, job->prompt.size() - job->fed, job->nextStop() - job->fed});
  size_t vocabulary = model().program().vocabulary_size();
  uint64_t room = options.step_tokens;
  if (isAlone)
    room = std::max<uint64_t>(room, engine->mostPrefillRows());
  if (std::ranges::any_of(feeding, isScored)) {
    // All rows of logits are looked at, and what they take is bounded.
    constexpr uint64_t kMostBytes = uint64_t(64) << 20;
    room = std::clamp<uint64_t>(kMostBytes / (vocabulary * sizeof(float)), 1,
                                room);
  }
  std::vector<uint64_t> lengths = shareRoom(left, room, grid);

  std::vector<effc_prompt_t> prompts;
  std::vector<Job *> called;
  size_t ends = 0;
  for (size_t i = 0; i < feeding.size(); ++i)
    ends += isScored(feeding[i]) ? lengths[i] : lengths[i] == left[i].left;
  logits.resize(std::max(logits.size(), ends * vocabulary));
  float *row = logits.data();
  for (size_t i = 0; i < feeding.size(); ++i) {
    if (lengths[i] == 0)
      continue;
    Job &job = *feeding[i];
    countCached(job);
    uint64_t rows = lengths[i] == left[i].left ? 1 : 0;
    effc_wanted_t wanted = rows > 0 ? EFFC_LOGITS_LAST : EFFC_LOGITS_NONE;
    if (isScored(&job)) {
      rows = lengths[i];
      wanted = EFFC_LOGITS_ALL;
    }
    prompts.push_back({&job.session, job.prompt.data() + job.fed, lengths[i],
                       wanted, rows > 0 ? row : nullptr,
                       sizeof(effc_prompt_t)});
    called.push_back(&job);
    row += rows * vocabulary;
  }
  uint64_t tokens = 0;
  for (const effc_prompt_t &prompt : prompts)
    tokens += prompt.count;
  if (Check error = measured(CallKind::Prompt, tokens, [&] {
        return engine->prefill(prompts.data(), prompts.size());
      })) {
    hit(called, *error);
    return true;
  }
  for (size_t i = 0; i < called.size(); ++i) {
    const float *last = prompts[i].out_logits;
    if (prompts[i].wanted == EFFC_LOGITS_ALL) {
      if (!tellScores(*called[i], {last, prompts[i].count * vocabulary}))
        continue;
      last += (prompts[i].count - 1) * vocabulary;
    }
    called[i]->fed += prompts[i].count;
    if (called[i]->fed == called[i]->prompt.size())
      fedTo(*called[i], last);
  }
  tell();
  for (Job *job : called)
    if (!job->hasFailed)
      keepAtStop(*job);
  return true;
}

/// What the model said of tokens of a prompt. False where it said nothing that is
/// a number, and the job has ended.
bool Scheduler::tellScores(Job &job, std::span<const float> rows) {
  DefaultFloatMode mode; // as where tokens are drawn
  Scored scored = job.score(rows, scratch);
  if (scored.count > 0) {
    Event event;
    event.shown.kind = EFFC_EVENT_PROMPT;
    event.shown.prompt_begin = scored.begin;
    event.shown.prompt_count = scored.count;
    event.logprobs = std::move(scored.logprobs);
    say(job, std::move(event));
  }
  if (scored.isWhole)
    return true;
  Error error{EFFC_BAD_DATA,
              "nothing can be said of the prompt: a logit is not "
              "a number, or all are minus infinity"};
  Job *failed = &job;
  hit({&failed, 1}, error);
  return false;
}

/// The prompt of a job has been fed, and left these logits.
void Scheduler::fedTo(Job &job, const float *row) {
  if (!job.drawn.empty()) { // it was run before
    job.fed = 0;
    job.phase =
        job.drawn.size() > 1 ? Job::Phase::Replaying : Job::Phase::Decoding;
    return;
  }
  for (Job *other : std::exchange(job.others, {})) {
    other->cached = job.cached;
    if (Check error = engine->copy(job.session, other->session)) {
      hit({&other, 1}, *error); // it is fed its prompt by itself
      continue;
    }
    copyFollower(job, *other);
    drawFirst(*other, row);
  }
  drawFirst(job, row);
}

void Scheduler::drawFirst(Job &job, const float *row) {
  if (job.maxTokens == 0) // only its prompt was asked about
    return end(job, EFFC_END_LENGTH);
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
