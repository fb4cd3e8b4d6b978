// `effc compile --tap` and `effc eval --tap`: inner values against the recorded
// library's logits, and against one another: Mamba-2's steps are the last columns of
// its first projection. What mixers make of their operands is held to the formulas of
// their papers, in double, on tapped operands and the checkpoint's weights.

#include "test/e2e/Process.h"
#include "test/e2e/SafetensorsFile.h"
#include "test/e2e/TemporaryFolder.h"

#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace effc::test;
using Arguments = std::vector<std::string>;

namespace {

class Tap : public testing::Test {
protected:
  std::string golden(const std::string &name) const {
    return EFFC_GOLDENS "/" + model + "/" + name;
  }

  void compile(const Arguments &options) {
    Arguments all = {
        EFFC_PROGRAM, "compile", golden(""),     "-o", folder.at("model.effc"),
        "--target",   "host",    "--no-optimise"};
    all.insert(all.end(), options.begin(), options.end());
    Finished done = runProgram(all);
    ASSERT_EQ(done.status, 0) << done.err;
  }

  Finished eval(const Arguments &options) {
    Arguments all = {EFFC_PROGRAM,
                     "eval",
                     folder.at("model.effc"),
                     "--tokens",
                     golden("tokens.json"),
                     "--tap",
                     folder.at("taps"),
                     "--device",
                     "host"};
    all.insert(all.end(), options.begin(), options.end());
    return runProgram(all);
  }

  /// The numbers of a weight of the checkpoint.
  std::vector<double> weight(const std::string &name) const {
    return SafetensorsFile::read(golden("model.safetensors"))
        .tensor(name)
        .values();
  }

  std::string model = "mamba2/f32_plain";
  TemporaryFolder folder;
};

/// Half the distance of 1 to the next f32.
constexpr double kUnit = 0x1p-24;

double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

/// `found` is the number that f32 makes of -e^rate softplus(step + bias). The sum is
/// rounded once, by a share of itself, and softplus grows by no more than its argument
/// does. Exponentials, the logarithm and the product are good to some last bits each.
void expectDecay(double found, double rate, double step, double bias,
                 const std::string &where) {
  double exact = -std::exp(rate) * softplus(step + bias);
  double share = kUnit * (std::abs(step + bias) + 32);
  EXPECT_LE(std::abs(found - exact), share * std::abs(exact))
      << where << ": " << found << " for " << exact;
}

constexpr size_t kSequences = 5, kHeads = 6, kProjected = 134, kVocabulary = 97;

} // namespace

// Values before the head's rows are chosen, and behind: those of the last layer, and
// the logits themselves.
TEST_F(Tap, GivesValuesOfTheTokensAndOfTheHead) {
  compile({"--tap", R"(layers\.1\.(in_proj|ssd:dt))", "--tap", "lm_head"});
  Finished done = eval({"--json", "--batch", "3"});
  ASSERT_EQ(done.status, 0) << done.err;
  nlohmann::json summary = nlohmann::json::parse(done.out);
  EXPECT_EQ(summary["width"], kProjected + kHeads + kVocabulary);
  EXPECT_EQ(summary["values"],
            (nlohmann::json{{"layers.1.ssd:dt", {kHeads}},
                            {"layers.1.in_proj", {kProjected}},
                            {"lm_head", {kVocabulary}}}));

  SafetensorsFile file = SafetensorsFile::read(folder.at("taps"));
  SafetensorsFile expected =
      SafetensorsFile::read(golden("golden.safetensors"));
  EXPECT_EQ(file.tensors().size(), 3 * kSequences);
  for (size_t i = 0; i < kSequences; ++i) {
    std::string number = "." + std::to_string(i);
    auto exact = expected.tensor("logits_f64" + number).values();
    auto library = expected.tensor("logits_f32" + number).values();
    auto logits = file.tensor("lm_head" + number).values();
    ASSERT_EQ(logits.size(), exact.size());
    double apart = 0, error = 0;
    for (size_t at = 0; at < exact.size(); ++at) {
      apart = std::max(apart, std::abs(library[at] - exact[at]));
      error = std::max(error, std::abs(logits[at] - exact[at]));
    }
    EXPECT_LE(error, 4 * apart + 1e-6) << "sequence " << i;

    auto dt = file.tensor("layers.1.ssd:dt" + number).values();
    auto all = file.tensor("layers.1.in_proj" + number).values();
    ASSERT_EQ(dt.size(), exact.size() / kVocabulary * kHeads);
    ASSERT_EQ(all.size(), exact.size() / kVocabulary * kProjected);
    for (size_t at = 0; at < dt.size(); ++at)
      EXPECT_EQ(dt[at],
                all[(at / kHeads + 1) * kProjected - kHeads + at % kHeads])
          << "sequence " << i << ", number " << at;
  }
}

