// Prefill and decode of the toy model against its plain restatement, bit by
// bit: any cutting, packing, batching or number of threads gives the same
// logits.

#include "runtime/include/effc/effc.hpp"
#include "runtime/src/Device.h"
#include "runtime/src/Sampler.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace effc;
using namespace effc::test;
using Tokens = std::vector<int32_t>;
using Logits = std::vector<float>;

namespace {
/// A toy engine for `sessions` sequences.
struct Toy {
  explicit Toy(uint32_t sessions, uint32_t threads = 1,
               const ToyOptions &options = {})
      : file(makeToyArtifact(options)), model(file.path()),
        engine(model, Device::host(threads), sessions) {}
  TemporaryFile file;
  Model model;
  Engine engine;
};
} // namespace

static Tokens randomTokens(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  Tokens tokens(count);
  for (int32_t &token : tokens)
    token = static_cast<int32_t>(random() % kToyVocabulary);
  return tokens;
}

static Logits row(const Logits &all, size_t index) {
  auto begin = all.begin() + static_cast<long>(index * kToyVocabulary);
  return Logits(begin, begin + kToyVocabulary);
}

static Logits reference(const Tokens &tokens) {
  return ToyReference().feed(tokens);
}

/// Runs `body`; returns what it refused with.
template <typename Body> static std::string refusal(Body body) {
  try {
    body();
    return "";
  } catch (const Error &error) {
    return std::to_string(error.code()) + ": " + error.what();
  }
}

TEST(Engine, PrefillOfAnyLength) {
  Toy toy(1);
  for (size_t length : {1, 3, 4, 5, 16, 17, 33, 50}) {
    Session session(toy.engine);
    Tokens tokens = randomTokens(length, static_cast<uint32_t>(length));
    EXPECT_EQ(toy.engine.prefill(session, tokens, EFFC_LOGITS_ALL),
              reference(tokens));
    EXPECT_EQ(session.position(), length);
  }
}

// From an entry's own choices and from logits alike; of the toy's logits many
// are equal. Seven sequences take two calls of the entry of four.
TEST(Engine, BestTokensAreTheFirstOfTheLargest) {
  for (bool withChoices : {false, true}) {
    ToyOptions options;
    options.withChoices = withChoices;
    Toy toy(7, 1, options);
    std::vector<Session> sessions;
    std::vector<effc_session_t *> handles;
    std::vector<ToyReference> references(7);
    for (int i = 0; i < 7; ++i)
      handles.push_back(sessions.emplace_back(toy.engine).get());
    Tokens tokens = randomTokens(7, 29);
    for (int step = 0; step < 5; ++step) {
      Tokens expected;
      for (int i = 0; i < 7; ++i)
        expected.push_back(likeliest(references[i].step(tokens[i])));
      Tokens best = tokens; // read and written in one place
      ASSERT_EQ(effc_engine_decode_best(toy.engine.get(), handles.data(),
                                        best.data(), 7, best.data()),
                nullptr);
      EXPECT_EQ(best, expected);
      tokens = best;
      tokens[6] = 100 + step; // beside one that is fed something else
    }
    EXPECT_EQ(sessions[3].position(), 5u);
    EXPECT_EQ(toy.engine.decode({handles[2]}, {9}), references[2].step(9));
  }
}

/// Samplers of each kind: greedy, at temperatures, and those that need logits.
static std::vector<Sampler> someSamplers(size_t count, bool withTopK = false,
                                         bool withPenalty = false) {
  std::vector<Sampler> samplers;
  for (size_t i = 0; i < count; ++i) {
    effc_sampler_options_t options = effc_sampler_options_default();
    options.temperature = i % 3 == 1 ? 0 : 0.5f + 0.25f * static_cast<float>(i);
    options.seed = 31 + i;
    if (withTopK && i == 2)
      options.top_k = 9;
    if (withPenalty && i == 4)
      options.repeat_penalty = 1.5f;
    samplers.emplace_back(options, kToyVocabulary);
  }
  return samplers;
}

