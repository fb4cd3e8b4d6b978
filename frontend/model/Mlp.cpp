#include "frontend/model/Mlp.h"

#include "frontend/checkpoint/Refusal.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;
using seq::Nonlinearity;

Nonlinearity effc::frontend::readActivation(ConfigReader &reader,
                                            llvm::StringRef key,
                                            Nonlinearity otherwise) {
  constexpr std::pair<llvm::StringLiteral, Nonlinearity> kFunctions[] = {
      {"silu", Nonlinearity::Silu},
      {"swish", Nonlinearity::Silu},
      {"gelu", Nonlinearity::Gelu},
      {"gelu_new", Nonlinearity::GeluTanh},
      {"gelu_fast", Nonlinearity::GeluTanh},
      {"gelu_pytorch_tanh", Nonlinearity::GeluTanh},
      {"relu", Nonlinearity::Relu},
      {"relu2", Nonlinearity::SquaredRelu},
      {"sigmoid", Nonlinearity::Sigmoid}};
  if (!reader.isSet(key))
    return otherwise;
  const std::string *name = reader.getString(key);
  if (!name)
    return otherwise;
  for (const auto &[spelling, function] : kFunctions)
    if (*name == spelling)
      return function;
  reader.report(key + " " + quote(*name) +
                " is not supported; supported: silu, swish, gelu, gelu_new, "
                "gelu_fast, gelu_pytorch_tanh, relu, relu2, sigmoid");
  return otherwise;
}

Value effc::frontend::emitMlp(ModelBuilder &model, const MlpConfig &config,
                              const MlpNames &names, Value x) {
  const std::string &name = names.name, &source = names.source;
  auto project = [&](const llvm::Twine &part, llvm::StringRef tensor, Value in,
                     int64_t rows, MatrixRole role = MatrixRole::Other) {
    return model.project(role, name + part, source + tensor, in, rows,
                         config.bias, names.transposed);
  };
  Value hidden;
  if (!names.fused.empty()) {
    Value both = project(".in", names.fused, x, 2 * config.hidden);
    Value gate = model.slice(name + ".gate", both, 0, config.hidden);
    Value up = model.slice(name + ".up", both, config.hidden, config.hidden);
    hidden =
        model.mul(name + ".gate",
                  model.activate(name + ".gate", gate, config.activation), up);
  } else if (!names.gate.empty()) {
    Value gate = project(".gate", names.gate, x, config.hidden);
    gate = model.activate(name + ".gate", gate, config.activation);
    Value up = project(".up", names.up, x, config.hidden);
    hidden = model.mul(name + ".up", gate, up);
  } else {
    hidden =
        model.activate(name + ".up", project(".up", names.up, x, config.hidden),
                       config.activation);
  }
  return project(".down", names.down, hidden, model.getWidth(), names.role);
}
