// The tokens of a seed are fixed for all time: against a plain restatement of the
// filters and the draw, and against tokens that were recorded before draws were
// made fast.

#include "test/unit/runtime/sampling/PlainSampler.h"

#include <gtest/gtest.h>

using namespace effc::rt;
using namespace effc::test;

namespace {
/// Rows of logits by integers alone, the same on every machine.
class Rows {
public:
  enum Shape {
    Peaked,   // few are likely: the fourth power of an even spread, up to 30
    Flat,     // all within 1
    Equal,    // quarters, so that many are equal
    Holes,    // every other one excluded, some by a large number
    OneShape, // all the same
    kShapes
  };
  Rows(Shape shape, size_t tokens) : shape(shape), tokens(tokens) {}

  std::vector<float> next() {
    std::vector<float> row(tokens);
    for (float &logit : row)
      logit = at(even());
    return row;
  }

private:
  float even() { // 24 bits in [0, 1)
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(state >> 40) * 0x1p-24f;
  }
  float at(float x) {
    switch (shape) {
    case Peaked:
      return x * x * x * x * 30 - 12;
    case Flat:
      return x;
    case Equal:
      return std::floor(x * 40) * 0.25f;
    case Holes:
      return x < 0.25f ? -INFINITY : x < 0.5f ? -1e30f : x * 9;
    default:
      return 1.5f;
    }
  }
  Shape shape;
  size_t tokens;
  uint64_t state = 12345;
};

struct Settings {
  float temperature;
  uint32_t topK;
  float topP, minP;
};
} // namespace

static const Settings kSettings[] = {
    {1, 0, 1, 0},         {0.8f, 40, 1, 0},
    {0.8f, 0, 0.9f, 0},   {0.7f, 0, 1, 0.05f},
    {1.3f, 64, 0.95f, 0}, {0.6f, 1000, 0.5f, 0.01f},
    {1, 5000, 0.99f, 0},  {2, 0, 0.999999f, 0},
    {0.05f, 0, 0.3f, 0},  {1, 0, 0.7f, 0.2f},
    {1e-20f, 0, 0.5f, 0}, {1e20f, 7, 0.9f, 0},
    {0, 0, 1, 0},         {1, 0, 1, 1e-9f},
    {1, 1, 0.5f, 0.5f},   {0.9f, 1u << 20, 0.9f, 0}};

static effc_sampler_options_t optionsOf(const Settings &settings) {
  effc_sampler_options_t options = effc_sampler_options_default();
  options.temperature = settings.temperature;
  options.top_k = settings.topK;
  options.top_p = settings.topP;
  options.min_p = settings.minP;
  options.seed = 77;
  return options;
}

// Sizes that are no multiple of anything, and smaller than any block.
TEST(SampledTokens, AreThoseOfAPlainRestatement) {
  for (size_t tokens : {1, 3, 31, 33, 271, 4099})
    for (int shape = 0; shape < Rows::kShapes; ++shape)
      for (size_t i = 0; i < std::size(kSettings); ++i) {
        effc_sampler_options_t options = optionsOf(kSettings[i]);
        PlainSampler plain(options);
        Result<Sampler> sampler =
            Sampler::create(options, static_cast<uint32_t>(tokens));
        ASSERT_TRUE(bool(sampler));
        Rows rows(static_cast<Rows::Shape>(shape), tokens);
        for (int draw = 0; draw < 12; ++draw) {
          std::vector<float> row = rows.next();
          if (*std::max_element(row.begin(), row.end()) == -INFINITY)
            continue;
          Result<int32_t> token = sampler->sample(row);
          ASSERT_EQ(token ? *token : -1, plain.sample(row))
              << tokens << " tokens, shape " << shape << ", settings " << i
              << ", draw " << draw;
        }
      }
}