// Where entries give no choices, samplers draw from the logits, each as it would by
// itself.
TEST(Engine, DrawsAreWhatSamplersDrawFromLogits) {
  Toy toy(7, 1);
  std::vector<Session> sessions;
  std::vector<effc_session_t *> handles;
  std::vector<effc_sampler_t *> drawing;
  std::vector<Sampler> samplers = someSamplers(7, true, true),
                       same = someSamplers(7, true, true);
  std::vector<ToyReference> references(7);
  for (int i = 0; i < 7; ++i) {
    handles.push_back(sessions.emplace_back(toy.engine).get());
    drawing.push_back(samplers[i].get());
  }
  Tokens tokens = randomTokens(7, 30);
  for (int step = 0; step < 6; ++step) {
    Tokens expected;
    for (int i = 0; i < 7; ++i)
      expected.push_back(same[i].sample(references[i].step(tokens[i])));
    Tokens drawn = tokens; // read and written in one place
    ASSERT_EQ(effc_engine_decode_draw(toy.engine.get(), handles.data(),
                                      drawing.data(), drawn.data(), 7,
                                      drawn.data()),
              nullptr);
    EXPECT_EQ(drawn, expected) << "step " << step;
    tokens = drawn;
  }
}

// So many logits that threads share them: 512 rows of 271. Each sampler draws as it
// would alone, and one that stands there twice in the order of its places.
TEST(Engine, ThreadsShareDraws) {
  constexpr size_t kSequences = 512;
  ToyOptions options;
  options.decodeRows = {kSequences};
  for (uint32_t threads : {1, 3}) {
    Toy toy(kSequences, threads, options);
    std::vector<Session> sessions;
    std::vector<effc_session_t *> handles;
    std::vector<effc_sampler_t *> drawing;
    std::vector<Sampler> samplers = someSamplers(kSequences, true, true),
                         same = someSamplers(kSequences, true, true);
    for (size_t i = 0; i < kSequences; ++i) {
      handles.push_back(sessions.emplace_back(toy.engine).get());
      drawing.push_back(samplers[i].get());
    }
    std::vector<ToyReference> references(kSequences);
    Tokens tokens = randomTokens(kSequences, 35);
    for (int step = 0; step < 3; ++step) {
      bool isTwice = step == 2;
      if (isTwice)
        drawing[300] = drawing[7];
      Tokens expected;
      for (size_t i = 0; i < kSequences; ++i)
        expected.push_back(same[isTwice && i == 300 ? 7 : i].sample(
            references[i].step(tokens[i])));
      tokens = toy.engine.decodeDraw(handles, drawing, tokens);
      ASSERT_EQ(tokens, expected) << threads << " threads, step " << step;
    }
  }
}

// An entry that draws is told for each row how: of the call of four and the
// call of three, and a greedy row in either way. One sampler that needs logits
// has those of its call drawn from logits, and not those of the other.
TEST(Engine, EntriesDrawAsSamplersSay) {
  ToyOptions options;
  options.withChoices = true;
  for (bool withTopK : {false, true}) {
    Toy toy(7, 1, options);
    std::vector<Session> sessions;
    std::vector<effc_session_t *> handles;
    std::vector<effc_sampler_t *> drawing;
    std::vector<Sampler> samplers = someSamplers(7, withTopK),
                         same = someSamplers(7, withTopK);
    for (int i = 0; i < 7; ++i) {
      handles.push_back(sessions.emplace_back(toy.engine).get());
      drawing.push_back(samplers[i].get());
    }
    std::vector<ToyReference> references(7);
    Tokens tokens = randomTokens(7, 33);
    for (uint64_t step = 0; step < 3; ++step) {
      Tokens expected;
      for (uint32_t i = 0; i < 7; ++i) {
        Logits logits = references[i].step(tokens[i]);
        float temperature = 0.5f + 0.25f * static_cast<float>(i);
        rt::Noise noise = rt::Noise::of(31 + i, step);
        expected.push_back(withTopK && i < 4 ? same[i].sample(logits)
                           : i % 3 == 1 ? likeliest(logits)
                                        : drawnByToy(logits, 1 / temperature, 1,
                                                     noise.key, noise.counter));
      }
      Tokens drawn = toy.engine.decodeDraw(handles, drawing, tokens);
      EXPECT_EQ(drawn, expected) << "step " << step;
      tokens = drawn;
    }
    EXPECT_EQ(toy.engine.decodeBest({handles[2]}, {9}),
              Tokens{likeliest(references[2].step(9))});
  }
}

