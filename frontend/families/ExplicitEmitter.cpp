// From a normalised token to every operand of a recurrence, and from what it
// reads to the residual: one way for all of them.
#include "frontend/families/ExplicitRecurrence.h"

using namespace effc;
using namespace effc::frontend;
using llvm::StringRef;
using mlir::Value;

namespace {

/// One use of a mixer in a block.
class MixerEmitter {
public:
  MixerEmitter(ModelBuilder &model, const RecurrentMixer &mixer,
               const std::string &at, Value x)
      : model(model), mixer(mixer), at(at), dims(mixer.dims), token(x) {}

  Value emit() {
    emitInner();
    emitOperands();
    return emitOutput(emitRecurrence());
  }

private:
  void emitInner() {
    const InnerToken &config = mixer.inner;
    if (config.width == 0)
      return;
    inner = model.project(at + "inner", at + "inner", token, config.width,
                          config.bias);
    if (config.taps == 0) {
      inner = emitFeature(model, at + "inner", inner, config.feature);
      return;
    }
    convolved = emitFeature(
        model, at + "convolution",
        convolve(at + "convolution", inner, config.taps, config.tapsBias),
        config.feature);
  }

  Value convolve(const std::string &name, Value x, int64_t taps, bool bias) {
    int64_t channels = innerShape(x)[0];
    Value weight = model.taps(name, name + ".weight", taps, channels), shift;
    if (bias)
      shift = model.vector(name + "_bias", name + ".bias", channels);
    return model.shortConvolution(name, x, weight, shift,
                                  seq::Activation::None);
  }

  Value sourceOf(From from) const {
    return from == From::Token   ? token
           : from == From::Inner ? inner
                                 : convolved;
  }

  Value project(const std::string &name, const Projection &how, int64_t rows) {
    Value x = sourceOf(how.from);
    if (how.rank == 0)
      return model.project(name, name, x, rows, how.bias);
    Value low = model.project(name + ".0", name + ".0", x, how.rank);
    return model.project(name + ".1", name + ".1", low, rows, how.bias);
  }

  /// A product with a matrix for each head's channels: [T, heads, rows].
  Value projectBlocks(const std::string &name, const Projection &how,
                      int64_t heads, int64_t rows) {
    Value x = sourceOf(how.from);
    int64_t columns = innerShape(x)[0] / heads;
    Value weight = model.blocks(name, WeightSource(name + ".weight"), heads,
                                rows, columns);
    Value bias;
    if (how.bias)
      bias = model.numbers(name + "_bias", WeightSource(name + ".bias"),
                           {heads, rows});
    return model.linear(name, model.reshape(name, x, {heads, columns}), weight,
                        bias);
  }

  /// An operand that varies with the token, before its positions.
  Value emitOperand(const RecurrentOperand &operand) {
    std::string name = at + operand.symbol.name.str();
    llvm::SmallVector<int64_t> shape = mixer.shapeOf(operand.symbol.letters);
    int64_t size = countOf(shape);
    Value y;
    if (operand.blocks)
      y = projectBlocks(name, operand.projection, shape[0], size / shape[0]);
    else if (operand.projects)
      y = project(name, operand.projection, size);
    else
      y = sourceOf(operand.projection.from);
    if (operand.taps)
      y = convolve(name + ".convolution", y, operand.taps, operand.tapsBias);
    bool perHead = operand.projection.feature.kind == FeatureChoice::Taylor;
    if (!perHead)
      y = emitFeature(model, name, y, operand.projection.feature);
    if (operand.gate) {
      Value gate = emitFeature(model, name + ".gate",
                               project(name + ".gate", *operand.gate, size),
                               operand.gate->feature);
      y = model.mul(name, y, gate);
    }
    if (operand.unit)
      y = model.groupNorm(name, "", y, shape[0], /*size=*/0, *operand.unit,
                          operand.measure);
    if (innerShape(y) != llvm::ArrayRef<int64_t>(shape))
      y = model.reshape(name, y, shape);
    return perHead ? emitFeature(model, name, y, operand.projection.feature)
                   : y;
  }

