// The explicit layout's mixers whose weights belong to absolute positions.
#include "frontend/families/ExplicitParts.h"

#include "frontend/model/PositionMixers.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

enum class Repeat { Row, Column, Mixed, Combined };

struct StructuredPart {
  Repeat repeat = Repeat::Mixed;
  int64_t heads = 1;
  bool decays = true, projects = true, diagonal = false;
  /// The power of a decay is one over it.
  int64_t root = 1;
  int64_t positions = 1, kernel = 1;
};

class StructuredEmitter {
public:
  StructuredEmitter(ModelBuilder &model, const StructuredPart &config,
                    const std::string &at)
      : model(model), config(config), at(at) {}

  Value emit(Value x) {
    int64_t width = model.getWidth();
    if (config.projects)
      x = model.project(at + "x", at + "x", x, width, /*bias=*/true);
    Value y = config.kernel > 1 ? emitKernel(x) : emitHeads(x);
    if (!config.projects)
      return y;
    return model.project(at + "o", at + "o", y, width, /*bias=*/true);
  }

private:
  Value rows(const std::string &symbol, int64_t heads) {
    return positionRows(model, at + symbol, WeightSource(at + symbol), heads,
                        config.positions);
  }

  /// Heads that all repeat rows, or all columns.
  Value emitRun(const std::string &prefix, Value x, bool row, bool hasBias) {
    int64_t heads = innerShape(x)[0];
    StructuredWeights weights;
    (row ? weights.source : weights.target) = rows(prefix + "w", heads);
    if (hasBias)
      weights.bias = rows(prefix + "b", heads);
    if (config.diagonal)
      weights.diagonal = rows(prefix + "diagonal", heads);
    if (config.decays)
      weights.decay =
          model.vector(at + prefix + "decay", at + prefix + "decay", heads);
    weights.root = config.root;
    return emitStructured(model, at + prefix + "mixer", x, weights);
  }

  Value emitHeads(Value flat) {
    int64_t width = innerShape(flat)[0], heads = config.heads;
    Value x = model.reshape(at + "mixer", flat, {heads, width / heads});
    auto join = [&](Value y) {
      return model.reshape(at + "mixer", y,
                           {innerShape(y)[0] * innerShape(y)[1]});
    };
    switch (config.repeat) {
    case Repeat::Row:
    case Repeat::Column:
      return join(emitRun("", x, config.repeat == Repeat::Row, true));
    case Repeat::Combined:
      return join(model.add(at + "mixer", emitRun("row.", x, true, false),
                            emitRun("column.", x, false, true)));
    case Repeat::Mixed:
      break;
    }
    auto half = [&](int64_t offset) {
      Value part = model.slice(at + "mixer", flat, offset, width / 2);
      return model.reshape(at + "mixer", part, {heads / 2, width / heads});
    };
    Value columns = join(emitRun("column.", half(0), false, true));
    Value repeated = join(emitRun("row.", half(width / 2), true, true));
    return seq::ConcatOp::create(model.getBuilder(), model.at(at + "mixer"),
                                 mlir::ValueRange{columns, repeated},
                                 /*axis=*/1);
  }

  /// Columns whose weights see as many channels: a sum, then its neighbours.
  Value emitKernel(Value x) {
    int64_t width = innerShape(x)[0];
    StructuredWeights weights;
    if (config.decays)
      weights.decay = model.vector(at + "decay", at + "decay", 1);
    weights.root = config.root;
    Value sum = model.reshape(
        at + "mixer",
        emitStructured(model, at + "mixer",
                       model.reshape(at + "mixer", x, {1, width}), weights),
        {width});
    mlir::OpBuilder &builder = model.getBuilder();
    Value bias = seq::ReshapeOp::create(
        builder, model.at(at + "b"),
        mlir::RankedTensorType::get({mlir::ShapedType::kDynamic},
                                    builder.getF32Type()),
        rows("b", 1));
    return seq::ChannelConvolutionOp::create(
        builder, model.at(at + "channels"), x.getType(), sum,
        rows("w", config.kernel), bias, /*before=*/config.kernel - 1);
  }

  ModelBuilder &model;
  const StructuredPart &config;
  const std::string &at;
};

} // namespace

EmitPart effc::frontend::readStructuredPart(PartInput &in) {
  ConfigReader &reader = in.reader;
  StructuredPart config;
  config.repeat = Repeat(readName(reader, "repeat_kind",
                                  {"row", "column", "mixed", "combined"}, 2));
  config.heads = reader.getInteger("heads", 1, kMostDimension,
                                   config.repeat == Repeat::Mixed ? 2 : 1);
  config.decays = reader.getBoolean("decay", true);
  config.projects = reader.getBoolean("projections", true);
  config.diagonal = reader.getBoolean("diagonal", false);
  config.kernel = reader.getInteger("kernel", 1, 64, 1);
  config.positions = in.context;
  // The public modules' rule, which divides by 0 for short contexts.
  config.root =
      std::max<int64_t>(in.context / (config.kernel > 1 ? 256 : 512), 1);
  if (reader.hasProblem())
    return {};
  if (in.width % config.heads != 0)
    reader.report("expects 'heads' to divide 'hidden_size' " + Twine(in.width) +
                  ", but got " + Twine(config.heads));
  if (config.repeat == Repeat::Mixed && config.heads % 2 != 0)
    reader.report("expects an even number of 'heads' where 'repeat_kind' is "
                  "\"mixed\", but got " +
                  Twine(config.heads));
  if (config.kernel > 1 &&
      (config.repeat != Repeat::Column || config.heads != 1 || config.diagonal))
    reader.report("expects one head of columns without 'diagonal' where "
                  "'kernel' is above 1, but got 'kernel' " +
                  Twine(config.kernel));
  return [config](ModelBuilder &model, const std::string &at, Value x) {
    return StructuredEmitter(model, config, at).emit(x);
  };
}

EmitPart effc::frontend::readMaskedMixerPart(PartInput &in) {
  int64_t kernel = in.reader.getInteger("kernel", 1, 64, 1);
  bool expanded = in.reader.getBoolean("expanded", false);
  int64_t positions = in.context;
  return [=](ModelBuilder &model, const std::string &at, Value x) {
    if (!expanded)
      return emitCausalMix(model, at + "mixer", at + "mixer", x, positions,
                           kernel);
    Value y = emitCausalMix(model, at + "mixer.0", at + "mixer.0", x, positions,
                            kernel);
    y = model.activate(at + "mixer.1", y, seq::Nonlinearity::Gelu);
    return emitCausalMix(model, at + "mixer.2", at + "mixer.2", y, positions,
                         kernel);
  };
}