TEST(Engine, DrawsAreRefusedAsDecodingIs) {
  Toy toy(2);
  Session a(toy.engine), b(toy.engine);
  std::vector<Sampler> samplers = someSamplers(2);
  Sampler other(effc_sampler_options_default(), 7);
  effc_sampler_t *one = samplers[0].get();
  auto refused = [&](std::vector<effc_sampler_t *> drawing, Tokens tokens) {
    return refusal(
        [&] { toy.engine.decodeDraw({a.get(), b.get()}, drawing, tokens); });
  };
  EXPECT_EQ(refused({one, nullptr}, {1, 2}), "1: sampler 1 is null");
  EXPECT_EQ(refused({one, other.get()}, {1, 2}),
            "1: sampler 1 is for 7 tokens, but the vocabulary has 271");
  EXPECT_EQ(refused({one, samplers[1].get()}, {1, 271}),
            "1: token 0 of sequence 1 is 271, but the vocabulary has 271");
  EXPECT_EQ(a.position(), 0u);
  // One sampler may draw for both.
  Tokens drawn = toy.engine.decodeDraw({a.get(), b.get()}, {one, one}, {4, 5});
  Sampler same = std::move(someSamplers(1)[0]);
  ToyReference ofA, ofB;
  int32_t first = same.sample(ofA.step(4));
  EXPECT_EQ(drawn, (Tokens{first, same.sample(ofB.step(5))}));
}

// The toy's logits are no numbers where its tally and the position disagree.
TEST(Engine, NoBestTokenOfWhatIsNoNumber) {
  for (bool withChoices : {false, true}) {
    ToyOptions options;
    options.withChoices = withChoices;
    options.changeProgram = [](artifact::ProgramT &program) {
      for (auto &entry : program.entries) // positions are bytes of the table
        entry->launches[0]->operands[1] =
            artifact::Operand(artifact::OperandKind::Weight, 0, 0);
      stateExtents(program);
    };
    Toy toy(2, 1, options);
    Session broken(toy.engine);
    EXPECT_EQ(toy.engine.decodeBest({broken.get()}, {5}), Tokens{-1});
    EXPECT_EQ(broken.position(), 1u);
    std::vector<Sampler> samplers = someSamplers(2);
    for (Sampler &sampler : samplers)
      EXPECT_EQ(toy.engine.decodeDraw({broken.get()}, {sampler.get()}, {5}),
                Tokens{-1});
  }
}

// A device gives numbers, of which a token has to be one of the vocabulary.
TEST(Engine, AChoiceIsATokenOrNone) {
  using rt::Choice;
  EXPECT_EQ((Choice{0.5f, 10.0f}.id(11)), 10);
  EXPECT_EQ((Choice{0.5f, 0.0f}.id(11)), 0);
  EXPECT_EQ((Choice{NAN, 3.0f}.id(11)), -1);
  EXPECT_EQ((Choice{-INFINITY, 3.0f}.id(11)), -1);
  for (float token : {11.0f, -1.0f, NAN, INFINITY, 4e9f})
    EXPECT_EQ((Choice{0.5f, token}.id(11)), std::nullopt) << token;
}

TEST(Engine, BestTokensAreRefusedAsDecodingIs) {
  Toy toy(2);
  Session session(toy.engine);
  EXPECT_EQ(refusal([&] {
              toy.engine.decodeBest({session.get(), session.get()}, {1, 2});
            }),
            "1: session 1 is named twice in one call");
  EXPECT_EQ(refusal([&] { toy.engine.decodeBest({session.get()}, {271}); }),
            "1: token 0 of sequence 0 is 271, but the vocabulary has 271");
  EXPECT_EQ(session.position(), 0u);
}

TEST(Engine, LastLogitsAreTheLastRow) {
  Toy toy(1);
  Session session(toy.engine);
  Tokens tokens = randomTokens(21, 1);
  EXPECT_EQ(toy.engine.prefill(session, tokens), row(reference(tokens), 20));
}

