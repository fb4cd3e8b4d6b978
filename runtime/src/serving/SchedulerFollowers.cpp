// Where the scheduler meets the model that guesses: sequences of it follow those
// requests that draft, as long as there is room.

#include "runtime/src/serving/SchedulerFed.h"

#include <algorithm>

using namespace effc::rt;

Check Scheduler::checkDrafting(const Engine &drafting, const Engine &engine,
                               const effc_scheduler_options_t &options) {
  if (options.draft_model_tokens == 0 ||
      options.draft_model_tokens > EFFC_DRAFT_MOST)
    return invalidArgument("'draft_model_tokens' is ",
                           options.draft_model_tokens, ", but 1 to ",
                           EFFC_DRAFT_MOST, " are possible");
  if (std::string why = whyNoDrafts(engine); !why.empty())
    return fail(EFFC_UNSUPPORTED, "'draft_engine' is set, but ", why);
  return DraftModel::fits(drafting, engine);
}

/// Of those that draft, each gets a sequence that follows it, if there is room.
void Scheduler::giveFollowers(std::span<Job *const> choices) {
  for (Job *job : choices) {
    if (!drafter || !job->drafts)
      continue;
    uint64_t bytes = drafter->bytesOf(job->mostTokens());
    if (bytes > budget - reserved)
      return;
    job->follower = drafter->follow(bytes);
    if (!job->follower)
      return;
    reserved += bytes;
  }
}

/// The lock is held.
void Scheduler::dropFollower(Job &job) {
  drafter->leave(*job.follower);
  reserved -= job.follower->reserved;
  job.follower.reset();
}

/// Counts what the drafter took. Where a call failed, sequences that are lost are given
/// up, or all where it is not the device that refused.
bool Scheduler::countGuessing(uint64_t start, const Check &error,
                              std::span<Job *const> called) {
  uint64_t took = now() - start;
  std::lock_guard guard(lock);
  counted.draft_ns += took;
  if (!error)
    return true;
  ++counted.draft_failures;
  for (Job *job : called)
    if (job->follower &&
        (job->follower->session.lost || error->code != EFFC_DEVICE_ERROR))
      dropFollower(*job);
  return false;
}

static DraftModel::Text textOf(Job &job) {
  return {&*job.follower, job.prompt, job.drawn, &job.sampler->sampler};
}

/// Feeds prompts to the drafter beside the model, and what else is far ahead of it.
bool Scheduler::readAhead() {
  if (!drafter)
    return false;
  std::vector<DraftModel::Text> prompts, others;
  std::vector<Job *> called;
  for (Job *job : running) {
    if (!job->follower || job->phase == Job::Phase::Waiting)
      continue;
    bool isPrompt = job->phase == Job::Phase::Prompt;
    (isPrompt ? prompts : others).push_back(textOf(*job));
    called.push_back(job);
  }
  uint64_t room = options.step_tokens, start = now();
  if (running.size() == 1)
    room = std::max<uint64_t>(room, drafter->mostRows());
  bool did = false;
  Check error;
  for (auto [texts, all] :
       {std::pair(&others, false), std::pair(&prompts, true)}) {
    auto read = drafter->read(*texts, room, all);
    if (!read) {
      error = read.error();
      break;
    }
    did |= *read;
  }
  countGuessing(start, error, called);
  return did;
}

/// Has the drafter guess for those that are without a draft.
void Scheduler::guess(std::span<Fed *const> all, uint64_t rowsLeft) {
  std::vector<DraftModel::Text> texts;
  std::vector<Fed *> guessed;
  std::vector<Job *> called;
  for (Fed *fed : all) {
    DraftLength &length = fed->job->follower->length;
    uint64_t rows = rowsToFeed(rowsLeft);
    if (fed->room == 0 || fed->tokens.size() >= rows || length.pauses())
      continue;
    DraftModel::Text text = textOf(*fed->job);
    text.most = std::min({length.now(), fed->room, rows - fed->tokens.size(),
                          uint64_t(fed->job->draftTokens)});
    rowsLeft -= fed->tokens.size() + text.most;
    texts.push_back(std::move(text));
    guessed.push_back(fed);
    called.push_back(fed->job);
  }
  if (texts.empty())
    return;
  uint64_t start = now();
  if (!countGuessing(start, drafter->guess(texts), called))
    return;
  for (size_t i = 0; i < texts.size(); ++i) {
    Fed &fed = *guessed[i];
    const std::vector<int32_t> &draft = texts[i].guesses;
    fed.drafted = draft.size();
    fed.isGuessed = true;
    fed.tokens.insert(fed.tokens.end(), draft.begin(), draft.end());
  }
}

/// The prompt that two choices share is read once.
void Scheduler::copyFollower(Job &from, Job &to) {
  if (!from.follower || !to.follower)
    return;
  Job *both[] = {&from, &to};
  uint64_t start = now();
  countGuessing(start, drafter->copy(textOf(from), *to.follower), both);
}
