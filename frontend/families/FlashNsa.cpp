#include "frontend/families/FlashNsa.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/FlashModel.h"
#include "frontend/model/BlockChoice.h"
#include "frontend/model/Decoder.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

/// Blocks that a query always chooses: the first, the one before its own, and its own.
constexpr int64_t kFirst = 1, kLast = 2;

struct NsaConfig {
  FlashConfig model;
  AttentionConfig attention;
  LayerAttention layer;
  BlockChoice choice;
  /// Keys in sight of a query in the branch of a window; 0: there is none.
  int64_t window = 512;
};

/// Everything from a normalised token to what is added to the residual. Names are
/// those of the project, sources those of the file.
class NsaEmitter {
public:
  NsaEmitter(ModelBuilder &model, const NsaConfig &config,
             const std::string &name, const std::string &source)
      : model(model), config(config), name(name), source(source),
        here(name + "attention") {}

  Value emit(Value x) {
    if (model.getStreamed().window > 0) {
      model.refuseStreamed("blocks of positions that queries choose");
      return x;
    }
    const AttentionConfig &heads = config.attention;
    AttentionInputs in = projectToHeads(model, heads, {here, source}, x);
    Value query =
        turn(model, here + ".query", config.layer,
             model.reshape(here, in.query, {heads.heads, heads.keys}));
    Value key = turn(model, here + ".key", config.layer,
                     model.reshape(here, in.key, {heads.keyHeads, heads.keys}));
    Value value = model.reshape(here, in.value, {heads.keyHeads, heads.keys});
    Value means = mixBlockMeans(model, name + "compressed", config.choice,
                                query, key, value);
    Value y = gated("compressed", x, means, /*gate=*/0);
    AttentionExtras extras;
    extras.blocks = chooseBlocks(model, here, config.choice, query, key);
    extras.block = config.choice.length;
    Value chosen =
        attend(model, here, heads, /*window=*/0, query, key, value, extras);
    y = model.add(here, y, gated("chosen", x, chosen, /*gate=*/1));
    if (config.window > 0)
      y = model.add(here, y,
                    gated("window", x,
                          attend(model, name + "window", heads, config.window,
                                 query, key, value),
                          /*gate=*/2));
    return model.project(
        MatrixRole::AttentionOut, here + ".out", source + "o_proj",
        model.reshape(here, y, {heads.inner()}), model.getWidth());
  }

private:
  /// A branch's result [T, H, V] times a number for each head and token. The three
  /// gates of a head are rows beside one another.
  Value gated(const std::string &branch, Value x, Value mixed, int64_t gate) {
    constexpr int64_t kGates = 3;
    std::string at = name + branch + "_gate";
    Value number = model.activate(
        at,
        model.projectRows(at, source + "g_proj", x,
                          model.rows(gate, 1, kGates, config.attention.heads)),
        seq::Nonlinearity::Sigmoid);
    return model.mul(at, mixed,
                     seq::BroadcastOp::create(model.getBuilder(), model.at(at),
                                              number, mixed,
                                              llvm::ArrayRef<int64_t>{0, 1}));
  }

  ModelBuilder &model;
  const NsaConfig &config;
  const std::string &name, &source;
  const std::string here;
};

} // namespace

// The library's kernel rounds the number of blocks up to a power of two, its formula
// does not; and of the blocks that all queries choose there has to be room for each.
static int64_t readCount(ConfigReader &reader) {
  int64_t count = reader.getInteger("block_counts", 1, kMostContext, 16);
  if (!reader.hasProblem() &&
      (count < kFirst + kLast || !llvm::isPowerOf2_64(uint64_t(count))))
    reader.report("expects 'block_counts' to be a power of two of at least 4, "
                  "but got " +
                  Twine(count));
  return count;
}

static NsaConfig readNsa(FamilyInput &input) {
  ConfigReader &reader = input.config;
  NsaConfig config;
  config.model = readFlash(input, 4);
  config.model.family = "nsa";
  config.model.keepsKeys = true;
  reader.expectNone({"attn"}, "in a model whose layers all choose blocks");
  AttentionConfig &heads = config.attention;
  heads.heads = reader.getInteger("num_heads", 1, kMostDimension, 64);
  heads.keyHeads = reader.get("num_kv_heads")
                       ? readKeyHeads(reader, heads.heads)
                       : std::min<int64_t>(heads.heads, 4);
  heads.keys = reader.getInteger("head_dim", 1, kMostDimension, 32);
  heads.scale = 1 / std::sqrt(double(heads.keys));
  heads.inputBias = reader.getBoolean("qkv_bias", false);
  if (!reader.hasProblem() && heads.heads % heads.keyHeads != 0)
    reader.report("expects 'num_heads' to be a multiple of 4 where "
                  "'num_kv_heads' is not given, but got " +
                  Twine(heads.heads));
  RotaryRequest request{heads.keys, config.model.context};
  request.scaled = false;
  config.layer.rotary = readRotary(reader, input, request);
  config.choice.length = reader.getInteger("block_size", 1, kMostContext, 64);
  config.choice.count = readCount(reader);
  config.choice.groups = heads.keyHeads;
  config.choice.first = kFirst;
  config.choice.last = kLast;
  config.choice.score = seq::BlockScore::Share;
  config.choice.scale = heads.scale;
  config.window = reader.getInteger("window_size", 0, kMostContext, 512);
  requireOneOf(reader, "hidden_act", {"swish"});
  // Norms have weights whatever it says.
  ignoreHarmless(reader, input.remarks, {"elementwise_affine", "fuse_norm"});
  return config;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importFlashNsa(FamilyInput &input) {
  NsaConfig config = readNsa(input);
  if (llvm::Error error = input.config.finish())
    return error;
  return buildFlash(config.model, input,
                    [&](ModelBuilder &model, const std::string &name,
                        const std::string &source, Value x, int64_t) {
                      return NsaEmitter(model, config, name, source).emit(x);
                    });
}
