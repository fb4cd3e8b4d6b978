// Requests that bring the states they go on from, and take theirs with them: each
// gets what it would get alone.

#include "test/unit/runtime/serving/CachedToy.h"
#include "test/unit/runtime/toy/ToyOnDevice.h"

#include <optional>

using namespace effc;
using namespace effc::test;
using Tokens = std::vector<int32_t>;

namespace {
/// A toy whose events' states are kept.
struct KeepingToy : CachedToy {
  using CachedToy::CachedToy;

  /// Serves a request, which goes on from `from`, and has to get what it gets alone.
  effc_event_t serveFrom(const Asked &asked, const Checkpoint *from) {
    effc_request_t request = asked.request();
    request.from = from ? from->get() : nullptr;
    request.keep_states = true;
    uint64_t number = scheduler.submit(request);
    states.reset();
    while (isBusy()) {
      scheduler.step();
      for (effc_event_t event = scheduler.poll(); event.kind != EFFC_EVENT_NONE;
           event = scheduler.poll()) {
        served[number].take(event);
        served[number].last = event;
        EXPECT_EQ(event.states != nullptr, event.kind == EFFC_EVENT_END);
        if (event.states)
          states.emplace(Checkpoint::share(event.states));
      }
    }
    EXPECT_EQ(served[number].tokens, alone(asked)) << served[number].message;
    tokens = joined(asked.prompt, served[number].tokens);
    return served[number].last;
  }

  std::optional<Checkpoint> states; // of the last request
  Tokens tokens;                    // its prompt and its answer
};

effc_scheduler_options_t withoutCache() {
  return effc_scheduler_options_default();
}
} // namespace

// Five turns, with a cache and without; the second goes on twice from the same place.
TEST(SchedulerStates, GoOnWhereARequestEnded) {
  for (ToyStates kind : kToyStates)
    for (const auto &options : {withoutCache(), withCache()}) {
      SCOPED_TRACE(static_cast<int>(kind));
      KeepingToy toy(kind, 2, options);
      toy.serveFrom(askedOf(textOf(30, 1), 5), nullptr);
      for (uint32_t turn = 0; turn < 4; ++turn) {
        std::optional<Checkpoint> before = std::move(toy.states);
        Tokens begin = toy.tokens;
        for (uint32_t fork = 0; fork < 2; ++fork) {
          Asked next = askedOf(joined(begin, textOf(9 + turn, 10 + fork)), 6);
          effc_event_t end = toy.serveFrom(next, &*before);
          EXPECT_GE(end.cached_tokens, before->position());
          EXPECT_FALSE(end.is_near);
          ASSERT_TRUE(toy.states);
          EXPECT_GE(toy.states->position() + 1, toy.tokens.size());
        }
      }
    }
}

// What was there before is not copied again.
TEST(SchedulerStates, ShareRowsWithThoseTheyGoOnFrom) {
  KeepingToy toy(ToyStates::KeysAlone, 1, withoutCache());
  toy.serveFrom(askedOf(textOf(100, 1), 1), nullptr);
  Checkpoint first = std::move(*toy.states);
  EXPECT_EQ(first.bytes(), 100 * kToyRowBytes);
  toy.serveFrom(askedOf(joined(toy.tokens, textOf(4, 2)), 1), &first);
  EXPECT_EQ(toy.states->position(), 105u);
  EXPECT_EQ(toy.states->bytes(), 5 * kToyRowBytes);
}

// The states of a prompt alone, which outlive it in a file.
TEST(SchedulerStates, AreThoseOfAPromptWhereNothingIsDrawn) {
  for (ToyStates kind : kToyStates) {
    KeepingToy toy(kind, 1, withoutCache());
    Asked asked = askedOf(textOf(41, 3), 0);
    effc_event_t end = toy.serveFrom(asked, nullptr);
    EXPECT_EQ(end.end, EFFC_END_LENGTH);
    ASSERT_EQ(toy.states->position(), 41u);
    TemporaryFile file({});
    toy.states->save(file.path());
    Checkpoint loaded(toy.model, file.path());
    EXPECT_EQ(loaded.position(), 41u);
    Asked next = askedOf(joined(asked.prompt, {7}), 8);
    EXPECT_EQ(toy.serveFrom(next, &loaded).cached_tokens, 41u);
  }
}

// Where a prefill's bits are those of its grid, states of drawn tokens are refused,
// and those of a prompt are taken on the grid.
TEST(SchedulerStates, AreFedAnewWhereOtherBitsWouldFollow) {
  KeepingToy toy(ToyStates::Fixed, 1, withoutCache(), /*chunk=*/4);
  toy.serveFrom(askedOf(textOf(30, 1), 5), nullptr);
  Checkpoint decoded = std::move(*toy.states);
  effc_event_t end =
      toy.serveFrom(askedOf(joined(toy.tokens, {1, 2})), &decoded);
  EXPECT_EQ(end.cached_tokens, 0u);
  EXPECT_EQ(end.matched_tokens, decoded.position());
  EXPECT_EQ(end.cache_miss, EFFC_CACHE_INEXACT);
  for (size_t count : {32u, 33u}) {
    Asked prompt = askedOf(textOf(count, 4), 0);
    toy.serveFrom(prompt, nullptr);
    Checkpoint fed = std::move(*toy.states);
    end = toy.serveFrom(askedOf(joined(prompt.prompt, {5, 6})), &fed);
    EXPECT_EQ(end.cached_tokens, count == 32 ? count : 0) << count;
  }
}

TEST(SchedulerStates, AreRefusedWhereTheyDoNotFit) {
  KeepingToy toy(ToyStates::Fixed, 1, withoutCache()),
      other(ToyStates::Fixed, 1, withoutCache());
  toy.serveFrom(askedOf(textOf(10, 1), 0), nullptr);
  effc_request_t request = effc_request_default();
  Tokens ten = textOf(10, 1), eleven = joined(ten, {1});
  request.tokens = ten.data();
  request.token_count = ten.size();
  request.from = toy.states->get();
  auto refusalOf = [&](Scheduler &scheduler) {
    return messageOf([&] { scheduler.submit(request); }, EFFC_INVALID_ARGUMENT);
  };
  EXPECT_EQ(
      refusalOf(toy.scheduler),
      "'from' is at position 10, but the prompt has 10 tokens, of which the "
      "last is to be fed");
  request.tokens = eleven.data();
  request.token_count = eleven.size();
  EXPECT_EQ(refusalOf(other.scheduler), "'from' is of another model");
  // Not asked for, or with nothing fed: none.
  toy.serve(askedOf(ten), [](effc_request_t &asked) {
    asked.cache_flags = EFFC_CACHE_NO_READ;
  });
  request.keep_states = true;
  toy.scheduler.cancel(toy.scheduler.submit(request));
  toy.scheduler.step();
  EXPECT_EQ(toy.scheduler.poll().states, nullptr);
}
