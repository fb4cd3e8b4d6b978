// effc.h promises that feeding and sampling allocate nothing. This binary
// counts every `new`; the runtime's host path uses no other way to get memory.

#include "runtime/include/effc/effc.hpp"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

static std::atomic<long> allocations{0};
/// How many more succeed; negative: all do.
static std::atomic<long> left{-1};

void *operator new(size_t size) {
  ++allocations;
  if (left >= 0 && left-- == 0) {
    left = 0;
    throw std::bad_alloc();
  }
  if (void *memory = std::malloc(size ? size : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

using namespace effc;
using namespace effc::test;

TEST(Allocation, FeedingAndSamplingAllocateNothing) {
  TemporaryFile file(makeToyArtifact());
  Model model(file.path());
  Engine engine(model, Device::host(2), 3);
  std::vector<Session> sessions;
  std::vector<effc_session_t *> handles;
  std::vector<std::vector<int32_t>> tokens = {
      {1, 2, 3, 4, 5}, {6}, std::vector<int32_t>(40, 7)};
  std::vector<float> logits(3 * kToyVocabulary);
  std::vector<effc_prompt_t> prompts;
  for (size_t i = 0; i < 3; ++i) {
    sessions.emplace_back(engine);
    handles.push_back(sessions[i].get());
    prompts.push_back({handles[i], tokens[i].data(), tokens[i].size(),
                       EFFC_LOGITS_LAST, &logits[i * kToyVocabulary],
                       sizeof(effc_prompt_t)});
  }
  effc_sampler_options_t options = effc_sampler_options_default();
  options.temperature = 1;
  options.top_k = 50;
  options.top_p = 0.9f;
  options.repeat_penalty = 1.1f;
  Sampler sampler(options, model.vocabularySize());

  options.top_k = 0;
  options.top_p = options.repeat_penalty = 1;
  Sampler unfiltered(options, model.vocabularySize());
  effc_sampler_t *drawing[] = {sampler.get(), unfiltered.get(),
                               unfiltered.get()};
  int32_t next[3], several[3 * 7];
  size_t lengths[3];
  effc_steps_options_t steps = effc_steps_options_default();
  steps.end_tokens = next;
  steps.end_count = 2;

  long before = allocations;
  effc_status_t *status = effc_engine_prefill(engine.get(), prompts.data(), 3);
  for (int step = 0; step < 5 && !status; ++step) {
    for (size_t i = 0; i < 3 && !status; ++i)
      status = effc_sampler_sample(sampler.get(), &logits[i * kToyVocabulary],
                                   &next[i]);
    if (!status)
      status = effc_engine_decode(engine.get(), handles.data(), next, 3,
                                  logits.data());
  }
  for (int step = 0; step < 2 && !status; ++step)
    status =
        effc_engine_decode_best(engine.get(), handles.data(), next, 3, next);
  for (int step = 0; step < 2 && !status; ++step)
    status = effc_engine_decode_draw(engine.get(), handles.data(), drawing,
                                     next, 3, next);
  for (effc_sampler_t *const *samplers :
       {static_cast<effc_sampler_t *const *>(drawing),
        static_cast<effc_sampler_t *const *>(nullptr)})
    if (!status)
      status = effc_engine_decode_steps(engine.get(), handles.data(), samplers,
                                        next, 3, 7, &steps, several, lengths);
  long after = allocations;
  EXPECT_EQ(status, nullptr);
  EXPECT_EQ(after - before, 0);
}

// Whichever allocation fails: there is no checkpoint, or the session has not moved.
TEST(Allocation, CheckpointsThatFailChangeNothing) {
  ToyOptions keys;
  keys.withKeys = true;
  TemporaryFile file(makeToyArtifact(keys));
  Model model(file.path());
  Engine engine(model, Device::host(1), 2);
  Session session(engine), other(engine);
  std::vector<int32_t> tokens(150, 9);
  engine.prefill(session, tokens);
  engine.prefill(other, {1, 2, 3});
  effc_engine_counters_t before = engine.counters();
  effc_checkpoint_t *checkpoint = nullptr;
  effc_status_code_t code = EFFC_OUT_OF_MEMORY;
  int failures = 0;
  for (; code == EFFC_OUT_OF_MEMORY && failures < 1000; ++failures) {
    left = failures;
    effc_status_t *status =
        effc_session_checkpoint(session.get(), nullptr, &checkpoint);
    left = -1;
    code = effc_status_code(status);
    effc_status_free(status);
    ASSERT_EQ(code == EFFC_OK, checkpoint != nullptr);
  }
  ASSERT_EQ(code, EFFC_OK);
  EXPECT_GT(failures, 5);
  EXPECT_EQ(engine.counters().state_bytes_now, before.state_bytes_now);

  code = EFFC_OUT_OF_MEMORY;
  for (failures = 0; code == EFFC_OUT_OF_MEMORY && failures < 1000;
       ++failures) {
    left = failures;
    effc_status_t *status = effc_session_restore(other.get(), checkpoint);
    left = -1;
    code = effc_status_code(status);
    effc_status_free(status);
    ASSERT_EQ(other.position(), code == EFFC_OK ? 150u : 3u);
  }
  ASSERT_EQ(code, EFFC_OK);
  EXPECT_GT(failures, 1);
  EXPECT_EQ(engine.prefill(session, {5}), engine.prefill(other, {5}));
  effc_checkpoint_free(checkpoint);
}
