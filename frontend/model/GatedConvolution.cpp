#include "frontend/model/GatedConvolution.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

GatedConvolutionConfig
effc::frontend::readGatedConvolution(ConfigReader &reader,
                                     int64_t tapsByDefault) {
  GatedConvolutionConfig config;
  config.taps = reader.getInteger("conv_L_cache", 1, 64, tapsByDefault);
  config.bias = reader.getBoolean("conv_bias", false);
  return config;
}

Value effc::frontend::emitGatedConvolution(ModelBuilder &model,
                                           const GatedConvolutionConfig &config,
                                           const std::string &name,
                                           const std::string &source, Value x) {
  int64_t width = model.getWidth();
  std::string here = name + "conv";
  Value all =
      model.project(name + "in", source + "in_proj", x, 3 * width, config.bias);
  auto part = [&](int64_t place) {
    return model.slice(name + "in", all, place * width, width);
  };
  Value taps = model.taps(here, source + "conv.weight", config.taps, width),
        bias;
  if (config.bias)
    bias = model.vector(here + "_bias", source + "conv.bias", width);
  Value y = model.shortConvolution(here, model.mul(here, part(0), part(2)),
                                   taps, bias, seq::Activation::None);
  return model.project(name + "out", source + "out_proj",
                       model.mul(here, part(1), y), width, config.bias);
}