/// Of 40 draws from rows of 5,003 tokens of a shape: their FNV-1a.
static uint64_t hashOf(const Settings &settings, int shape) {
  Result<Sampler> sampler = Sampler::create(optionsOf(settings), 5003);
  Rows rows(static_cast<Rows::Shape>(shape), 5003);
  uint64_t hash = 14695981039346656037u;
  for (int draw = 0; draw < 40; ++draw)
    hash = (hash ^ static_cast<uint64_t>(*sampler->sample(rows.next()))) *
           1099511628211u;
  return hash;
}

/// Recorded when every draw looked at every token; by settings and shape.
static const uint64_t kRecorded[][Rows::kShapes] = {
    {0x1042cb8000245d2d, 0xc6a0f4b3e60cf286, 0x531a590fdb25c629,
     0x8b1d6168f15c2b01, 0xf5636f6b24163a9b},
    {0x0a73da482b4f26ae, 0x478b4f072408a382, 0x0a6f3052bf21626e,
     0x478b4f072408a382, 0xc43ad1f11a7ce2eb},
    {0x341884736b3c8098, 0x4889a9dba1b3f0f0, 0x7527e2c5b5ef4b95,
     0x7bb68545469a626d, 0x290d5c2ce7b5b9bc},
    {0xebc730fe0cc8538e, 0x92a2198be906744a, 0x33c9b65435129ed2,
     0x647af9114ea73ebc, 0xf5636f6b24163a9b},
    {0x55e5c5665d0350b9, 0x85b9cb6e428e8e64, 0xd2b6436aa236e657,
     0x6bb6066bb186df63, 0xbba709983039c793},
    {0x6bd8158466517bbb, 0x4f0ed52c2e487e61, 0x494967d9536cc472,
     0xf955fa77e78b2e5e, 0x21607e2e6e686a3b},
    {0x1042cb8000245d2d, 0xc6a0f4b3e60cf286, 0x531a590fdb25c629,
     0x07299a73c386f51a, 0xe92b7097a574c5f5},
    {0x46caa027bf5c55ae, 0x5f6b58b9206ea32a, 0xa5d2ff7515df5a77,
     0xd4d061f9571fab9c, 0xf5636f6b24163a9b},
    {0x7fbef904ebeaaf8c, 0xa7e785552fc01e9f, 0x31266ac6bd47fc71,
     0x4f9475c31537092c, 0x4ad63fd2ceb8f384},
    {0x06f291a59db9d31e, 0xa6c8e84817025eb5, 0xf5ab9ba86763f3f5,
     0xf7d9c42ce8c2e75b, 0x389d658f57224a83},
    {0xfb35fac32a67fcd5, 0xfb35fac32a67fcd5, 0x5e59f0ab214d862d,
     0xfb35fac32a67fcd5, 0x40d69e0cf0f65c45},
    {0xf4243f996bb95c61, 0xf4243f996bb95c61, 0x57a56bf6c5680fb3,
     0xf4243f996bb95c61, 0x10d619f529c8db4d},
    {0xfb35fac32a67fcd5, 0xfb35fac32a67fcd5, 0x5e59f0ab214d862d,
     0xfb35fac32a67fcd5, 0x40d69e0cf0f65c45},
    {0x1042cb8000245d2d, 0xc6a0f4b3e60cf286, 0x531a590fdb25c629,
     0x8b1d6168f15c2b01, 0xf5636f6b24163a9b},
    {0xfb35fac32a67fcd5, 0xfb35fac32a67fcd5, 0x5e59f0ab214d862d,
     0xfb35fac32a67fcd5, 0x40d69e0cf0f65c45},
    {0x909eeab0b3368465, 0xb490d8f2a473debe, 0x7527e2c5b5ef4b95,
     0xa1c41d687a73b786, 0x290d5c2ce7b5b9bc}};

TEST(SampledTokens, AreThoseOfBefore) {
  static_assert(std::size(kRecorded) == std::size(kSettings));
  for (size_t i = 0; i < std::size(kSettings); ++i)
    for (int shape = 0; shape < Rows::kShapes; ++shape)
      EXPECT_EQ(hashOf(kSettings[i], shape), kRecorded[i][shape])
          << "settings " << i << ", shape " << shape;
}
