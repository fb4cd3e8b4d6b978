// What an engine counts, of a toy with prefill entries of 4 and 16 rows on chunks
// of 4 and decode entries of 1, 2 and 4: which calls a prompt takes follows from
// Packing.h.

#include "runtime/include/effc/effc.hpp"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <chrono>
#include <cstring>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;
using Tokens = std::vector<int32_t>;

namespace {
struct Toy {
  explicit Toy(uint32_t sessions, const ToyOptions &options = {})
      : file(makeToyArtifact(options)), model(file.path()),
        engine(model, Device::host(1), sessions) {}
  effc_entry_counters_t entry(const std::string &name) const {
    for (const effc_entry_counters_t &entry : engine.entryCounters())
      if (name == entry.name)
        return entry;
    ADD_FAILURE() << "no entry " << name;
    return {};
  }
  TemporaryFile file;
  Model model;
  Engine engine;
};
} // namespace

static std::vector<uint64_t> workOf(const effc_entry_counters_t &entry) {
  return {entry.calls, entry.tokens, entry.outputs};
}
using Work = std::vector<uint64_t>;

TEST(Counters, SayWhichEntriesRanAndHowFull) {
  Toy toy(3);
  Session a(toy.engine), b(toy.engine), c(toy.engine);
  // 16 and then 3 of 19 tokens; of all of them logits are wanted.
  toy.engine.prefill(a, Tokens(19, 5), EFFC_LOGITS_ALL);
  toy.engine.prefill(b, Tokens(7, 6)); // one call of 16 rows, one output
  toy.engine.prefill(c, Tokens(3, 7));
  toy.engine.decode({a.get(), b.get(), c.get()}, {1, 2, 3}); // of four
  toy.engine.decodeBest({a.get(), b.get()}, {1, 2});
  toy.engine.decode({c.get()}, {4});
  EXPECT_EQ(workOf(toy.entry("prefill_16")), (Work{2, 23, 17}));
  EXPECT_EQ(workOf(toy.entry("prefill_4")), (Work{2, 6, 4}));
  EXPECT_EQ(workOf(toy.entry("decode_4")), (Work{1, 3, 3}));
  EXPECT_EQ(workOf(toy.entry("decode_2")), (Work{1, 2, 2}));
  EXPECT_EQ(workOf(toy.entry("decode_1")), (Work{1, 1, 1}));
  EXPECT_EQ(toy.entry("decode_2").rows, 2u);
  EXPECT_EQ(toy.entry("decode_2").kind, EFFC_DECODE);
  EXPECT_EQ(toy.entry("prefill_16").kind, EFFC_PREFILL);
  effc_engine_counters_t all = toy.engine.counters();
  EXPECT_EQ(all.calls, 7u);
  EXPECT_EQ(all.prefill_tokens, 29u);
  EXPECT_EQ(all.decode_tokens, 6u);
}

TEST(Counters, DoNotCountWhatWasRefused) {
  Toy toy(1);
  Session session(toy.engine);
  EXPECT_THROW(toy.engine.prefill(session, {1, 271}), Error);
  EXPECT_EQ(toy.engine.counters().calls, 0u);
  EXPECT_EQ(toy.engine.counters().state_bytes_now, 0u);
}

// Time in calls is less than the time around them, and more than none.
TEST(Counters, KeepTheTimeOfCalls) {
  Toy toy(1);
  Session session(toy.engine);
  auto begin = std::chrono::steady_clock::now();
  toy.engine.prefill(session, Tokens(4000, 9));
  toy.engine.decodeBest({session.get()}, {1});
  double around =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  effc_engine_counters_t counters = toy.engine.counters();
  EXPECT_GT(toy.entry("prefill_16").seconds, 0);
  EXPECT_GT(toy.entry("decode_1").seconds, 0);
  EXPECT_EQ(toy.entry("decode_4").seconds, 0);
  EXPECT_GT(counters.choice_seconds, 0);
  EXPECT_LT(counters.seconds + counters.choice_seconds, around);
}

// A toy with keys keeps four f32 sums and an i64, a row for each token, and another
// for each of the last 64 tokens.
TEST(Counters, FollowSessionsAndWhatTheyHold) {
  ToyOptions options;
  options.withKeys = true;
  Toy toy(3, options);
  uint64_t held = 4 * 4 + 8 + (200 + kToyWindow) * kToyRowBytes;
  {
    Session session(toy.engine);
    toy.engine.prefill(session, Tokens(200, 3));
    EXPECT_EQ(toy.engine.counters().state_bytes_now, held);
    Session fork = session.fork();
    EXPECT_EQ(toy.engine.counters().sessions_now, 2u);
    EXPECT_EQ(toy.engine.counters().state_bytes_now, 2 * held);
    EXPECT_EQ(toy.engine.counters().copies, 1u);
    EXPECT_EQ(toy.engine.counters().copied_bytes, held);
    fork.loadBytes(session.save());
    session.assign(fork);
    EXPECT_EQ(toy.engine.counters().copies, 4u);
    EXPECT_EQ(toy.engine.counters().copied_bytes, 4 * held);
  }
  effc_engine_counters_t counters = toy.engine.counters();
  EXPECT_EQ(counters.sessions_now, 0u);
  EXPECT_EQ(counters.sessions_most, 2u);
  EXPECT_EQ(counters.state_bytes_now, 0u);
  EXPECT_EQ(counters.state_bytes_most, 2 * held);
}

TEST(Counters, FillStructsOfOlderHeaders) {
  Toy toy(1);
  Session session(toy.engine);
  toy.engine.decode({session.get()}, {1});
  effc_engine_counters_t counters;
  std::memset(&counters, 0x55, sizeof counters);
  counters.size = offsetof(effc_engine_counters_t, decode_tokens);
  effc_engine_counters(toy.engine.get(), &counters);
  EXPECT_EQ(counters.calls, 1u);
  EXPECT_EQ(counters.decode_tokens, 0x5555555555555555u);
}

TEST(Counters, NameAnEntryThatIsNotThere) {
  Toy toy(1);
  effc_entry_counters_t counters = {};
  counters.size = sizeof counters;
  effc_status_t *status =
      effc_engine_entry_counters(toy.engine.get(), 5, &counters);
  EXPECT_STREQ(effc_status_message(status), "entry 5 of 5 is asked for");
  effc_status_free(status);
}
