// What sequences cost: the memory of the tokens that they hold, not that of
// their context. Measured as the pages of the process that no file backs.

#include "runtime/include/effc/effc.hpp"
#include "runtime/src/system/SystemMemory.h"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "test/unit/runtime/toy/ToyOnDevice.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace effc;
using namespace effc::test;

/// A token holds a row of each; a slot has room for 8.5 MiB.
static constexpr uint64_t kToken = 2 * kToyRowBytes;
/// What the test and the allocator do meanwhile, and pages that are begun.
static constexpr uint64_t kSlack = uint64_t(4) << 20;

namespace {
/// A toy that keeps keys, on the host.
struct Toy {
  explicit Toy(uint32_t sessions)
      : file(makeToyArtifact(options())), model(file.path()),
        engine(model, Device::host(1), sessions) {}
  static ToyOptions options() {
    ToyOptions options;
    options.withKeys = true;
    return options;
  }
  TemporaryFile file;
  Model model;
  Engine engine;
};
} // namespace

/// Bytes of anonymous memory that are committed now.
static uint64_t committed() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    uint64_t kilobytes = 0;
    if (words >> name >> kilobytes && name == "Anonymous:")
      return kilobytes << 10;
  }
  ADD_FAILURE() << "the system does not say";
  return 0;
}

static uint64_t growth(uint64_t from) {
  uint64_t now = committed();
  return now > from ? now - from : 0;
}

static std::vector<float> lastRow(const std::vector<int32_t> &tokens) {
  std::vector<float> all = ToyReference().feed(tokens);
  return {all.end() - kToyVocabulary, all.end()};
}

TEST(Memory, IsDescribed) {
  Toy toy(1);
  effc_memory_t memory = toy.model.memory();
  EXPECT_EQ(memory.per_session, kToyKeysSlotBytes);
  EXPECT_EQ(memory.fixed_per_session, 16u + 8);
  EXPECT_EQ(memory.per_token, kToken);
}

TEST(Memory, AForkCostsWhatIsHeld) {
  constexpr size_t kForks = 32;
  const std::vector<int32_t> tokens = toyTokens(30);
  // Before memory is looked at: sanitizers keep for a while what is freed.
  const std::vector<float> expected = lastRow(tokens);
  Toy toy(kForks + 1);
  uint64_t before = committed();
  Session session(toy.engine);
  toy.engine.prefill(session, {tokens.begin(), tokens.begin() + 20});
  std::vector<Session> forks;
  for (size_t i = 0; i < kForks; ++i)
    forks.push_back(session.fork());
  // 11 MiB; rooms would be 281.
  EXPECT_LT(growth(before), (kForks + 1) * (20 * kToken + 8192) + kSlack);
  for (Session &fork : forks)
    EXPECT_EQ(toy.engine.prefill(fork, {tokens.begin() + 20, tokens.end()}),
              expected);
  EXPECT_LT(growth(before), (kForks + 1) * (30 * kToken + 8192) + kSlack);
}

// A window that has wrapped around is held as a whole.
TEST(Memory, AForkOfALongSequenceGoesOn) {
  const std::vector<int32_t> tokens = toyTokens(150);
  Toy toy(2);
  Session session(toy.engine);
  toy.engine.prefill(session, {tokens.begin(), tokens.begin() + 140});
  Session fork = session.fork();
  EXPECT_EQ(toy.engine.prefill(fork, {tokens.begin() + 140, tokens.end()}),
            lastRow(tokens));
  EXPECT_EQ(toy.engine.prefill(session, {tokens.begin() + 140, tokens.end()}),
            lastRow(tokens));
}

TEST(Memory, AClosedSequenceGivesItsPagesBack) {
  const std::vector<int32_t> tokens = toyTokens(600);
  const uint64_t held = 600 * kToyRowBytes + kToyWindow * kToyRowBytes;
  const std::vector<float> expected = lastRow(tokens); // as above
  Toy toy(1);
  uint64_t before = committed();
  {
    Session session(toy.engine);
    EXPECT_EQ(toy.engine.prefill(session, tokens), expected);
    EXPECT_GT(growth(before), held - kSlack / 8);
  }
  EXPECT_LT(growth(before), kSlack / 2);
  Session next(toy.engine);
  EXPECT_EQ(toy.engine.prefill(next, tokens), expected);
  EXPECT_GT(growth(before), held - kSlack / 8);
  next.reset();
  EXPECT_LT(growth(before), kSlack / 2);
  EXPECT_EQ(toy.engine.prefill(next, tokens), expected);
}

