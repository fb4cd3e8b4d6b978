// A short convolution of a product's outputs: of the tokens before the row it needs
// the tail alone.
#include "passes/seq_to_tile/builders/convolution/ShortConvolution.h"
#include "passes/seq_to_tile/builders/dense/OutputUpdate.h"

using namespace mlir;
using namespace effc;

namespace {

class OutputConvolution : public OutputUpdate {
public:
  OutputConvolution(KernelBuilder &k, seq::ShortConvolutionOp op)
      : OutputUpdate(k, op), convolution(k, op),
        taps(op.getWeight().getType().getDimSize(0)) {}

  SmallVector<Type> loadedTypes(tile::TileType type) const override {
    return SmallVector<Type>(2 * taps - 1 + hasBias(), type);
  }
  SmallVector<Value> load(OutputPlace place) override;
  Value apply(OutputPlace place, ValueRange loaded, Value y) override;

private:
  bool hasBias() const {
    return !!seq::ShortConvolutionOp(convolution.op).getBias();
  }

  ShortConvolution convolution;
  int64_t taps;
};

} // namespace

SmallVector<Value> OutputConvolution::load(OutputPlace place) {
  ShortConvolution::Channels channels = convolution.load(
      place.segment, place.type, [&](Value view, ArrayRef<Value> at) {
        SmallVector<Value> all(at);
        all.push_back(place.channel);
        SmallVector<int64_t> sizes(at.size(), 1);
        sizes.push_back(place.type.rows());
        return k.load(view, all, sizes, place.type, place.count);
      });
  SmallVector<Value> loaded(channels.taps);
  llvm::append_range(loaded, channels.past);
  if (channels.bias)
    loaded.push_back(channels.bias);
  return loaded;
}

Value OutputConvolution::apply(OutputPlace place, ValueRange loaded, Value y) {
  ShortConvolution::Channels channels;
  llvm::append_range(channels.taps, loaded.take_front(taps));
  llvm::append_range(channels.past, loaded.slice(taps, taps - 1));
  if (hasBias())
    channels.bias = loaded.back();
  Value result = convolution.convolve(channels, channels.past, y);
  SmallVector<Value> next(ArrayRef(channels.past).drop_front());
  next.push_back(y);
  for (auto [i, input] : llvm::enumerate(next))
    k.store(input, convolution.tailView,
            {place.segment.getSlot(), k.index(i), place.channel},
            {1, 1, place.type.rows()}, place.count);
  return result;
}

std::unique_ptr<OutputUpdate>
effc::createOutputConvolution(KernelBuilder &k, seq::ShortConvolutionOp op) {
  return std::make_unique<OutputConvolution>(k, op);
}
