#include "frontend/families/Plamo2.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/PlamoDecoder.h"
#include "frontend/model/LayerPattern.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

struct Plamo2Config {
  DecoderConfig decoder;
  /// Which layers recur; the others attend.
  std::vector<bool> recurs;
  /// H and N of the mixer, whose heads have as many channels as those of
  /// attention; R, the rank of its time step.
  int64_t heads = 1, keys = 1, rank = 1;
  int64_t taps = 4;

  int64_t inner() const { return heads * decoder.attention.keys; }
};

} // namespace

static void readPlamo2Layers(ConfigReader &reader, Plamo2Config &config) {
  auto layers = int64_t(config.decoder.layers.size());
  int64_t step = reader.getInteger("mamba_step", 2, kMostLayers, 2);
  bool enabled = reader.getBoolean("mamba_enabled", true);
  for (int64_t layer = 0; layer < layers; ++layer)
    config.recurs.push_back(
        enabled &&
        (layers <= step / 2 ? layer != layers - 1 : layer % step != step / 2));
}

/// The authors' code attends in a window in layers that no list names; public
/// engines let them see all keys. As long as nothing outgrows a window both do
/// the same.
static void readPlamo2Windows(ConfigReader &reader, FamilyInput &input,
                              Plamo2Config &config) {
  constexpr llvm::StringLiteral kWindow = "attention_window_size",
                                kFull = "full_attention_idx";
  DecoderConfig &decoder = config.decoder;
  int64_t window =
      reader.getIntegerIfSet(kWindow, 1, kMostContext).value_or(2048);
  std::vector<bool> full =
      readListedLayers(reader, kFull, int64_t(decoder.layers.size()));
  bool slides = false;
  for (size_t layer = 0; layer < full.size(); ++layer)
    slides |= !config.recurs[layer] && !full[layer];
  if (!slides || window >= decoder.context)
    return;
  decoder.context = window;
  input.remarks.push_back(
      "config.json: 'attention_window_size' bounds the context by " +
      std::to_string(window) +
      ": public codes differ in what layers see beyond it; with --max-context "
      "they "
      "see all keys");
}

static Plamo2Config readPlamo2(FamilyInput &input) {
  ConfigReader &reader = input.config;
  Plamo2Config config;
  constexpr llvm::StringLiteral kChannels = "hidden_size_per_head";
  DecoderKeys keys;
  keys.channels = kChannels;
  config.decoder =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/true, keys);
  if (!reader.isSet(kChannels))
    reader.report("lacks " + quote(kChannels));
  DecoderConfig &decoder = config.decoder;
  decoder.family = "plamo2";
  decoder.norm.unitOffset = !input.stored.wholeNorms;
  decoder.prefix = kPlamoPrefix;
  config.heads = reader.requireInteger("mamba_num_heads", 1, kMostDimension);
  config.keys = reader.requireInteger("mamba_d_state", 1, kMostDimension);
  config.taps = reader.getInteger("mamba_d_conv", 1, 64, 4);
  config.rank = std::max<int64_t>(64, decoder.width / 16);
  readPlamo2Layers(reader, config);
  readPlamo2Windows(reader, input, config);
  RotaryConfig rotary =
      readRotary(reader, input, {decoder.attention.keys, decoder.context});
  for (LayerAttention &layer : decoder.layers)
    layer.rotary = rotary;
  reader.expectNone({"rope_local_theta"},
                    "in the text models that public engines run");
  checkPlamoIsPlainText(reader);
  ignoreHarmless(reader, input.remarks, {"mamba_chunk_size"});
  return config;
}

namespace {

class Plamo2Mixer {
public:
  Plamo2Mixer(ModelBuilder &model, const Plamo2Config &config,
              const LayerNames &names, int64_t layer)
      : model(model), config(config), decoder(config.decoder),
        attention(decoder.attention), layer(layer), names(names) {}

