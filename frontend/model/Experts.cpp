#include "frontend/model/Experts.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

Value effc::frontend::emitExperts(ModelBuilder &model,
                                  const ExpertsConfig &config,
                                  const ExpertsNames &names, Value x) {
  const std::string &name = names.name;
  int64_t width = model.getWidth();
  Value logits = model.project(name + ".router", names.source + names.router, x,
                               config.experts);
  std::vector<std::string> inner, outer;
  for (int64_t expert = 0; expert < config.experts; ++expert) {
    std::string prefix =
        (names.source + names.experts + "." + llvm::Twine(expert) + ".").str();
    inner.push_back(prefix + names.gate.str() + ".weight");
    inner.push_back(prefix + names.up.str() + ".weight");
    outer.push_back(prefix + names.down.str() + ".weight");
  }
  Value gateUp = model.matrix(name + ".gate_up", WeightSource(std::move(inner)),
                              2 * config.hidden * config.experts, width);
  Value down = model.matrix(name + ".down", WeightSource(std::move(outer)),
                            width * config.experts, config.hidden);
  return seq::RoutedExpertsOp::create(
      model.getBuilder(), model.at(name), x.getType(), x, logits, gateUp, down,
      config.taken, config.activation,
      config.normalised ? seq::RetrievalWeighting::Softmax
                        : seq::RetrievalWeighting::SoftmaxAll,
      /*form=*/nullptr);
}
