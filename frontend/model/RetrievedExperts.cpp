#include "frontend/model/RetrievedExperts.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

std::optional<RetrievedExperts>
effc::frontend::readRetrievedExperts(ConfigReader &reader) {
  RetrievedExperts config;
  bool routed = reader.getBoolean("is_moe", false);
  config.rows =
      reader.getInteger("num_cdmoe_experts", 1, int64_t(1) << 30, 16348);
  config.heads = reader.getInteger("num_cdmoe_heads", 1, kMostDimension, 4);
  config.taken =
      reader.getInteger("num_cdmoe_experts_per_head", 1, kMostDimension, 8);
  config.retrieval =
      reader.getInteger("expert_retrieval_size", 2, kMostDimension, 64);
  config.side = int64_t(std::sqrt(double(config.rows)));
  if (!routed || reader.hasProblem())
    return std::nullopt;
  if (config.retrieval % 2 != 0)
    reader.report("expects an even 'expert_retrieval_size', but got " +
                  Twine(config.retrieval));
  if (config.taken > config.side)
    reader.report("expects 'num_cdmoe_experts_per_head' of at most the " +
                  Twine(config.side) + " keys of a half, but got " +
                  Twine(config.taken));
  return config;
}

Value effc::frontend::emitRetrievedExperts(ModelBuilder &model,
                                           const RetrievedExperts &config,
                                           const std::string &name,
                                           const std::string &source, Value x) {
  Value query = model.project(name + "queries", source + "queries", x,
                              config.heads * config.retrieval);
  WeightSource stored(source + "keys");
  stored.stored = {config.heads, config.side, 2, config.retrieval / 2};
  Value keys = model.matrix(name + "keys", stored, config.heads * config.side,
                            config.retrieval);
  mlir::OpBuilder &builder = model.getBuilder();
  auto type = mlir::RankedTensorType::get(
      {mlir::ShapedType::kDynamic, 2, config.heads, config.side},
      builder.getF32Type());
  Value scores =
      seq::KeyScoresOp::create(builder, model.at(name + "scores"), type, query,
                               keys, seq::KeyLayout::HalfHead);
  auto table = [&](const char *part) {
    return model.matrix(name + part, source + part + ".weight", config.rows,
                        model.getWidth());
  };
  return seq::ProductKeyExpertsOp::create(
      builder, model.at(name + "experts"), x.getType(), x, scores,
      table("down_embed"), table("up_embed"), config.taken, config.activation,
      seq::RetrievalWeighting::Softmax,
      /*weight_inside=*/false, /*form=*/nullptr);
}
