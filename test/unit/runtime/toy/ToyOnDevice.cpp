#include "test/unit/runtime/toy/ToyOnDevice.h"

#include "test/unit/runtime/toy/ToyArtifact.h"

#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;

std::vector<int32_t> effc::test::toyTokens(size_t count) {
  std::vector<int32_t> tokens;
  for (size_t i = 0; i < count; ++i)
    tokens.push_back(static_cast<int32_t>(i * 37 % 250));
  return tokens;
}

void effc::test::expectToyRuns(const Model &model, const Device &device) {
  const std::vector<int32_t> tokens = toyTokens(41);
  const std::vector<float> expected = ToyReference().feed(tokens);
  Engine engine(model, device, 3);
  Session session(engine);
  EXPECT_EQ(engine.prefill(session, tokens, EFFC_LOGITS_ALL), expected);
  Session steps(engine), other(engine);
  std::vector<float> all;
  for (int32_t token : tokens) {
    std::vector<float> two =
        engine.decode({steps.get(), other.get()}, {token, 7});
    all.insert(all.end(), two.begin(), two.begin() + kToyVocabulary);
  }
  EXPECT_EQ(all, expected);
}

void effc::test::expectToyStatesMove(const Model &model, const Device &device) {
  const std::vector<int32_t> tokens = toyTokens(20);
  const std::vector<float> expected = ToyReference().feed(tokens);
  Engine engine(model, device, 2), host(model, Device::host(1));
  Session here(engine), there(host);
  engine.prefill(here, {tokens.begin(), tokens.begin() + 9});
  there.loadBytes(here.save());
  host.prefill(there, {tokens.begin() + 9, tokens.begin() + 15});
  here.loadBytes(there.save());
  // By checkpoints, too.
  Checkpoint saved(here);
  there.restore(saved);
  EXPECT_EQ(
      host.prefill(there, {tokens.begin() + 15, tokens.end()}),
      std::vector<float>(expected.end() - kToyVocabulary, expected.end()));
  here.reset();
  here.restore(saved);
  Session fork = here.fork();
  EXPECT_EQ(
      engine.prefill(fork, {tokens.begin() + 15, tokens.end()}),
      std::vector<float>(expected.end() - kToyVocabulary, expected.end()));
}

std::string effc::test::messageOf(const std::function<void()> &action,
                                  effc_status_code_t code) {
  try {
    action();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "nothing is wrong";
}
