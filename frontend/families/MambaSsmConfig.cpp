// config.json as the package `mamba_ssm` writes it:
//
//   {"d_model": 768, "d_intermediate": 0, "n_layer": 24, "vocab_size": 50277,
//    "ssm_cfg": {"layer": "Mamba2"}, "attn_layer_idx": [], "attn_cfg": {},
//    "rms_norm": true, "residual_in_fp32": true, "fused_add_norm": true,
//    "pad_vocab_size_multiple": 16, "tie_embeddings": true}
//
// The top is its MambaConfig, "ssm_cfg" the arguments of its module Mamba2.
#include "frontend/families/Mamba2Config.h"

#include "frontend/checkpoint/Refusal.h"

using namespace effc::frontend;
using llvm::Twine;

int64_t effc::frontend::readMambaSsmVocabulary(ConfigReader &reader,
                                               int64_t most) {
  int64_t size = reader.requireInteger("vocab_size", 1, most);
  int64_t multiple = reader.getInteger("pad_vocab_size_multiple", 1, most, 8);
  int64_t rows = (size + multiple - 1) / multiple * multiple;
  if (!reader.hasProblem() && rows > most)
    reader.report("expects at most " + Twine(most) +
                  " rows of embeddings, but 'vocab_size' rounded up to "
                  "'pad_vocab_size_multiple' gives " +
                  Twine(rows));
  return reader.hasProblem() ? 1 : rows;
}

static void remarkIgnored(ConfigReader &reader, llvm::StringRef where,
                          llvm::ArrayRef<llvm::StringRef> keys,
                          Remarks &remarks) {
  for (llvm::StringRef key : reader.ignore(keys))
    remarks.push_back((where + ": " + quote(key) +
                       " is ignored: it does not change the results")
                          .str());
}

/// The number of heads follows from the widths. The mixer may have `d_ssm` of
/// the inner channels.
static void readHeads(ConfigReader &mixer, Mamba2Config &config) {
  constexpr int64_t kMost = kMostMamba2Dimension;
  int64_t expand = mixer.getInteger("expand", 1, 1024, 2);
  config.values = mixer.getInteger("headdim", 1, kMost, 64);
  config.groups = mixer.getInteger("ngroups", 1, kMost, 1);
  if (mixer.hasProblem())
    return;
  int64_t inner = expand * config.width;
  std::string name = "expand * d_model = " + std::to_string(expand) + " * " +
                     std::to_string(config.width);
  int64_t mixed = mixer.getIntegerIfSet("d_ssm", 1, inner).value_or(inner);
  if (mixer.hasProblem())
    return;
  if (mixed != inner)
    name = "'d_ssm' " + std::to_string(mixed);
  if (mixed % config.values != 0 || mixed / config.values > kMost) {
    mixer.report("expects 'headdim' to divide " + name + " into at most " +
                 Twine(kMost) + " heads, but got " + Twine(config.values));
    return;
  }
  config.beside = inner - mixed;
  config.heads = mixed / config.values;
  if (config.heads % config.groups != 0)
    mixer.report("expects the number of heads to be a multiple of 'ngroups', "
                 "but got " +
                 Twine(config.heads) + " and " + Twine(config.groups));
}

static void readMixer(ConfigReader &reader, const JsonObject &object,
                      Mamba2Config &config, Remarks &remarks) {
  constexpr llvm::StringLiteral kWhere = "config.json: ssm_cfg";
  ConfigReader mixer(reader, "ssm_cfg", object);
  const std::string *layer = mixer.getString("layer");
  if (!mixer.hasProblem() && (!layer || *layer != "Mamba2"))
    mixer.report("layer " + (layer ? quote(*layer) : "'Mamba1' (the default)") +
                 " is not supported; supported: Mamba1, Mamba2, Mamba3");
  config.keys = mixer.getInteger("d_state", 1, kMostMamba2Dimension, 128);
  config.taps = mixer.getInteger("d_conv", 2, 64, 4);
  config.inputBias = config.outputBias = mixer.getBoolean("bias", false);
  config.convolutionBias = mixer.getBoolean("conv_bias", true);
  readTimeStepLimit(mixer, "dt_limit", config);
  readHeads(mixer, config);
  // Without a norm its place means nothing.
  bool behind = mixer.getBoolean("norm_before_gate", false);
  config.gate = !mixer.getBoolean("rmsnorm", true) ? StateSpaceGate::Alone
                : behind                           ? StateSpaceGate::BehindNorm
                                                   : StateSpaceGate::BeforeNorm;
  config.feedsChannels = mixer.getBoolean("D_has_hdim", false);
  remarkIgnored(mixer, kWhere,
                {"A_init_range", "chunk_size", "conv_init", "dt_init_floor",
                 "dt_max", "dt_min", "sequence_parallel", "use_mem_eff_path"},
                remarks);
  reader.finishInner(mixer);
}

llvm::Expected<Mamba2Config>
effc::frontend::readMambaSsmConfig(ConfigReader &reader, int64_t vocabulary,
                                   Remarks &remarks) {
  Mamba2Config config;
  config.table = "backbone.embedding.weight";
  config.vocabulary = vocabulary;
  config.width = reader.requireInteger("d_model", 1, kMostMamba2Dimension);
  config.layers = reader.requireInteger("n_layer", 1, kMostMamba2Layers);
  config.tied = reader.getBoolean("tie_embeddings", true);
  remarkIgnored(reader, "config.json", {"fused_add_norm", "residual_in_fp32"},
                remarks);
  const JsonValue *mixer = reader.get("ssm_cfg");
  if (mixer && mixer->getObject())
    readMixer(reader, *mixer->getObject(), config, remarks);
  else
    reader.report(mixer ? "expects 'ssm_cfg' to be an object, but got " +
                              mixer->describe()
                        : std::string("lacks 'ssm_cfg'"));
  if (llvm::Error error = reader.finish())
    return error;
  int64_t tokens = reader.getInteger("vocab_size", 1, vocabulary, vocabulary);
  if (tokens != vocabulary)
    remarks.push_back("config.json: 'vocab_size' " + std::to_string(tokens) +
                      " is padded to " + std::to_string(vocabulary) +
                      ": logits have as many columns, of which the last " +
                      std::to_string(vocabulary - tokens) + " name no token");
  return config;
}