TEST(Engine, PrefillInPiecesGoesOnWhereItStopped) {
  Toy toy(1);
  Session session(toy.engine);
  Tokens tokens = randomTokens(40, 2);
  Logits all;
  size_t at = 0;
  for (size_t length : {5, 1, 1, 20, 13}) {
    Tokens piece(tokens.begin() + static_cast<long>(at),
                 tokens.begin() + static_cast<long>(at + length));
    Logits logits = toy.engine.prefill(session, piece, EFFC_LOGITS_ALL);
    all.insert(all.end(), logits.begin(), logits.end());
    at += length;
  }
  EXPECT_EQ(all, reference(tokens));
}

TEST(Engine, DecodeStepsFollowPrefill) {
  Toy toy(1);
  Session session(toy.engine);
  Tokens tokens = randomTokens(12, 3);
  Logits expected = reference(tokens);
  toy.engine.prefill(session, Tokens(tokens.begin(), tokens.begin() + 7));
  for (size_t i = 7; i < tokens.size(); ++i)
    EXPECT_EQ(toy.engine.decode({session.get()}, {tokens[i]}),
              row(expected, i));
  EXPECT_EQ(session.position(), 12u);
}

TEST(Engine, ASequenceMayStartWithDecode) {
  Toy toy(1);
  for (int round = 0; round < 2; ++round) { // the slot is used a second time
    Session session(toy.engine);
    EXPECT_EQ(toy.engine.decode({session.get()}, {5}), reference({5}));
  }
}

TEST(Engine, BatchesOfUnequalLengthsEqualSingles) {
  Toy toy(5);
  std::vector<Session> sessions;
  std::vector<Tokens> tokens;
  std::vector<Logits> logits;
  std::vector<effc_prompt_t> prompts;
  for (size_t length : {7, 1, 30, 16, 4}) {
    sessions.emplace_back(toy.engine);
    tokens.push_back(randomTokens(length, 50 + static_cast<uint32_t>(length)));
    logits.emplace_back(length * kToyVocabulary);
  }
  // The first and third want all rows, the second and fifth the last, the
  // fourth none.
  effc_wanted_t wanted[] = {EFFC_LOGITS_ALL, EFFC_LOGITS_LAST, EFFC_LOGITS_ALL,
                            EFFC_LOGITS_NONE, EFFC_LOGITS_LAST};
  for (size_t i = 0; i < 5; ++i)
    prompts.push_back(
        {sessions[i].get(), tokens[i].data(), tokens[i].size(), wanted[i],
         wanted[i] == EFFC_LOGITS_NONE ? nullptr : logits[i].data(),
         sizeof(effc_prompt_t)});
  toy.engine.prefill(prompts);
  EXPECT_EQ(logits[0], reference(tokens[0]));
  EXPECT_EQ(row(logits[1], 0), reference(tokens[1]));
  EXPECT_EQ(logits[2], reference(tokens[2]));
  EXPECT_EQ(logits[3], Logits(16 * kToyVocabulary));
  EXPECT_EQ(row(logits[4], 0), row(reference(tokens[4]), 3));

  // Then all five together take three steps.
  std::vector<effc_session_t *> handles;
  for (Session &session : sessions)
    handles.push_back(session.get());
  for (int32_t step = 0; step < 3; ++step) {
    Tokens next = {step, 9, 100 + step, 7, 270};
    Logits together = toy.engine.decode(handles, next);
    for (size_t i = 0; i < 5; ++i) {
      tokens[i].push_back(next[i]);
      EXPECT_EQ(row(together, i),
                row(reference(tokens[i]), tokens[i].size() - 1));
    }
  }
}

TEST(Engine, ThreadsDoNotShowInTheResult) {
  Tokens tokens = randomTokens(100, 4);
  for (uint32_t threads : {1, 2, 3, 7}) {
    Toy toy(1, threads);
    Session session(toy.engine);
    EXPECT_EQ(toy.engine.prefill(session, tokens, EFFC_LOGITS_ALL),
              reference(tokens));
    EXPECT_EQ(toy.engine.decode({session.get()}, {3}).size(), kToyVocabulary);
  }
}

