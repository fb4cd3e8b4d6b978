// Hits and misses are told per request, and counted by reason.

#include "test/unit/runtime/serving/CachedToy.h"
#include "test/unit/runtime/toy/ToyOnDevice.h"

using namespace effc;
using namespace effc::test;
using Tokens = std::vector<int32_t>;

static void noRead(effc_request_t &request) {
  request.cache_flags = EFFC_CACHE_NO_READ;
}
static void noWrite(effc_request_t &request) {
  request.cache_flags = EFFC_CACHE_NO_WRITE;
}
static void salted(effc_request_t &request) { request.salt = "tenant"; }

// Nothing was found, and nobody said so (vllm#51198, #51250).
TEST(CacheReasons, EachPromptHasOne) {
  CachedToy toy(ToyStates::Fixed);
  Asked asked = askedOf(textOf(60, 1));
  EXPECT_EQ(toy.serve(asked, noWrite).cache_miss, EFFC_CACHE_NO_PREFIX);
  EXPECT_EQ(toy.serve(asked).cache_miss, EFFC_CACHE_NO_PREFIX);
  EXPECT_EQ(toy.serve(asked).cache_miss, EFFC_CACHE_HIT);
  effc_event_t disabled = toy.serve(asked, noRead);
  EXPECT_EQ(disabled.cache_miss, EFFC_CACHE_DISABLED);
  EXPECT_EQ(disabled.cached_tokens, 0u);
  EXPECT_EQ(toy.serve(asked, salted).cache_miss, EFFC_CACHE_NEW_SALT);
  EXPECT_EQ(toy.serve(asked, salted).cached_tokens, 59u);
  EXPECT_EQ(toy.serve(askedOf(textOf(60, 2)), salted).cache_miss,
            EFFC_CACHE_NO_PREFIX);
  Tokens parted(asked.prompt.begin(), asked.prompt.begin() + 30);
  EXPECT_EQ(toy.serve(askedOf(joined(parted, {1, 2}))).cache_miss,
            EFFC_CACHE_NEAREST);

  effc_scheduler_stats_t stats = toy.scheduler.stats();
  uint64_t prompts[EFFC_CACHE_MISSES] = {2, 3, 1, 0, 0, 1, 1},
           lost[EFFC_CACHE_MISSES] = {0, 3 * 59, 30, 0, 0, 59, 59};
  for (int i = 0; i < EFFC_CACHE_MISSES; ++i) {
    EXPECT_EQ(stats.cache_prompts[i], prompts[i]) << i;
    EXPECT_EQ(stats.cache_lost_tokens[i], lost[i]) << i;
  }
  EXPECT_EQ(stats.cached_prompts, 2u);
  EXPECT_EQ(stats.cached_tokens, 2 * 59u);
  // What was not fed was not computed.
  EXPECT_EQ(stats.prompt_tokens, 5 * 60 + 2 * 1 + 32u);
}

TEST(CacheReasons, SayThatRoomWasNeeded) {
  CachedToy toy(ToyStates::Fixed, 1, withCache(3000));
  Asked first = askedOf(textOf(60, 1));
  toy.serve(first);
  for (uint32_t i = 2; i < 12; ++i)
    toy.serve(askedOf(textOf(60, i)));
  effc_event_t event = toy.serve(first);
  EXPECT_EQ(event.cache_miss, EFFC_CACHE_EVICTED);
  effc_scheduler_stats_t stats = toy.scheduler.stats();
  EXPECT_EQ(stats.cache_lost_tokens[EFFC_CACHE_EVICTED], 59u);
  EXPECT_GT(stats.cache_evicted, 5u);
  EXPECT_LE(stats.cache_bytes_now, 3000u);
  EXPECT_GT(stats.cache_places_now, 0u);
  // A copy that fits nowhere is counted, too.
  toy.serve(askedOf(textOf(900, 1)));
  EXPECT_GT(toy.scheduler.stats().cache_unkept, 0u);
}

// Of a long text the end is given up before the beginning.
TEST(CacheReasons, SayThatTheEndOfATextIsGone) {
  effc_scheduler_options_t options = withCache(300 * kToyRowBytes);
  options.checkpoint_every = 32;
  CachedToy toy(ToyStates::KeysAlone, 1, options);
  Asked first = askedOf(textOf(200, 1));
  toy.serve(first);
  toy.serve(askedOf(textOf(180, 2)));
  effc_event_t event = toy.serve(first);
  EXPECT_GE(event.cached_tokens, 32u);
  EXPECT_LE(event.cached_tokens, 110u);
  EXPECT_EQ(event.cached_tokens % 32, 0u);
  EXPECT_EQ(event.cache_miss, EFFC_CACHE_EVICTED);
}

