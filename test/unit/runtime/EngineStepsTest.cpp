// Several steps in one call give what as many calls of a step give, whoever stops on the
// way, and nothing runs where one of the steps could not.

#include "runtime/include/effc/effc.hpp"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "test/unit/runtime/toy/ToyOnDevice.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;
using Tokens = std::vector<int32_t>;

namespace {
/// Sequences of the toy, each with a sampler of its own kind.
struct Toy {
  Toy(size_t count, const ToyOptions &options)
      : file(makeToyArtifact(options)), model(file.path()),
        engine(model, Device::host(1), uint32_t(count)) {
    for (size_t i = 0; i < count; ++i) {
      sessions.emplace_back(engine);
      handles.push_back(sessions[i].get());
      effc_sampler_options_t sampling = effc_sampler_options_default();
      sampling.temperature = i % 3 == 1 ? 0 : 0.5f + 0.25f * float(i);
      sampling.seed = 31 + i;
      // The choices of the toy's entries are by a noise of their own, which a
      // sampler that needs logits would keep all from.
      sampling.top_k = i == 2 && !options.withChoices ? 9 : 0;
      sampling.repeat_penalty = i == 4 && !options.withChoices ? 1.5f : 1;
      samplers.emplace_back(sampling, kToyVocabulary);
      drawing.push_back(samplers[i].get());
      engine.prefill(sessions[i], toyTokens(3 + 2 * i));
    }
  }
  uint64_t decoded() const { return engine.counters().decode_tokens; }

  TemporaryFile file;
  Model model;
  Engine engine;
  std::vector<Session> sessions;
  std::vector<Sampler> samplers;
  std::vector<effc_session_t *> handles;
  std::vector<effc_sampler_t *> drawing;
};
} // namespace

/// What `steps` calls of a step give, each sequence up to a token of `ends`.
static std::vector<Tokens> oneByOne(Toy &toy, bool drawn, const Tokens &first,
                                    size_t steps, const Tokens &ends) {
  std::vector<Tokens> rows(first.size());
  std::vector<size_t> running;
  Tokens next = first;
  for (size_t i = 0; i < first.size(); ++i)
    running.push_back(i);
  for (size_t step = 0; step < steps; ++step)
    std::erase_if(running, [&](size_t i) {
      next[i] = (drawn ? toy.engine.decodeDraw({toy.handles[i]},
                                               {toy.drawing[i]}, {next[i]})
                       : toy.engine.decodeBest({toy.handles[i]}, {next[i]}))[0];
      rows[i].push_back(next[i]);
      return std::ranges::find(ends, next[i]) != ends.end();
    });
  return rows;
}

// Seven sequences, 13 steps, and as ends the sixth token of one and the ninth of another:
// so calls get smaller on the way. Afterwards each goes on as if alone.
TEST(EngineSteps, AreThoseOfSingleCalls) {
  for (bool withChoices : {false, true})
    for (bool withKeys : {false, true})
      for (bool drawn : {false, true}) {
        ToyOptions options;
        options.withChoices = withChoices;
        options.withKeys = withKeys;
        Tokens first = {4, 9, 33, 7, 120, 7, 60};
        Toy scout(7, options), single(7, options), several(7, options);
        std::vector<Tokens> endless = oneByOne(scout, drawn, first, 13, {});
        Tokens ends = {endless[3][5], endless[6][8]};
        std::vector<Tokens> expected = oneByOne(single, drawn, first, 13, ends);
        uint64_t before = several.decoded();
        std::vector<Tokens> rows = several.engine.decodeSteps(
            several.handles,
            drawn ? several.drawing : decltype(several.drawing){}, first, 13,
            ends);
        EXPECT_EQ(rows, expected);
        EXPECT_LE(rows[3].size(), 6u);
        // Whoever has ended is in no further call.
        size_t sum = 0;
        for (size_t i = 0; i < 7; ++i) {
          sum += rows[i].size();
          EXPECT_EQ(several.sessions[i].position(), 3 + 2 * i + rows[i].size());
          EXPECT_EQ(several.sessions[i].position(),
                    single.sessions[i].position());
        }
        EXPECT_EQ(several.decoded() - before, sum);
        // So has what the sampler has seen and drawn.
        EXPECT_EQ(
            several.engine.decodeDraw(several.handles, several.drawing, first),
            single.engine.decodeDraw(single.handles, single.drawing, first));
      }
}

// What lies behind a row's tokens is -1.
TEST(EngineSteps, FillTheRest) {
  Toy toy(2, {}), same(2, {});
  Tokens drawn(2 * 5, 77);
  size_t lengths[2] = {77, 77};
  std::vector<Tokens> expected = oneByOne(same, true, {8, 9}, 5, {});
  effc_steps_options_t options = effc_steps_options_default();
  options.end_tokens = &expected[1][1];
  options.end_count = 1;
  ASSERT_EQ(std::ranges::count(expected[0], expected[1][1]), 0);
  check(effc_engine_decode_steps(toy.engine.get(), toy.handles.data(),
                                 toy.drawing.data(), Tokens{8, 9}.data(), 2, 5,
                                 &options, drawn.data(), lengths));
  Tokens all = expected[0];
  all.insert(all.end(), {expected[1][0], expected[1][1], -1, -1, -1});
  EXPECT_EQ(drawn, all);
  EXPECT_EQ(lengths[0], 5u);
  EXPECT_EQ(lengths[1], 2u);
}