// A kernel that needs more stack than callers have runs on workers alone.
TEST(Engine, HungryKernelsRunOnWorkers) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &program) {
    program.kernels[1]->stack_bytes = 4 << 20;
  };
  Tokens tokens = randomTokens(30, 5);
  for (uint32_t threads : {1, 3}) {
    Toy toy(1, threads, options);
    Session session(toy.engine);
    EXPECT_EQ(toy.engine.prefill(session, tokens, EFFC_LOGITS_ALL),
              reference(tokens));
  }
}

TEST(Engine, ResetStartsAnew) {
  Toy toy(1);
  Session session(toy.engine);
  toy.engine.prefill(session, {1, 2, 3});
  session.reset();
  EXPECT_EQ(session.position(), 0u);
  EXPECT_EQ(toy.engine.prefill(session, {4}), reference({4}));
}

TEST(Engine, ForksGoTheirOwnWays) {
  Toy toy(3);
  Session session(toy.engine);
  toy.engine.prefill(session, {1, 2, 3});
  Session fork = session.fork();
  EXPECT_EQ(fork.position(), 3u);
  EXPECT_EQ(toy.engine.decode({session.get()}, {4}),
            row(reference({1, 2, 3, 4}), 3));
  EXPECT_EQ(toy.engine.decode({fork.get()}, {5}),
            row(reference({1, 2, 3, 5}), 3));
}

TEST(Engine, OpensAsManySessionsAsItHas) {
  Toy toy(2);
  Session first(toy.engine);
  {
    Session second(toy.engine);
    EXPECT_EQ(refusal([&] { Session third(toy.engine); }),
              "6: all 2 sessions of the engine are open");
    EXPECT_EQ(refusal([&] { first.fork(); }),
              "6: all 2 sessions of the engine are open");
  }
  Session again(toy.engine);
}

TEST(Engine, RefusalsLeaveTheSessionAsItWas) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &p) { p.max_context = 10; };
  Toy toy(2, 1, options), other(1);
  Session session(toy.engine), second(toy.engine), foreign(other.engine);
  toy.engine.prefill(session, {1, 2, 3});
  Logits out(10 * kToyVocabulary);
  auto prompt = [&](Session &whose, const Tokens &tokens) {
    return effc_prompt_t{whose.get(),   tokens.data(),
                         tokens.size(), EFFC_LOGITS_LAST,
                         out.data(),    sizeof(effc_prompt_t)};
  };
  Tokens good = {4}, bad = {5, 271}, negative = {-1}, none = {}, long8(8, 1);
  EXPECT_EQ(refusal([&] {
              toy.engine.prefill({prompt(session, good), prompt(second, bad)});
            }),
            "1: token 1 of sequence 1 is 271, but the vocabulary has 271");
  EXPECT_EQ(refusal([&] { toy.engine.decode({session.get()}, negative); }),
            "1: token 0 of sequence 0 is -1, but the vocabulary has 271");
  EXPECT_EQ(refusal([&] { toy.engine.prefill({prompt(session, none)}); }),
            "1: prompt 0 has no tokens");
  EXPECT_EQ(refusal([&] {
              toy.engine.prefill(
                  {prompt(session, good), prompt(session, good)});
            }),
            "1: session 1 is named twice in one call");
  EXPECT_EQ(refusal([&] { toy.engine.prefill({prompt(foreign, good)}); }),
            "1: session 0 is not one of this engine");
  EXPECT_EQ(refusal([&] { toy.engine.prefill({prompt(session, long8)}); }),
            "6: sequence 0 would take 8 tokens from position 3 on, but the "
            "model's context has 10: 7 more fit");
  effc_prompt_t nowhere = prompt(session, good);
  nowhere.out_logits = nullptr;
  EXPECT_EQ(refusal([&] { toy.engine.prefill({nowhere}); }),
            "1: prompt 0 wants logits, but 'out_logits' is null");
  EXPECT_EQ(session.position(), 3u);
  EXPECT_EQ(second.position(), 0u);
  EXPECT_EQ(toy.engine.decode({session.get()}, good),
            row(reference({1, 2, 3, 4}), 3));
}

