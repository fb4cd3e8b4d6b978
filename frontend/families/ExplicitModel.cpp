#include "frontend/families/ExplicitModel.h"

#include "frontend/families/ExplicitPart.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/TextModel.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

/// What becomes of a part's result.
enum class Residual {
  Plain,   // added
  Learned, // added to the residual times a weight per channel
  TwoHop,  // added to what the next part normalises, and to nothing else
  None,    // in place of it
};

struct Part {
  Residual residual = Residual::Plain;
  NormChoice norm;
  EmitPart emit;
};

using Block = std::vector<Part>;

/// What blocks have where they do not say.
struct Defaults {
  Residual residual = Residual::Plain;
  NormChoice norm;
};

} // namespace

static Residual readResidual(ConfigReader &reader, Residual otherwise) {
  return Residual(readName(reader, "residual",
                           {"plain", "learned", "two_hop", "none"},
                           size_t(otherwise)));
}

static Defaults readDefaults(PartInput &in, Defaults outer) {
  return {readResidual(in.reader, outer.residual),
          readNorm(in, "norm", outer.norm)};
}

/// Calls `read` with each object of the array at `key`; there is at least one.
static void readEach(PartInput &in, llvm::StringRef key,
                     llvm::function_ref<void(PartInput &)> read) {
  const JsonValue *value = in.reader.get(key);
  const JsonArray *array = value ? value->getArray() : nullptr;
  if (!array || array->empty()) {
    if (value)
      in.reader.reportMismatch(key, "an array of objects", *value);
    else
      in.reader.report("lacks '" + key + "'");
    return;
  }
  for (size_t i = 0; i < array->size(); ++i) {
    const JsonObject *object = (*array)[i].getObject();
    if (!object) {
      in.reader.reportMismatch(key, "an array of objects", (*array)[i]);
      return;
    }
    std::string path = (in.path + "." + key + "[" + Twine(i) + "]").str();
    ConfigReader inner(path, *object);
    PartInput each{inner, in.input, path, in.width, in.context};
    read(each);
    in.reader.finishInner(inner);
  }
}

static Block readBlock(PartInput &in, const Defaults &defaults) {
  Block block;
  readEach(in, "parts", [&](PartInput &each) {
    Part part;
    Defaults own = readDefaults(each, defaults);
    part.residual = own.residual;
    part.norm = own.norm;
    part.emit = readPart(each);
    block.push_back(std::move(part));
  });
  if (!block.empty() && block.back().residual == Residual::TwoHop)
    in.reader.report("expects the last part's 'residual' to be plain, learned "
                     "or none, since no part follows, but got \"two_hop\"");
  return block;
}

/// Of all blocks, repetitions counted.
static constexpr size_t kMostParts = 8192;

/// The blocks of an array 'blocks', whose elements may be such arrays again.
static void readBlocks(PartInput &in, const Defaults &outer,
                       std::vector<Block> &blocks) {
  readEach(in, "blocks", [&](PartInput &each) {
    Defaults defaults = readDefaults(each, outer);
    int64_t times = each.reader.getInteger("repeat", 1, kMostLayers, 1);
    std::vector<Block> once;
    if (each.reader.get("blocks"))
      readBlocks(each, defaults, once);
    else
      once.push_back(readBlock(each, defaults));
    if (int64_t(once.size()) * times + int64_t(blocks.size()) > kMostLayers)
      return each.reader.report("expects at most " + Twine(kMostLayers) +
                                " blocks, but got " +
                                Twine(int64_t(once.size()) * times) +
                                " more by 'repeat' " + Twine(times));
    size_t parts = 0;
    for (const Block &block : once)
      parts += block.size() * size_t(times);
    for (const Block &block : blocks)
      parts += block.size();
    if (parts > kMostParts)
      return each.reader.report("expects at most " + Twine(kMostParts) +
                                " parts in all blocks, but got " +
                                Twine(parts));
    for (int64_t i = 0; i < times; ++i)
      llvm::append_range(blocks, once);
  });
}

/// One block: `x` is the residual before it.
static Value emitBlock(ModelBuilder &model, const Block &block,
                       const std::string &at, Value x) {
  Value ahead; // a two-hop part's result
  for (size_t i = 0; i < block.size(); ++i) {
    const Part &part = block[i];
    std::string name = at + std::to_string(i) + ".";
    Value seen = ahead ? model.add(name + "ahead", x, ahead) : x;
    ahead = {};
    Value y =
        part.emit(model, name, emitNorm(model, name + "norm", seen, part.norm));
    switch (part.residual) {
    case Residual::Plain:
      x = model.add(name + "residual", x, y);
      break;
    case Residual::Learned: {
      Value weight =
          model.vector(name + "residual", name + "residual", model.getWidth());
      Value kept = model.mul(name + "residual", x,
                             model.broadcast(name + "residual", weight, x));
      x = model.add(name + "residual", kept, y);
      break;
    }
    case Residual::TwoHop:
      ahead = y;
      break;
    case Residual::None:
      x = y;
      break;
    }
  }
  return x;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importExplicit(FamilyInput &input) {
  ConfigReader &reader = input.config;
  int64_t width = reader.requireInteger("hidden_size", 1, kMostDimension);
  int64_t count = reader.requireInteger("num_hidden_layers", 1, kMostLayers);
  int64_t context =
      reader.requireInteger("max_position_embeddings", 1, kMostContext);
  PartInput in{reader, input, "config.json", width, context};
  Defaults defaults = readDefaults(in, {});
  NormChoice endNorm = readNorm(in, "final_norm", defaults.norm);
  TextModelConfig text;
  text.family = "effc";
  text.vocabulary = input.vocabulary;
  text.width = width;
  text.context = chooseContext(input, context);
  text.head.table = "embedding.weight";
  text.head.head = "head.weight";
  text.head.tied = reader.getBoolean("tie_word_embeddings", false);
  text.embeddingScale = reader.getNumber("embedding_scale", 1e-9, 1e9, 1);
  text.logitCap = reader.getNumberIfSet("logits_soft_cap", 1e-9, 1e9);
  std::vector<Block> blocks;
  if (!reader.hasProblem())
    readBlocks(in, defaults, blocks);
  if (!reader.hasProblem() && int64_t(blocks.size()) != count) {
    const JsonArray *entries = reader.get("blocks")->getArray();
    reader.report("expects 'blocks' to give 'num_hidden_layers' " +
                  Twine(count) + " blocks, but got " + Twine(blocks.size()) +
                  " from " + Twine(entries->size()) +
                  (entries->size() == 1 ? " entry" : " entries"));
  }
  if (llvm::Error error = reader.finish())
    return error;
  // One without a weight is no tensor's; it is emitted behind the blocks.
  if (endNorm.present && endNorm.hasWeight) {
    text.endNorm = "final_norm";
    text.norm = endNorm.config;
    endNorm.present = false;
  }
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (size_t i = 0; i < blocks.size(); ++i)
      x = emitBlock(model, blocks[i], "blocks." + std::to_string(i) + ".", x);
    return emitNorm(model, "final_norm", x, endNorm);
  });
}