// On a grid of 4 the answer's states, which decoding has made, would lead elsewhere.
TEST(CacheReasons, SayThatOtherBitsWouldFollow) {
  CachedToy toy(ToyStates::KeysAlone, 1, withCache(), 4);
  Asked asked = askedOf(textOf(62, 1), 10);
  toy.serve(asked);
  effc_event_t event = toy.serve(asked);
  EXPECT_EQ(event.cached_tokens, 60u);
  EXPECT_EQ(event.matched_tokens, 62u);
  EXPECT_EQ(event.cache_miss, EFFC_CACHE_INEXACT);
  EXPECT_FALSE(event.is_near);
}

// What is exact nowhere never hits, and says why at once; who asks gets near hits.
TEST(CacheReasons, SayThatItCanNeverHit) {
  ToyOptions unstable = toyOf(ToyStates::Fixed);
  unstable.changeProgram = [](artifact::ProgramT &program) {
    program.provenance->options = {"--bit-stable=false"};
  };
  Asked asked = askedOf(textOf(60, 1));
  CachedToy never(unstable, 1, withCache());
  EXPECT_EQ(never.scheduler.note(),
            "the cache can never hit: the file's code for host does not give "
            "the same bits wherever a prompt is cut (compile it with "
            "--bit-stable, or allow 'cache_near')");
  never.serve(asked);
  EXPECT_EQ(never.serve(asked).cache_miss, EFFC_CACHE_INEXACT);
  EXPECT_EQ(never.scheduler.stats().cache_kept, 0u);

  effc_scheduler_options_t options = withCache();
  options.cache_near = 1;
  CachedToy near(unstable, 1, options);
  EXPECT_EQ(near.scheduler.note(), "");
  near.serve(asked);
  effc_event_t event = near.serve(asked);
  EXPECT_EQ(event.cached_tokens, 59u);
  EXPECT_TRUE(event.is_near);
  EXPECT_EQ(near.scheduler.stats().near_prompts, 1u);
}

TEST(CacheReasons, AreToldBeforehand) {
  CachedToy toy(ToyStates::Hybrid);
  Asked asked = askedOf(textOf(50, 1));
  EXPECT_EQ(toy.scheduler.lookUp(asked.request()).miss, EFFC_CACHE_NO_PREFIX);
  toy.serve(asked);
  effc_scheduler_stats_t before = toy.scheduler.stats();
  effc_cache_lookup_t lookup = toy.scheduler.lookUp(asked.request());
  EXPECT_EQ(lookup.prompt_tokens, 50u);
  EXPECT_EQ(lookup.cached_tokens, 49u);
  EXPECT_EQ(lookup.matched_tokens, 50u);
  EXPECT_EQ(lookup.miss, EFFC_CACHE_HIT);
  EXPECT_EQ(toy.scheduler.stats().cached_prompts, before.cached_prompts);
  CachedToy without(ToyStates::Hybrid, 1, effc_scheduler_options_default());
  EXPECT_EQ(without.scheduler.lookUp(asked.request()).miss,
            EFFC_CACHE_DISABLED);
}

TEST(CacheReasons, RefuseWhatCannotBe) {
  CachedToy toy(ToyStates::Fixed, 1);
  Asked asked = askedOf({1, 2, 3});
  auto refusal = [&](auto change) {
    effc_request_t request = asked.request();
    change(request);
    return messageOf([&] { toy.scheduler.submit(request); },
                     EFFC_INVALID_ARGUMENT);
  };
  uint64_t marks[17] = {1, 4};
  EXPECT_EQ(refusal([&](auto &r) { r.marks = marks, r.mark_count = 2; }),
            "mark 1 is 4, but 1 to 3, the tokens of the prompt, are possible");
  EXPECT_EQ(refusal([&](auto &r) { r.marks = marks, r.mark_count = 17; }),
            "there are 17 marks, but at most 16 are possible");
  EXPECT_EQ(refusal([&](auto &r) { r.mark_count = 1; }),
            "'marks' is null, but 1 elements are to be there");
  EXPECT_EQ(refusal([&](auto &r) { r.cache_flags = 6; }),
            "'cache_flags' is 6, of which 4 is no flag");
  std::string message = messageOf(
      [&] { CachedToy(ToyStates::Fixed, 1, withCache(uint64_t(1) << 60)); },
      EFFC_OUT_OF_MEMORY);
  EXPECT_EQ(message.find("'cache_bytes' is 1152921504606846976, but the "), 0u)
      << message;
}
