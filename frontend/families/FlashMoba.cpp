#include "frontend/families/FlashMoba.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/FlashModel.h"
#include "frontend/model/BlockChoice.h"
#include "frontend/model/Decoder.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

struct MobaConfig {
  FlashConfig model;
  AttentionConfig attention;
  LayerAttention layer;
  /// Positions of a block, and blocks that each head sees, its own among them.
  int64_t block = 256, count = 4;
  bool gate = false;
};

/// Everything from a normalised token to what is added to the residual. Names are
/// those of the project, sources those of the file.
class MobaEmitter {
public:
  MobaEmitter(ModelBuilder &model, const MobaConfig &config,
              const std::string &name, const std::string &source)
      : model(model), config(config), name(name), source(source),
        here(name + "attention") {}

  Value emit(Value x) {
    const AttentionConfig &heads = config.attention;
    bool chooses = config.count > 1; // else the library attends to all keys
    if (chooses && model.getStreamed().window > 0) {
      model.refuseStreamed("blocks of positions that queries choose");
      return x;
    }
    LayerAttention layer = streamed(model, here, config.layer);
    AttentionInputs in = projectToHeads(model, heads, {here, source}, x);
    Value query = model.reshape(here, in.query, {heads.heads, heads.keys});
    Value key = model.reshape(here, in.key, {heads.keyHeads, heads.keys});
    Value value = model.reshape(here, in.value, {heads.keyHeads, heads.keys});
    AttentionExtras extras;
    addSinks(model, here, layer, query, extras);
    query = turn(model, here + ".query", layer, query);
    key = turn(model, here + ".key", layer, key);
    if (chooses) {
      BlockChoice choice;
      choice.length = config.block;
      choice.groups = heads.heads;
      choice.count = config.count;
      choice.scale = heads.scale;
      extras.blocks = chooseBlocks(model, here, choice, query, key);
      extras.block = config.block;
    }
    Value y =
        attend(model, here, heads, layer.window, query, key, value, extras);
    // Neither is told the model's epsilon.
    constexpr double kEpsilon = 1e-6;
    y = normAndGate(model, name, source + "o_norm",
                    model.reshape(here, y, {heads.inner()}), heads.heads,
                    kEpsilon, config.gate ? emitGate(x) : Value(),
                    seq::Nonlinearity::Sigmoid);
    return model.project(MatrixRole::AttentionOut, here + ".out",
                         source + "o_proj", y, model.getWidth());
  }

private:
  // Two matrices, of which the first is as narrow as a head.
  Value emitGate(Value x) {
    Value low = model.project(name + "g.low", source + "g_proj.0", x,
                              config.attention.keys);
    return model.project(name + "g", source + "g_proj.1", low,
                         config.attention.inner());
  }

  ModelBuilder &model;
  const MobaConfig &config;
  const std::string &name, &source;
  const std::string here;
};

} // namespace

static MobaConfig readMoba(FamilyInput &input) {
  ConfigReader &reader = input.config;
  MobaConfig config;
  config.model = readFlash(input, 4);
  config.model.family = "moba";
  config.model.keepsKeys = true;
  reader.expectNone({"attn"}, "in a model whose layers all choose blocks");
  std::tie(config.attention, config.layer) =
      readFlashAttention(reader, input, config.model);
  if (config.layer.window > 0)
    reader.reportMismatch("window_size", "null", *reader.get("window_size"));
  config.block = reader.getInteger("moba_chunk_size", 1, kMostContext, 256);
  config.count = reader.getInteger("moba_topk", 1, kMostContext, 4);
  config.gate = reader.getBoolean("use_output_gate", false);
  requireOneOf(reader, "hidden_act", {"swish"});
  // Norms have weights whatever it says; kernels compute the same.
  ignoreHarmless(reader, input.remarks,
                 {"elementwise_affine", "fuse_norm", "use_flash_moba"});
  input.remarks.push_back(
      config.count > 1
          ? "config.json: 'moba_topk' holds in every call; the public "
            "library's steps attend to all keys, so that they give other "
            "logits than its prompts"
          : "config.json: 'moba_topk' of 1 is attention to all keys, as in the "
            "public library");
  return config;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importFlashMoba(FamilyInput &input) {
  MobaConfig config = readMoba(input);
  if (llvm::Error error = input.config.finish())
    return error;
  return buildFlash(config.model, input,
                    [&](ModelBuilder &model, const std::string &name,
                        const std::string &source, Value x, int64_t) {
                      return MobaEmitter(model, config, name, source).emit(x);
                    });
}
