// Texts of models with windows that come several tokens a call are, token for token,
// those that come one by one: recorded checkpoints, compiled, of windows alone, of windows
// beside states of a fixed size, and beside first tokens that stay. Texts go round every
// window several times; at a high temperature most drafts are wrong.
#include "test/e2e/FamilyFile.h"
#include "test/e2e/TemporaryFolder.h"

#include "runtime/include/effc/effc.hpp"

#include <gtest/gtest.h>
#include <ostream>

using namespace effc::test;

namespace {

struct Case {
  const char *name, *model;
  std::vector<std::string> options;
};

void PrintTo(const Case &given, std::ostream *out) { *out << given.name; }

class DraftedWindows : public testing::TestWithParam<Case> {};

// Rings have a power of two of rows: with a window of 32 none is to spare.
const Case kCases[] = {
    {"WindowsAlone", "llama/llama3_scaling", {"--window", "32"}},
    {"FirstTokensStay",
     "llama/llama3_scaling",
     {"--window", "32", "--sinks", "2"}},
    {"BesideFixedStates", "recurrent_gemma/plain", {}}};

struct Text {
  std::vector<int32_t> tokens;
  uint64_t drafted, accepted;
};

Text textOf(const effc::Model &model, float temperature, uint64_t seed,
            uint32_t drafts) {
  effc::Engine engine(model, effc::Device::host(1), 1);
  effc::Scheduler scheduler(engine, effc_scheduler_options_default());
  std::vector<int32_t> prompt;
  for (int i = 0; i < 24; ++i)
    prompt.push_back(3 + i % 6);
  effc_sampler_options_t sampling = effc_sampler_options_default();
  sampling.temperature = temperature;
  sampling.seed = seed;
  sampling.top_k = temperature > 0 ? 3 : 0; // what followed comes again
  effc_request_t request = effc_request_default();
  request.tokens = prompt.data();
  request.token_count = prompt.size();
  request.sampling = &sampling;
  request.max_tokens = 150;
  request.ignore_end = true;
  request.draft_tokens = drafts;
  scheduler.submit(request);
  Text text = {};
  while (true) {
    scheduler.step();
    for (effc_event_t event = scheduler.poll(); event.kind != EFFC_EVENT_NONE;
         event = scheduler.poll()) {
      if (event.kind == EFFC_EVENT_TOKEN)
        text.tokens.push_back(event.token);
      if (event.kind != EFFC_EVENT_END)
        continue;
      EXPECT_EQ(event.end, EFFC_END_LENGTH) << event.message;
      text.drafted = event.drafted_tokens;
      text.accepted = event.accepted_tokens;
      return text;
    }
  }
}

} // namespace

TEST_P(DraftedWindows, AreThoseOfPlainDecoding) {
  TemporaryFolder folder;
  Finished done = compileSmallFamily(GetParam().model, folder.at("model.effc"),
                                     GetParam().options);
  ASSERT_EQ(done.status, 0) << done.err;
  effc::Model model(folder.at("model.effc"));
  uint64_t accepted = 0, wrong = 0;
  for (float temperature : {0.0f, 0.7f, 3.0f})
    for (uint64_t seed = 0; seed < 4; ++seed) {
      Text plain = textOf(model, temperature, seed, 0);
      ASSERT_EQ(plain.tokens.size(), 150u);
      for (uint32_t drafts : {3u, 12u, 64u}) {
        Text drafted = textOf(model, temperature, seed, drafts);
        ASSERT_EQ(drafted.tokens, plain.tokens)
            << "temperature " << temperature << ", seed " << seed << ", "
            << drafts << " tokens a draft";
        accepted += drafted.accepted;
        wrong += drafted.drafted - drafted.accepted;
      }
    }
  EXPECT_GT(accepted, 10u);
  EXPECT_GT(wrong, 100u);
}

INSTANTIATE_TEST_SUITE_P(Models, DraftedWindows, testing::ValuesIn(kCases),
                         [](const auto &info) { return info.param.name; });