TEST(Memory, AShorterSequenceTakesThePlaceOfALongOne) {
  const std::vector<int32_t> tokens = toyTokens(700);
  const std::vector<int32_t> five(tokens.begin(), tokens.begin() + 5);
  std::vector<int32_t> six = five;
  six.push_back(9);
  Toy toy(2);
  uint64_t before = committed();
  Session brief(toy.engine), session(toy.engine);
  toy.engine.prefill(brief, five);
  toy.engine.prefill(session, tokens);
  session.assign(brief);
  EXPECT_LT(growth(before), kSlack);
  EXPECT_EQ(toy.engine.decode({session.get()}, {9}), lastRow(six));
  session.reset();
  toy.engine.prefill(session, tokens);
  EXPECT_GT(growth(before), kSlack);
  session.loadBytes(brief.save());
  EXPECT_LT(growth(before), kSlack);
  EXPECT_EQ(toy.engine.decode({session.get()}, {9}), lastRow(six));
}

TEST(Memory, ASaveCostsWhatIsHeld) {
  const std::vector<int32_t> tokens = toyTokens(12);
  Toy toy(1);
  Session session(toy.engine);
  toy.engine.prefill(session, {tokens.begin(), tokens.begin() + 11});
  std::string bytes = session.save();
  // Header, descriptors, ranges and gaps; the states.
  EXPECT_LT(bytes.size(), 512 + 11 * kToken);
  EXPECT_GT(bytes.size(), 11 * kToken);
  session.reset();
  session.loadBytes(bytes);
  EXPECT_EQ(toy.engine.decode({session.get()}, {tokens[11]}), lastRow(tokens));
}

// More room than the machine has memory: sequences may be open all the same, but
// not be filled beyond it.
TEST(Memory, WhatCannotFitIsRefusedBeforeItRuns) {
  auto sessions = static_cast<uint32_t>(
      std::min<uint64_t>(rt::systemMemory() / kToyKeysSlotBytes + 9, 1 << 20));
  Toy toy(sessions);
  const std::vector<int32_t> tokens(kToyContext, 3);
  std::vector<Session> open;
  std::vector<effc_prompt_t> prompts;
  for (uint32_t i = 0; i < sessions; ++i) {
    open.emplace_back(toy.engine);
    prompts.push_back({open[i].get(), tokens.data(), tokens.size(),
                       EFFC_LOGITS_NONE, nullptr, sizeof(effc_prompt_t)});
  }
  uint64_t before = committed();
  std::string message =
      messageOf([&] { toy.engine.prefill(prompts); }, EFFC_OUT_OF_MEMORY);
  uint64_t needed = sessions * (24 + (kToyContext + kToyWindow) * kToyRowBytes);
  EXPECT_EQ(message.find("the call takes " + std::to_string(needed) +
                         " bytes more for states, but of "),
            0u)
      << message;
  EXPECT_NE(message.find(" bytes that the system has for them 0 are in use"),
            std::string::npos)
      << message;
  EXPECT_LT(growth(before), kSlack);
  EXPECT_EQ(open[0].position(), 0u);
  EXPECT_EQ(toy.engine.decode({open[0].get()}, {3}), lastRow({3}));
}

TEST(Memory, ASequenceSaysWhatItCanTake) {
  Toy toy(1);
  Session session(toy.engine);
  toy.engine.prefill(session, toyTokens(5));
  session.requireAccepts(kToyContext - 5);
  EXPECT_EQ(messageOf([&] { session.requireAccepts(kToyContext - 4); },
                      EFFC_EXHAUSTED),
            "the sequence would take 1020 tokens from position 5 on, but the "
            "model's context has 1024: 1019 more fit");
  EXPECT_EQ(messageOf([&] { session.requireAccepts(SIZE_MAX); }, EFFC_EXHAUSTED)
                .find("the sequence would take 18446744073709551615 tokens"),
            0u);
}