// The rows of the last tokens are the last rows.
TEST_F(Tap, LastIsTheLastToken) {
  compile({"--tap", R"(layers\.0\.(in_proj|ssd))"});
  ASSERT_EQ(eval({}).status, 0);
  SafetensorsFile all = SafetensorsFile::read(folder.at("taps"));
  ASSERT_EQ(eval({"--last"}).status, 0);
  SafetensorsFile last = SafetensorsFile::read(folder.at("taps"));
  for (const auto &[name, tensor] : last.tensors()) {
    std::vector<double> rows = all.tensor(name).values(), row = tensor.values();
    EXPECT_EQ(tensor.shape[0], 1u) << name;
    ASSERT_GE(rows.size(), row.size()) << name;
    EXPECT_EQ(std::vector<double>(rows.end() - long(row.size()), rows.end()),
              row)
        << name;
  }
  // The mixer gives heads: [1, H, P] of 6 heads with 8 channels.
  EXPECT_EQ(last.tensor("layers.0.ssd.2").shape,
            (std::vector<uint64_t>{1, 6, 8}));
  EXPECT_EQ(last.tensor("layers.0.in_proj.2").shape,
            (std::vector<uint64_t>{1, 134}));
}

// A decay for each head; and the values as they are written, with their steps.
TEST_F(Tap, DecaysOfHeadsAreThoseOfTheFormula) {
  constexpr size_t kChannels = 8;
  compile({"--tap", R"(layers\.1\.ssd:(dt|x|log_decay|value))"});
  Finished done = eval({"--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  nlohmann::json shapes = nlohmann::json::parse(done.out)["values"];
  EXPECT_EQ(shapes["layers.1.ssd:log_decay"], nlohmann::json::array({kHeads}));
  EXPECT_EQ(shapes["layers.1.ssd:value"],
            nlohmann::json::array({kHeads, kChannels}));
  std::vector<double> rates = weight("backbone.layers.1.mixer.A_log"),
                      biases = weight("backbone.layers.1.mixer.dt_bias");
  SafetensorsFile file = SafetensorsFile::read(folder.at("taps"));
  for (size_t i = 0; i < kSequences; ++i) {
    auto tapped = [&](const char *name) {
      return file
          .tensor("layers.1.ssd:" + std::string(name) + "." + std::to_string(i))
          .values();
    };
    std::vector<double> steps = tapped("dt"), decays = tapped("log_decay"),
                        x = tapped("x"), values = tapped("value");
    ASSERT_GT(steps.size(), 0u);
    ASSERT_EQ(decays.size(), steps.size());
    ASSERT_EQ(values.size(), steps.size() * kChannels);
    ASSERT_EQ(x.size(), values.size());
    for (size_t at = 0; at < steps.size(); ++at) {
      size_t head = at % kHeads;
      std::string where =
          "sequence " + std::to_string(i) + ", number " + std::to_string(at);
      expectDecay(decays[at], rates[head], steps[at], biases[head], where);
      // Of rate -1 and a value before it.
      for (size_t v = at * kChannels; v < (at + 1) * kChannels; ++v)
        if (x[v] != 0)
          expectDecay(-values[v] / x[v], 0, steps[at], biases[head], where);
    }
  }
}

// A decay for each key channel of a head.
TEST_F(Tap, DecaysOfChannelsAreThoseOfTheFormula) {
  constexpr size_t kKdaSequences = 3, kKdaHeads = 2, kKeys = 6;
  model = "families/kda/plain";
  compile({"--tap", R"(layers\.0\.mixer:(f|beta|log_decay|erase_scale))"});
  Finished done = eval({});
  ASSERT_EQ(done.status, 0) << done.err;
  std::vector<double> rates = weight("model.layers.0.attn.A_log"),
                      biases = weight("model.layers.0.attn.dt_bias");
  SafetensorsFile file = SafetensorsFile::read(folder.at("taps"));
  for (size_t i = 0; i < kKdaSequences; ++i) {
    std::string number = "." + std::to_string(i);
    const auto &tensor = file.tensor("layers.0.mixer:log_decay" + number);
    ASSERT_EQ(tensor.shape.size(), 3u);
    EXPECT_EQ(tensor.shape[1], kKdaHeads);
    EXPECT_EQ(tensor.shape[2], kKeys);
    std::vector<double> decays = tensor.values(),
                        steps =
                            file.tensor("layers.0.mixer:f" + number).values();
    ASSERT_GT(steps.size(), 0u);
    ASSERT_EQ(decays.size(), steps.size());
    for (size_t at = 0; at < steps.size(); ++at)
      expectDecay(decays[at], rates[at / kKeys % kKdaHeads], steps[at],
                  biases[at % (kKdaHeads * kKeys)],
                  "sequence " + std::to_string(i) + ", number " +
                      std::to_string(at));
    // What is read along a key is taken away by as much as is learnt: no rounding.
    std::vector<double> learnt =
        file.tensor("layers.0.mixer:beta" + number).values();
    for (double &rate : learnt)
      rate = -rate;
    EXPECT_EQ(file.tensor("layers.0.mixer:erase_scale" + number).values(),
              learnt);
  }
}

// RG-LRU (De et al., arXiv:2402.19427, equations 1 to 4): a decay for each value channel,
// and an input gate that keeps its size; a text begins with neither.
TEST_F(Tap, GatesThatKeepTheirSizeAreThoseOfTheFormula) {
  constexpr size_t kGriffinSequences = 3, kChannels = 3 * 8;
  model = "families/recurrent_gemma/plain";
  compile({"--tap",
           R"(layers\.1\.lru:(x|recurrence|input|value|value_log_decay))"});
  Finished done = eval({});
  ASSERT_EQ(done.status, 0) << done.err;
  std::vector<double> rates =
      weight("model.layers.1.temporal_block.rg_lru.recurrent_param");
  ASSERT_EQ(rates.size(), kChannels);
  SafetensorsFile file = SafetensorsFile::read(folder.at("taps"));
  auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  for (size_t i = 0; i < kGriffinSequences; ++i) {
    auto numbers = [&](const std::string &name) {
      return file.tensor("layers.1.lru:" + name + "." + std::to_string(i))
          .values();
    };
    std::vector<double> x = numbers("x"), recurrence = numbers("recurrence"),
                        input = numbers("input"), value = numbers("value"),
                        decay = numbers("value_log_decay");
    ASSERT_EQ(x.size() % kChannels, 0u);
    ASSERT_GT(x.size(), 0u);
    ASSERT_EQ(value.size(), x.size());
    ASSERT_EQ(decay.size(), x.size());
    for (size_t at = 0; at < x.size(); ++at) {
      std::string where =
          "sequence " + std::to_string(i) + ", number " + std::to_string(at);
      double taken = sigmoid(input[at]) * x[at];
      double exact =
          -8 * sigmoid(recurrence[at]) * softplus(rates[at % kChannels]);
      double multiplier = std::sqrt(-std::expm1(2 * exact));
      // Whatever the gate says, its exponential is 0, and 1 - 0 the multiplier.
      if (at < kChannels) {
        EXPECT_LE(decay[at], -1e29) << where;
        multiplier = 1;
      } else {
        // Two functions and two products, each good to some last bits.
        EXPECT_LE(std::abs(decay[at] - exact), 32 * kUnit * std::abs(exact))
            << where << ": " << decay[at] << " for " << exact;
      }
      // 1 - e^(2 L) is off by no larger a share than L, and its root by half of that.
      EXPECT_LE(std::abs(value[at] - multiplier * taken),
                48 * kUnit * std::abs(multiplier * taken))
          << where << ": " << value[at] << " for " << multiplier * taken;
    }
  }
}

// What no token changes is repeated for each: RetNet's decays, 1 - 2^(-5 - h).
TEST_F(Tap, ConstantsAreRepeated) {
  constexpr size_t kRetNetHeads = 3;
  model = "families/retnet/plain";
  compile({"--tap", R"(layers\.1\.mixer:log_decay)"});
  Finished done = eval({});
  ASSERT_EQ(done.status, 0) << done.err;
  SafetensorsFile file = SafetensorsFile::read(folder.at("taps"));
  const auto &tensor = file.tensor("layers.1.mixer:log_decay.1");
  EXPECT_EQ(tensor.shape, (std::vector<uint64_t>{13, kRetNetHeads}));
  std::vector<double> decays = tensor.values();
  ASSERT_EQ(decays.size(), 13 * kRetNetHeads);
  for (size_t at = 0; at < decays.size(); ++at) {
    double exact = std::log1p(-std::exp2(-5.0 - double(at % kRetNetHeads)));
    EXPECT_LE(std::abs(decays[at] - exact), kUnit * std::abs(exact)) << at;
  }
}

// What has no inner values is refused with the way to have some.
TEST_F(Tap, OtherFilesAreRefused) {
  compile({});
  Finished done = eval({});
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("gives logits: effc compile --tap makes a file that "
                          "gives inner values"),
            std::string::npos)
      << done.err;
}
