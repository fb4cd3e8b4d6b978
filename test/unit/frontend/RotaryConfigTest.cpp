// Rotary settings whose frequencies follow from numbers of the configuration,
// beside those of the public library (transformers 5.24, modeling_rope_utils.py,
// in f32).
#include "dialects/seq/Seq.h"
#include "test/unit/frontend/ConfigImport.h"

using namespace effc;
using nlohmann::json;

namespace {

/// A Llama of one layer whose heads have 16 channels.
class RotaryConfigTest : public test::ConfigImport {
protected:
  RotaryConfigTest()
      : ConfigImport({{"model_type", "llama"},
                      {"vocab_size", 40},
                      {"hidden_size", 48},
                      {"intermediate_size", 56},
                      {"num_hidden_layers", 1},
                      {"num_attention_heads", 3},
                      {"max_position_embeddings", 256},
                      {"torch_dtype", "float32"}}) {}

  /// What tokens at any position turn by, radians per position and pair, and
  /// what they are scaled by.
  void expectTurned(const std::vector<double> &expected, double amplitude) {
    ASSERT_EQ(import(), "success");
    int found = 0;
    module->walk([&](seq::RotaryOp op) {
      EXPECT_NEAR(op.getAmplitude().convertToDouble(), amplitude, 1e-12);
    });
    for (auto weight : module->getOps<seq::WeightOp>())
      if (auto computed = llvm::dyn_cast_if_present<seq::RotaryFrequenciesAttr>(
              weight.getComputedAttr())) {
        ++found;
        auto row = computed.computeRow(/*position=*/9, expected.size());
        for (size_t pair = 0; pair < expected.size(); ++pair)
          EXPECT_NEAR(row[pair], expected[pair], 1e-6 * expected[pair]) << pair;
      }
    EXPECT_EQ(found, 1);
  }
};

} // namespace

// Pairs that turn 8 times and half a time in 64 positions lie between others.
TEST_F(RotaryConfigTest, YarnWithAndWithoutWholePairs) {
  json yarn = {{"rope_type", "yarn"}, {"rope_theta", 10000.0},
               {"factor", 4.0},       {"original_max_position_embeddings", 64},
               {"beta_fast", 8.0},    {"beta_slow", 0.5}};
  constexpr double kAmplitude = 1.138629436111989;
  config["rope_parameters"] = yarn;
  expectTurned({1.0, 0.23717081546783447, 0.04999999701976776,
                0.007905694656074047, 0.0024999999441206455,
                0.0007905694656074047, 0.0002500000118743628,
                7.905694656074047e-05},
               kAmplitude);
  config["rope_parameters"]["truncate"] = false;
  expectTurned({1.0, 0.23840846121311188, 0.0442483015358448,
                0.007905694656074047, 0.0024999999441206455,
                0.0007905694656074047, 0.0002500000118743628,
                7.905694656074047e-05},
               kAmplitude);
}

// A note of the authors of YaRN, which no reader follows.
// Five of sixteen channels: the library turns six, by 10000^(-2 i / 5).
TEST_F(RotaryConfigTest, OddNumbersOfChannels) {
  config["rope_parameters"] = {{"rope_type", "default"},
                               {"rope_theta", 10000.0},
                               {"partial_rotary_factor", 0.3125}};
  expectTurned({1.0, 0.025118863, 0.00063095737}, 1);
  config["rope_parameters"]["partial_rotary_factor"] = 0.07;
  expectTurned({1.0}, 1);
  config["rope_parameters"]["partial_rotary_factor"] = 0.05;
  EXPECT_EQ(import(),
            "config.json: expects an even number of channels to turn, but got "
            "0 of 16 with 'partial_rotary_factor' 0.05");
  config["rope_parameters"] = {{"rope_type", "yarn"},
                               {"rope_theta", 10000.0},
                               {"factor", 4.0},
                               {"partial_rotary_factor", 0.3125}};
  EXPECT_EQ(import(),
            "config.json: expects an even number of channels to turn, but got "
            "5 of 16 with 'partial_rotary_factor' 0.3125; keys that were not "
            "asked for so far: 'rope_parameters.factor'");
}

TEST_F(RotaryConfigTest, FinetunedIsARemark) {
  config["rope_scaling"] = {
      {"type", "linear"}, {"factor", 2.0}, {"finetuned", true}};
  EXPECT_EQ(import(), "success");
}