  Value emit(Value x) {
    return config.recurs[size_t(layer)] ? recur(x) : attend(x);
  }

private:
  Value attend(Value x) {
    std::string here = names.name + "attention",
                source = names.source + "mixer.";
    int64_t inner = attention.inner(), keyWidth = attention.keyWidth();
    LayerAttention positions =
        streamed(model, here, decoder.layers[size_t(layer)]);
    Value all = model.project(MatrixRole::Values, here + ".in",
                              source + "qkv_proj", x, inner + 2 * keyWidth);
    auto part = [&](const char *what, int64_t offset, int64_t size) {
      return model.slice(here + what, all, offset, size);
    };
    Value query = normHeads(".query", "q_weight", part(".query", 0, inner),
                            attention.heads);
    Value key = normHeads(".key", "k_weight", part(".key", inner, keyWidth),
                          attention.keyHeads);
    Value value =
        model.reshape(here, part(".value", inner + keyWidth, keyWidth),
                      {attention.keyHeads, attention.keys});
    AttentionExtras extras;
    addSinks(model, here, positions, query, extras);
    Value mixed = frontend::attend(
        model, here, attention, positions.window,
        turn(model, here + ".query", positions, query),
        turn(model, here + ".key", positions, key), value, extras);
    return model.project(MatrixRole::AttentionOut, here + ".out",
                         source + "o_proj", model.reshape(here, mixed, {inner}),
                         decoder.width);
  }

  /// [T, H, K], with weights of each head's own. The public code makes these
  /// norms without the configuration's epsilon.
  Value normHeads(const std::string &part, const std::string &tensor, Value x,
                  int64_t heads) {
    std::string here = names.name + "attention" + part + "_norm";
    WeightSource stored(names.source + "mixer." + tensor);
    stored.stored = {heads, attention.keys};
    Value weight = model.numbers(here, stored, {heads * attention.keys});
    Value y = seq::GroupNormOp::create(
        model.getBuilder(), model.at(here), x.getType(), x, weight,
        /*bias=*/Value(), llvm::APFloat(1e-6), heads,
        seq::NormMeasure::MeanSquare, /*centred=*/false, /*unit_offset=*/false);
    return model.reshape(here, y, {heads, attention.keys});
  }

  Value recur(Value x) {
    std::string name = names.name, source = names.source + "mixer.";
    int64_t heads = config.heads, channels = attention.keys,
            inner = config.inner(), keys = config.keys, rank = config.rank;
    auto half = [&](const char *part, int64_t offset) {
      return model.projectRows(
          name + part, source + "in_proj", x,
          model.rows(offset, channels, 2 * channels, heads));
    };
    Value gate = half("gate_proj", 0);
    Value taps =
        model.taps(name + "conv", source + "conv1d.weight", config.taps, inner);
    Value u = model.shortConvolution(name + "conv", half("in_proj", channels),
                                     taps, /*bias=*/{}, seq::Activation::Silu);
    Value all =
        model.project(name + "bcdt", source + "bcdt_proj", u, rank + 2 * keys);
    auto part = [&](const std::string &what, int64_t offset, int64_t size) {
      std::string here = name + what + "_norm";
      return model.rmsNorm(
          here, model.slice(name + "bcdt", all, offset, size),
          model.vector(here, source + what + "_norm_weight", size),
          decoder.norm.epsilon);
    };
    Value b = part("B", 0, keys), c = part("C", keys, keys);
    Value step = model.project(name + "dt", source + "dt_proj",
                               part("dt", 2 * keys, rank), heads);
    std::string here = name + "ssd";
    auto inGroup = [&](Value y) { return model.reshape(here, y, {1, keys}); };
    auto vector = [&](const char *what, const char *tensor) {
      return model.vector(name + what, source + tensor, heads);
    };
    Value rate = vector("a_log", "A_log"), bias = vector("dt_bias", "dt_bias"),
          through = vector("d", "D");
    Value state = model.state(here, {heads, keys, channels});
    Value values = model.reshape(here, u, {heads, channels});
    auto op = seq::SsdOp::create(
        model.getBuilder(), model.at(here), values.getType(), state.getType(),
        values, step, inGroup(b), inGroup(c), rate, bias, through, state,
        /*dt_min=*/nullptr, /*dt_max=*/nullptr, /*form=*/nullptr);
    model.setNextState(op.getNextState());
    Value y =
        model.mul(name + "gate", model.reshape(here, op.getY(), {inner}),
                  model.activate(name + "gate", gate, seq::Nonlinearity::Silu));
    return model.project(name + "out_proj", source + "out_proj", y,
                         decoder.width);
  }

  ModelBuilder &model;
  const Plamo2Config &config;
  const DecoderConfig &decoder;
  const AttentionConfig &attention;
  int64_t layer;
  const LayerNames &names;
};

} // namespace

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importPlamo2(FamilyInput &input) {
  Plamo2Config config = readPlamo2(input);
  if (llvm::Error error = input.config.finish())
    return error;
  return buildPlamo(config.decoder, input,
                    [&](ModelBuilder &model, const LayerNames &names,
                        int64_t layer, Value x) {
                      return Plamo2Mixer(model, config, names, layer).emit(x);
                    });
}
