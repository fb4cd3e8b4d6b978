// A text without end, and one that is saved to a file, forgotten and loaded again
// and again: every step of both has the same logits, to the last bit. 20,000 steps
// and a file every 100; 1,000,000 and every 1,000 where EFFC_CHECK_LONG is set. The
// models are one of each kind of state: a recurrence, one with a convolution before
// it, and a window with first tokens that stay, which a ring holds.
#include "test/LongCheck.h"
#include "test/e2e/FamilyFile.h"
#include "test/e2e/TemporaryFolder.h"

#include "runtime/include/effc/effc.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace effc::test;

namespace {

struct Case {
  const char *name;
  std::vector<std::string> options;
};

class SavedText : public testing::TestWithParam<Case> {};

const Case kCases[] = {
    {"gla/plain", {}},
    {"mamba2/flash_groups", {}},
    {"llama/llama3_scaling", {"--window", "16", "--sinks", "2"}}};

} // namespace

TEST_P(SavedText, HasTheBitsOfOneThatNeverStops) {
  const uint64_t steps = isLongCheck() ? 1'000'000 : 20'000,
                 every = isLongCheck() ? 1'000 : 100;
  TemporaryFolder folder;
  Finished done = compileSmallFamily(GetParam().name, folder.at("model.effc"),
                                     GetParam().options);
  ASSERT_EQ(done.status, 0) << done.err;

  effc::Model model(folder.at("model.effc"));
  effc::Engine engine(model, effc::Device::host(1), 2);
  effc::Session whole(engine), saved(engine);
  effc_save_options_t options = effc_save_options_default();
  options.no_sync = true; // the machine does not fail here
  const uint32_t vocabulary = model.vocabularySize();
  const std::string file = folder.at("text.effs");
  uint64_t drawn = 88172645463325252; // xorshift64, by Marsaglia
  std::vector<float> last;
  for (uint64_t step = 0; step < steps; ++step) {
    drawn ^= drawn << 13;
    drawn ^= drawn >> 7;
    drawn ^= drawn << 17;
    const auto token = static_cast<int32_t>(drawn % vocabulary);
    last = engine.decode({whole.get()}, {token});
    std::vector<float> found = engine.decode({saved.get()}, {token});
    ASSERT_EQ(
        std::memcmp(last.data(), found.data(), last.size() * sizeof(float)), 0)
        << "step " << step;
    if ((step + 1) % every != 0)
      continue;
    saved.save(file, options);
    saved.reset();
    ASSERT_EQ(saved.position(), 0u);
    saved.load(file);
    ASSERT_EQ(saved.position(), step + 1);
  }
  // Bits of no numbers would be equal, too.
  EXPECT_TRUE(std::all_of(last.begin(), last.end(),
                          [](float x) { return std::isfinite(x); }));
}

INSTANTIATE_TEST_SUITE_P(States, SavedText, testing::ValuesIn(kCases),
                         [](const auto &info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name;
                         });