// One sampler of two sequences draws for the one, then for the other, in each step.
TEST(EngineSteps, ShareASampler) {
  Toy toy(2, {}), same(2, {});
  std::vector<Tokens> rows = toy.engine.decodeSteps(
      toy.handles, {toy.drawing[0], toy.drawing[0]}, {5, 6}, 4);
  Tokens next = {5, 6};
  for (size_t step = 0; step < 4; ++step) {
    next = same.engine.decodeDraw(same.handles,
                                  {same.drawing[0], same.drawing[0]}, next);
    EXPECT_EQ((Tokens{rows[0][step], rows[1][step]}), next);
  }
}

// The toy's logits are no numbers where its tally and the position disagree.
TEST(EngineSteps, StopWhereNothingCanBeDrawn) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &program) {
    for (auto &entry : program.entries) // positions are bytes of the table
      entry->launches[0]->operands[1] =
          artifact::Operand(artifact::OperandKind::Weight, 0, 0);
    stateExtents(program);
  };
  Toy toy(2, options);
  EXPECT_EQ(toy.engine.decodeSteps(toy.handles, {}, {5, 6}, 4),
            (std::vector<Tokens>{{-1}, {-1}}));
  EXPECT_EQ(toy.engine.decodeSteps(toy.handles, toy.drawing, {5, 6}, 4),
            (std::vector<Tokens>{{-1}, {-1}}));
  EXPECT_EQ(toy.sessions[1].position(), 5u + 2);
}

TEST(EngineSteps, AreCheckedBeforeAnyRuns) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &p) { p.max_context = 10; };
  Toy toy(2, options), same(2, options);
  auto refused = [&](size_t steps, Tokens tokens, Tokens ends,
                     effc_status_code_t code) {
    return messageOf(
        [&] {
          toy.engine.decodeSteps(toy.handles, toy.drawing, tokens, steps, ends);
        },
        code);
  };
  EXPECT_EQ(
      refused(6, {1, 2}, {}, EFFC_EXHAUSTED),
      "sequence 1 would take 6 tokens from position 5 on, but the model's "
      "context has 10: 5 more fit");
  // No room is made for what no context holds.
  EXPECT_EQ(refused(11, {1, 2}, {}, EFFC_EXHAUSTED),
            "'steps' is 11, but at most 10 are expected");
  EXPECT_EQ(refused(SIZE_MAX / 2 + 1, {1, 2}, {}, EFFC_EXHAUSTED),
            "'steps' is 9223372036854775808, but at most 10 are expected");
  EXPECT_EQ(refused(SIZE_MAX / 8, {}, {}, EFFC_INVALID_ARGUMENT),
            "expects 2 tokens, one for each session, but got 0");
  EXPECT_EQ(refused(0, {1, 2}, {}, EFFC_INVALID_ARGUMENT),
            "'steps' is 0, but at least 1 is expected");
  EXPECT_EQ(refused(3, {1, 271}, {}, EFFC_INVALID_ARGUMENT),
            "token 0 of sequence 1 is 271, but the vocabulary has 271");
  EXPECT_EQ(refused(3, {1, 2}, {4, 271}, EFFC_INVALID_ARGUMENT),
            "end token 1 is 271, but the vocabulary has 271");
  EXPECT_EQ(refused(3, {1, 2}, {-1}, EFFC_INVALID_ARGUMENT),
            "end token 0 is -1, but the vocabulary has 271");
  Sampler other(effc_sampler_options_default(), 7);
  EXPECT_EQ(messageOf(
                [&] {
                  toy.engine.decodeSteps(
                      toy.handles, {toy.drawing[0], other.get()}, {1, 2}, 3);
                },
                EFFC_INVALID_ARGUMENT),
            "sampler 1 is for 7 tokens, but the vocabulary has 271");
  EXPECT_EQ(messageOf(
                [&] {
                  toy.engine.decodeSteps({toy.handles[0], toy.handles[0]}, {},
                                         {1, 2}, 3);
                },
                EFFC_INVALID_ARGUMENT),
            "session 1 is named twice in one call");
  // Nothing has moved, and no draw counts. What fits to the last token is taken.
  EXPECT_EQ(toy.engine.decodeSteps(toy.handles, toy.drawing, {1, 2}, 5),
            oneByOne(same, true, {1, 2}, 5, {}));
  EXPECT_EQ(toy.engine.decodeSteps({}, {}, {}, 3), std::vector<Tokens>());
}

// Twice 2^63 steps would wrap to rows of no tokens.
TEST(EngineSteps, AreBoundedWithoutAContext) {
  Toy toy(2, {});
  ASSERT_EQ(toy.model.maxContext(), 0u);
  EXPECT_EQ(messageOf(
                [&] {
                  toy.engine.decodeSteps(toy.handles, {}, {1, 2},
                                         SIZE_MAX / 2 + 1);
                },
                EFFC_EXHAUSTED),
            "'steps' is 9223372036854775808, but at most " +
                std::to_string(Tokens().max_size() / 2) + " are expected");
}

// Room is asked for all steps, and filled by those that are taken.
TEST(EngineSteps, FillWhatTheyTake) {
  ToyOptions options;
  options.withKeys = true;
  Toy toy(1, options), same(1, options);
  Tokens best = same.engine.decodeBest(same.handles, {5});
  EXPECT_EQ(toy.engine.decodeSteps(toy.handles, {}, {5}, 900, best),
            std::vector<Tokens>{best});
  EXPECT_EQ(toy.engine.counters().state_bytes_now,
            same.engine.counters().state_bytes_now);
}
