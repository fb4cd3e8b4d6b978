// A streaming model far into a text. What a token sees is the window before it
// and the first tokens, wherever the text has come to: logits at a position of
// billions are those at the same place of a short text, but for the rounding of
// angles. Sequences are moved by their state files.
#include "test/e2e/Process.h"
#include "test/e2e/StatePosition.h"
#include "test/e2e/TemporaryFolder.h"

#include "runtime/include/effc/effc.hpp"

#include <gtest/gtest.h>

#include <cmath>

using namespace effc::test;

namespace {

/// The windows have 16 tokens, and the model two layers.
constexpr size_t kFilled = 64, kCompared = 24;

/// Logits of a call's last token and of the `kCompared` tokens after it.
std::vector<std::vector<float>>
continued(effc::Engine &engine, effc::Session &session, uint32_t vocabulary) {
  auto token = [&](size_t i) {
    return static_cast<int32_t>((i * 29 + 3) % vocabulary);
  };
  std::vector<int32_t> prompt;
  for (size_t i = 0; i < kFilled; ++i)
    prompt.push_back(token(i));
  std::vector<std::vector<float>> all;
  all.push_back(engine.prefill(session, prompt));
  for (size_t i = 0; i < kCompared; ++i)
    all.push_back(engine.decode({session.get()}, {token(kFilled + i)}));
  return all;
}

/// The largest difference of two lists of logits, over the largest logit.
double distance(const std::vector<std::vector<float>> &found,
                const std::vector<std::vector<float>> &expected) {
  double largest = 0, most = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    for (size_t k = 0; k < expected[i].size(); ++k) {
      double error = std::fabs(double(found[i][k]) - expected[i][k]);
      most = std::isnan(error) ? INFINITY : std::fmax(most, error);
      largest = std::fmax(largest, std::fabs(expected[i][k]));
    }
  return most / largest;
}
} // namespace

TEST(Position, OfAStreamingModelDoesNotShow) {
  TemporaryFolder folder;
  Finished done = runProgram(
      {EFFC_PROGRAM, "compile", EFFC_GOLDENS "/families/llama/llama3_scaling",
       "-o", folder.at("model.effc"), "--prefill-rows", "16", "--max-batch",
       "4", "--window", "16", "--sinks", "2"});
  ASSERT_EQ(done.status, 0) << done.err;
  effc::Model model(folder.at("model.effc"));
  effc::Engine engine(model, effc::Device::host());

  // The first tokens, and a window that has passed them.
  effc::Session session(engine);
  continued(engine, session, model.vocabularySize());
  std::string state = session.save();
  auto expected = continued(engine, session, model.vocabularySize());

  double worst = 0;
  for (uint64_t far : {uint64_t(1) << 20, uint64_t(1) << 24, uint64_t(1) << 31,
                       uint64_t(1) << 32, uint64_t(1) << 40}) {
    // The prompt ends, and the first compared token comes, 8 tokens before.
    session.loadBytes(movedState(state, far - 8 - kFilled));
    ASSERT_EQ(session.position(), far - 8 - kFilled);
    double error =
        distance(continued(engine, session, model.vocabularySize()), expected);
    // Angles are off by 6e-7 at most, and scores by some times as much.
    EXPECT_LE(error, 1e-5) << "around " << far;
    worst = std::fmax(worst, error);
  }
  std::printf("largest difference %.1e\n", worst);
}