  /// The same number, or the same tensor, for every token.
  Value emitConstant(const RecurrentOperand &operand) {
    std::string name = at + operand.symbol.name.str();
    llvm::SmallVector<int64_t> shape = mixer.shapeOf(operand.symbol.letters);
    Value like;
    for (const auto &[other, value] : emitted)
      if (innerShape(value) == llvm::ArrayRef<int64_t>(shape))
        like = value;
    if (!like) {
      model.report(name + ": expects another operand of its shape that varies "
                          "with the token, but got none");
      return token;
    }
    if (shape.size() == 1) {
      // A vector is computed as one row.
      Value row = operand.value
                      ? model.constant(name, *operand.value, {1, shape[0]})
                      : model.numbers(name, WeightSource(name), {1, shape[0]});
      Value flat = seq::ReshapeOp::create(model.getBuilder(), model.at(name),
                                          row, shape);
      return model.broadcast(name, flat, like);
    }
    Value numbers = operand.value
                        ? model.constant(name, *operand.value, shape)
                        : model.numbers(name, WeightSource(name), shape);
    return seq::BroadcastOp::create(model.getBuilder(), model.at(name), numbers,
                                    like, llvm::ArrayRef<int64_t>{1, 2});
  }

  void emitOperands() {
    auto varies = [](const RecurrentOperand &operand) {
      return operand.symbol.isRead() && !operand.value &&
             operand.projection.from != From::Tensor;
    };
    for (const RecurrentOperand &operand : mixer.operands)
      if (operand.present && varies(operand))
        emitted[operand.symbol.name] = emitOperand(operand);
    for (const RecurrentOperand &operand : mixer.operands)
      if (operand.present && !emitted.count(operand.symbol.name) &&
          operand.symbol.isRead())
        emitted[operand.symbol.name] = emitConstant(operand);
    for (const RecurrentOperand &operand : mixer.operands) {
      Value value;
      if (operand.symbol.isPositions)
        value = model.getPositions();
      else if (operand.present)
        value = emitted.at(operand.symbol.name);
      if (operand.symbol.learnsPositions)
        value = emitPositions(model, at, mixer.positions, value);
      tokens.push_back(value);
      // Positions and features may have made keys wider.
      if (value)
        for (auto [letter, size] :
             llvm::zip(operand.symbol.letters, innerShape(value)))
          if (letter != '1')
            dims[letter] = size;
    }
  }

  Value emitParameter(const RecurrentParameter &parameter) {
    std::string name = at + parameter.symbol.name.str();
    llvm::SmallVector<int64_t> shape;
    for (char letter : parameter.symbol.letters)
      shape.push_back(dims[letter]);
    mlir::OpBuilder &builder = model.getBuilder();
    if (parameter.rule)
      return model.computed(name,
                            seq::HeadDecaysAttr::get(
                                builder.getContext(), *parameter.rule,
                                /*layer=*/0, /*layers=*/0, /*negated=*/false),
                            shape);
    if (!parameter.value)
      return model.numbers(name, WeightSource(name), shape);
    return model.constant(name, *parameter.value, shape);
  }

  Value emitRecurrence() {
    std::string name = at + "mixer";
    llvm::SmallVector<Value> parameters, states;
    for (const RecurrentParameter &parameter : mixer.parameters)
      parameters.push_back(emitParameter(parameter));
    for (Symbol symbol : symbolsOf(*mixer.kind, seq::OperandRole::State)) {
      llvm::SmallVector<int64_t> shape;
      for (char letter : symbol.letters)
        shape.push_back(letter == '1' ? 1 : dims[letter]);
      states.push_back(model.state(
          states.empty() ? name : name + "." + std::to_string(states.size()),
          shape));
    }
    Value y = mixer.kind->write ? writeStep(name, parameters, states)
                                : emitOp(name, parameters, states);
    return model.reshape(name, y, {dims['H'] * dims['V']});
  }

