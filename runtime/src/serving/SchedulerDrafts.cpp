// Several tokens of a sequence in one call: a draft of how it goes on is fed at once,
// and each token is drawn from the logits before it, as it would be one by one. What
// was drawn otherwise ends the draft, and the sequence goes back behind the last token
// that was right.

#include "runtime/src/serving/Scheduler.h"
#include "runtime/src/serving/SchedulerFed.h"
#include "runtime/src/system/FloatMode.h"

#include <algorithm>

using namespace effc::rt;

/// Logits of all tokens that a step drafts take so much at most.
static constexpr uint64_t kMostLogitBytes = uint64_t(64) << 20;

std::string Scheduler::whyNoDrafts(const Engine &engine) {
  if (exactnessOf(engine.model().program(), engine.plan()).kind !=
      Exactness::Kind::Anywhere)
    return "the file's code for " + std::string(engine.plan().name) +
           " may give other bits for several tokens of a call than for one "
           "after another";
  return "";
}

/// Of one sequence, where so many are left: what a call feeds has to be such that it can
/// be taken back.
uint64_t Scheduler::rowsToFeed(uint64_t rowsLeft) const {
  return std::min(rowsLeft, engine->copyLayout().mostTakenBack());
}

/// Of sequences that draft. Those that have no draft now are left to decode(), but for
/// tokens of theirs that have to be fed again.
bool Scheduler::decodeDrafts() {
  uint64_t vocabulary = model().program().vocabulary_size();
  uint64_t rowsLeft =
      std::max<uint64_t>(kMostLogitBytes / (4 * vocabulary), 32);
  std::vector<Job *> drafting;
  {
    std::lock_guard guard(lock);
    for (Job *job : running)
      if (job->phase == Job::Phase::Decoding && job->unreadSince == 0 &&
          job->drafts)
        drafting.push_back(job);
  }
  std::vector<Fed> all(drafting.size());
  std::vector<Fed *> without;
  for (size_t i = 0; i < drafting.size(); ++i) {
    Fed &fed = all[i];
    Job *job = fed.job = drafting[i];
    uint64_t position = job->session.position, size = job->prompt.size();
    fed.tokens.assign(job->drawn.begin() + ptrdiff_t(position - size),
                      job->drawn.end());
    // Each token fed needs room for one that is drawn behind it.
    fed.room = job->maxTokens - job->drawn.size() - 1;
    if (uint64_t context = model().program().max_context())
      fed.room = std::min(fed.room, context - position - fed.tokens.size());
    uint64_t rows = rowsToFeed(rowsLeft);
    if (fed.tokens.size() < rows) {
      std::vector<int32_t> draft =
          job->drafts->next(std::min(fed.room, rows - fed.tokens.size()));
      fed.drafted = draft.size();
      fed.tokens.insert(fed.tokens.end(), draft.begin(), draft.end());
    }
    if (fed.drafted == 0 && job->follower)
      without.push_back(&fed);
    if (fed.tokens.size() > 1)
      rowsLeft -= std::min<uint64_t>(rowsLeft, fed.tokens.size());
  }
  guess(without, rowsLeft);
  for (const Fed &fed : all)
    fed.job->isDrafted = fed.tokens.size() > 1;
  std::erase_if(all, [](const Fed &fed) { return !fed.job->isDrafted; });
  if (all.empty())
    return false;
  feedDrafts(all);
  return true;
}

/// Feeds them all in one call, and draws as far as the drafts are right.
void Scheduler::feedDrafts(std::vector<Fed> &all) {
  uint64_t vocabulary = model().program().vocabulary_size();
  std::vector<effc_prompt_t> prompts;
  std::vector<Job *> called;
  uint64_t rows = 0;
  for (Fed &fed : all) {
    fed.mark.position = fed.job->session.position;
    rows += fed.tokens.size();
    called.push_back(fed.job);
    if (fed.drafted == 0)
      continue;
    auto mark = engine->mark(fed.job->session, fed.tokens.size());
    if (!mark) {
      hit({&fed.job, 1}, mark.error());
      return; // the others are fed in the next step
    }
    fed.mark = std::move(*mark);
  }
  logits.resize(std::max<size_t>(logits.size(), rows * vocabulary));
  float *row = logits.data();
  for (const Fed &fed : all) {
    prompts.push_back({&fed.job->session, fed.tokens.data(), fed.tokens.size(),
                       EFFC_LOGITS_ALL, row, sizeof(effc_prompt_t)});
    row += fed.tokens.size() * vocabulary;
  }
  if (Check error = measured(CallKind::Decode, rows, [&] {
        return engine->prefill(prompts.data(), prompts.size());
      })) {
    hit(called, *error);
    return;
  }
  for (size_t i = 0; i < all.size(); ++i)
    drawDrafted(all[i], prompts[i].out_logits);
}

void Scheduler::drawDrafted(Fed &fed, const float *row) {
  Job &job = *fed.job;
  uint64_t vocabulary = model().program().vocabulary_size();
  size_t certain = fed.tokens.size() - fed.drafted, right = 0;
  row += (certain - 1) * vocabulary;
  job.drafted += fed.drafted;
  while (!job.hasEnded) {
    DefaultFloatMode mode; // as where others draw
    int32_t token = job.sampler->sampler.draw({row, vocabulary}, scratch);
    bool isRight = right < fed.drafted && token == fed.tokens[certain + right];
    job.accepted += isRight;
    right += isRight;
    took(job, token);
    row += vocabulary;
    if (!isRight)
      break;
  }
  if (fed.drafted == 0)
    return;
  if (!fed.isGuessed)
    job.drafts->learn(fed.drafted, right);
  else if (job.follower)
    job.follower->length.learn(fed.drafted, right);
  {
    std::lock_guard guard(lock);
    ++counted.drafts;
    counted.drafted_tokens += fed.drafted;
    counted.accepted_tokens += right;
    if (fed.isGuessed) {
      ++counted.model_drafts;
      counted.model_drafted_tokens += fed.drafted;
      counted.model_accepted_tokens += right;
    }
  }
  // Where nothing is fixed, rows behind the position count for nothing, and windows get
  // back what was replaced. Else it goes back to before the call, and what was right is
  // fed once more with the next draft.
  if (right == fed.drafted)
    return;
  if (Check error = engine->rewind(job.session, fed.mark, certain + right);
      error && !job.hasEnded)
    hit({&fed.job, 1}, *error);
}