// As a later header may have them.
struct LongerPrompt {
  effc_prompt_t known;
  uint64_t added;
};

TEST(Engine, PromptsMayBeOfAnotherHeader) {
  Toy toy(2);
  Session first(toy.engine), second(toy.engine);
  Tokens one = {1, 2, 3}, other = {4, 5};
  Logits a(kToyVocabulary), b(kToyVocabulary);
  auto longer = [](Session &whose, const Tokens &tokens, Logits &out) {
    return LongerPrompt{{whose.get(), tokens.data(), tokens.size(),
                         EFFC_LOGITS_LAST, out.data(), sizeof(LongerPrompt)},
                        0};
  };
  LongerPrompt prompts[] = {longer(first, one, a), longer(second, other, b)};
  auto feed = [&] {
    check(effc_engine_prefill(toy.engine.get(), &prompts[0].known, 2));
  };
  prompts[1].added = 1;
  EXPECT_EQ(refusal(feed),
            "1: a prompt has 56 bytes, and byte 48 of them is set: "
            "this library knows the first 48");
  prompts[1].added = 0;
  prompts[1].known.size = sizeof(effc_prompt_t);
  EXPECT_EQ(refusal(feed), "1: prompt 1 has the size 48, but prompt 0 has 56");
  prompts[1].known.size = sizeof(LongerPrompt);
  feed();
  EXPECT_EQ(a, row(reference(one), 2));
  EXPECT_EQ(b, row(reference(other), 1));
  prompts[0].known.size = 47;
  EXPECT_EQ(refusal(feed), "1: the prompts' 'size' is 47, but 48 is expected");
  EXPECT_EQ(first.position(), 3u);
}

// Programs of before prompts had a size.
TEST(Engine, PromptsWithoutASizeEndWithIt) {
  Toy toy(2);
  Session first(toy.engine), second(toy.engine);
  Tokens one = {1, 2, 3}, other = {4, 5};
  Logits a(kToyVocabulary), b(kToyVocabulary);
  effc_prompt_t prompts[] = {
      {first.get(), one.data(), one.size(), EFFC_LOGITS_LAST, a.data(), 0},
      {second.get(), other.data(), other.size(), EFFC_LOGITS_LAST, b.data(),
       0}};
  check(effc_engine_prefill(toy.engine.get(), prompts, 2));
  EXPECT_EQ(a, row(reference(one), 2));
  EXPECT_EQ(b, row(reference(other), 1));
}

TEST(Engine, NothingToFeedIsFine) {
  Toy toy(1);
  toy.engine.prefill(std::vector<effc_prompt_t>{});
  EXPECT_TRUE(toy.engine.decode({}, {}).empty());
}

TEST(Engine, DecodeWithoutLogits) {
  Toy toy(1);
  Session session(toy.engine);
  effc_session_t *handle = session.get();
  int32_t token = 6;
  check(effc_engine_decode(toy.engine.get(), &handle, &token, 1, nullptr));
  EXPECT_EQ(toy.engine.decode({handle}, {7}), row(reference({6, 7}), 1));
}

// Sessions come and go in any order while others are in the middle.
TEST(Engine, RandomTraffic) {
  std::mt19937 random(9);
  Toy toy(4, 2);
  struct Live {
    Session session;
    ToyReference expected;
  };
  std::vector<std::unique_ptr<Live>> live;
  for (int round = 0; round < 200; ++round) {
    if (live.size() < 4 && random() % 3 == 0)
      live.push_back(std::make_unique<Live>(Live{Session(toy.engine), {}}));
    if (live.empty())
      continue;
    if (random() % 7 == 0) {
      live.erase(live.begin() + static_cast<long>(random() % live.size()));
      continue;
    }
    Live &one = *live[random() % live.size()];
    Tokens tokens =
        randomTokens(1 + random() % 23, static_cast<uint32_t>(round));
    if (random() % 2)
      EXPECT_EQ(toy.engine.prefill(one.session, tokens, EFFC_LOGITS_ALL),
                one.expected.feed(tokens));
    else
      EXPECT_EQ(toy.engine.decode({one.session.get()}, {tokens[0]}),
                one.expected.step(tokens[0]));
  }
}