  Value writeStep(const std::string &name, llvm::ArrayRef<Value> parameters,
                  llvm::ArrayRef<Value> states) {
    llvm::SmallVector<double> numbers;
    for (const auto &[key, number] : mixer.numbers)
      numbers.push_back(number);
    WrittenStep step(model, name, valueOperand(), tokens, parameters, states);
    return mixer.kind->write(step, numbers);
  }

  Value emitOp(const std::string &name, llvm::ArrayRef<Value> parameters,
               llvm::ArrayRef<Value> states) {
    mlir::OpBuilder &builder = model.getBuilder();
    mlir::OperationState op(model.at(name), mixer.kind->op);
    llvm::SmallVector<int32_t> segments;
    for (Value value : tokens) {
      segments.push_back(value ? 1 : 0);
      if (value)
        op.operands.push_back(value);
    }
    op.operands.append(parameters.begin(), parameters.end());
    op.operands.append(states.begin(), states.end());
    segments.append(parameters.size() + states.size(), 1);
    op.types.push_back(valueOperand().getType());
    for (Value state : states)
      op.types.push_back(state.getType());
    for (const auto &[key, number] : mixer.numbers)
      op.addAttribute(key, builder.getF64FloatAttr(number));
    if (llvm::any_of(mixer.operands, [](const RecurrentOperand &operand) {
          return operand.symbol.isOptional;
        }))
      op.addAttribute("operandSegmentSizes",
                      builder.getDenseI32ArrayAttr(segments));
    mlir::Operation *made = builder.create(op);
    for (Value next : made->getResults().drop_front())
      model.setNextState(next);
    return made->getResult(0);
  }

  /// The operand whose type the mixed tokens have.
  Value valueOperand() const {
    for (const auto &[operand, value] : llvm::zip(mixer.operands, tokens))
      if (value && operand.symbol.letters == "HV")
        return value;
    llvm_unreachable("every recurrence has values");
  }

  Value emitOutput(Value y) {
    const RecurrentOutput &config = mixer.output;
    if (config.feed) {
      Value weight = model.vector(at + "d", at + "d", innerShape(y)[0]);
      Value fed = sourceOf(*config.feed);
      y = model.add(at + "feed", y,
                    model.mul(at + "feed", fed,
                              model.broadcast(at + "feed", weight, fed)));
    }
    Value gate;
    if (config.gate)
      gate = emitFeature(model, at + "g",
                         project(at + "g", *config.gate, innerShape(y)[0]),
                         config.gate->feature);
    if (gate && config.gateFirst)
      y = model.mul(at + "gate", y, gate);
    y = emitNorm(model, at + "o_norm", y, config.norm, config.groups);
    if (gate && !config.gateFirst)
      y = model.mul(at + "gate", y, gate);
    y = emitFeature(model, at + "o", y, config.feature);
    if (!config.projects)
      return y;
    int64_t width = model.getWidth();
    y = model.project(at + "o", at + "o", y, config.glu ? 2 * width : width,
                      config.bias);
    if (!config.glu)
      return y;
    return model.mul(at + "o", model.slice(at + "o", y, 0, width),
                     model.activate(at + "o",
                                    model.slice(at + "o", y, width, width),
                                    seq::Nonlinearity::Sigmoid));
  }

  ModelBuilder &model;
  const RecurrentMixer &mixer;
  const std::string &at;
  std::map<char, int64_t> dims;
  Value token, inner, convolved;
  std::map<StringRef, Value> emitted;
  llvm::SmallVector<Value> tokens;
};

} // namespace

Value effc::frontend::emitRecurrence(ModelBuilder &model,
                                     const RecurrentMixer &mixer,
                                     const std::string &at, Value x) {
  return MixerEmitter(model, mixer, at, x).emit();
}
