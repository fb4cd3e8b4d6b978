#include "frontend/families/Mamba2Config.h"

#include "frontend/checkpoint/Refusal.h"

using namespace effc::frontend;
using llvm::Twine;

static void checkInnerWidth(ConfigReader &reader, const Mamba2Config &config) {
  double expand = reader.getNumber("expand", 0, 1024, 2);
  int64_t inner = reader.getInteger("intermediate_size", 1,
                                    kMostMamba2Dimension * kMostMamba2Dimension,
                                    config.inner());
  if (reader.hasProblem())
    return;
  if (expand * double(config.width) != double(config.inner())) {
    const JsonValue *written = reader.get("expand");
    reader.report("expects expand * hidden_size to be num_heads * head_dim = " +
                  Twine(config.heads) + " * " + Twine(config.values) + " = " +
                  Twine(config.inner()) + ", but got " +
                  (written ? written->describe() : "2") + " * " +
                  Twine(config.width));
  }
  if (inner != config.inner())
    reader.report("expects 'intermediate_size' to be num_heads * head_dim = " +
                  Twine(config.inner()) + ", but got " + Twine(inner));
  if (config.heads % config.groups != 0)
    reader.report(
        "expects 'num_heads' to be a multiple of 'n_groups', but got " +
        Twine(config.heads) + " and " + Twine(config.groups));
}

/// Keys with one acceptable value, which the mathematics here has built in.
static void checkFixedKeys(ConfigReader &reader) {
  (void)reader.get("hidden_act"); // The families read the function.
  if (!reader.getBoolean("rms_norm", true))
    reader.report("expects 'rms_norm' to be true, but got false");
}

/// Keys that the library writes and its forward pass does not read, or reads to
/// choose among ways to compute the same.
static void ignoreKeys(ConfigReader &reader, Remarks &remarks) {
  constexpr llvm::StringRef kKeys[] = {
      "chunk_size",       "initializer_range", "rescale_prenorm_residual",
      "residual_in_fp32", "time_step_floor",   "time_step_init_scheme",
      "time_step_max",    "time_step_min",     "time_step_rank",
      "time_step_scale"};
  for (llvm::StringRef key : reader.ignore(kKeys))
    remarks.push_back("config.json: " + quote(key) +
                      " is ignored: it does not change the results");
  if (!reader.ignore({"norm_before_gate"}).empty())
    remarks.push_back("config.json: 'norm_before_gate' is ignored: the gate is "
                      "applied before the norm whatever it says, as in the "
                      "public implementation");
}

/// What flash-linear-attention writes besides, whose layers are the package's of
/// the original authors: the gate stands where `norm_before_gate` says.
static void readFlashKeys(ConfigReader &reader, Mamba2Config &config,
                          Remarks &remarks) {
  config.epsilon = reader.getNumber("norm_eps", 0, 1, 1e-5);
  readTimeStepLimit(reader, "dt_limit", config);
  bool behind = reader.getBoolean("norm_before_gate", false);
  // Without a norm its place means nothing.
  config.gate = !reader.getBoolean("rmsnorm", true) ? StateSpaceGate::Alone
                : behind ? StateSpaceGate::BehindNorm
                         : StateSpaceGate::BeforeNorm;
  config.feedsChannels = reader.getBoolean("D_has_hdim", false);
  for (llvm::StringRef key :
       reader.ignore({"A_init_range", "conv_init", "dt_init_floor", "dt_max",
                      "dt_min", "fuse_cross_entropy",
                      "fuse_linear_cross_entropy", "fuse_norm", "use_l2warp"}))
    remarks.push_back("config.json: " + quote(key) +
                      " is ignored: it does not change the results");
}

llvm::Expected<Mamba2Config>
effc::frontend::readMamba2Config(ConfigReader &reader, int64_t vocabulary,
                                 Remarks &remarks) {
  constexpr int64_t kMost = kMostMamba2Dimension;
  Mamba2Config config;
  config.table = "backbone.embeddings.weight";
  config.headMayDiffer = true;
  config.vocabulary = vocabulary;
  config.width = reader.requireInteger("hidden_size", 1, kMost);
  config.layers =
      reader.requireInteger("num_hidden_layers", 1, kMostMamba2Layers);
  config.heads = reader.requireInteger("num_heads", 1, kMost);
  config.values = reader.requireInteger("head_dim", 1, kMost);
  config.keys = reader.requireInteger("state_size", 1, kMost);
  bool isFlash = reader.get("norm_eps") && !reader.get("layer_norm_epsilon");
  config.groups = reader.getInteger("n_groups", 1, kMost, isFlash ? 1 : 8);
  config.taps = reader.getInteger("conv_kernel", 1, 64, 4);
  config.inputBias = config.outputBias = reader.getBoolean("use_bias", false);
  config.convolutionBias = reader.getBoolean("use_conv_bias", true);
  config.tied = reader.getBoolean("tie_word_embeddings", false);
  if (isFlash) {
    readFlashKeys(reader, config, remarks);
  } else {
    config.epsilon = reader.getNumber("layer_norm_epsilon", 0, 1, 1e-5);
    readTimeStepLimit(reader, "time_step_limit", config);
  }
  checkInnerWidth(reader, config);
  checkFixedKeys(reader);
  ignoreKeys(reader, remarks);
  if (llvm::Error error = reader.finish())
    return error;
  return config;
}
