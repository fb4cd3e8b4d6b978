#include "passes/seq_to_tile/builders/convolution/ChannelBlock.h"

using namespace mlir;
using namespace effc;

// Vectors have 8 lanes.
int64_t effc::blockOf(int64_t channels, int64_t limit) {
  if (channels <= limit)
    return channels;
  for (int64_t block = limit - limit % 8; block >= 8; block -= 8)
    if (channels % block == 0)
      return block;
  return channels;
}

ChannelBlock::ChannelBlock(KernelBuilder &k, int64_t channels, int64_t most,
                           int64_t parts)
    : block(std::min(channels, most)), k(k) {
  int64_t blocks = (channels + block - 1) / block;
  k.setItems(tile::Count::Segments, 1, blocks * parts);
  auto [rest, index] = k.divide(k.item(), blocks);
  Value sequence = rest;
  if (parts > 1)
    std::tie(sequence, part) = k.divide(rest, parts);
  first = k.mul(index, block);
  if (channels % block != 0)
    columns = k.min(k.sub(k.index(channels), first), k.index(block));
  segment =
      tile::SegmentOp::create(k.ops(), k.loc(), k.segmentTable(), sequence);
  type = k.rowType(block);
}

SmallVector<Value> ChannelBlock::place(ArrayRef<Value> at) const {
  SmallVector<Value> all(at);
  all.push_back(first);
  return all;
}

SmallVector<int64_t> ChannelBlock::sizes(size_t dimensions) const {
  SmallVector<int64_t> all(dimensions, 1);
  all.push_back(block);
  return all;
}

Value ChannelBlock::load(Value view, ArrayRef<Value> at) {
  return k.load(view, place(at), sizes(at.size()), type, {}, columns);
}

void ChannelBlock::store(Value tile, Value view, ArrayRef<Value> at) {
  k.store(tile, view, place(at), sizes(at.size()), {}, columns);
}

LogicalResult ChannelBlock::finish(Value result, Value tile,
                                   ArrayRef<Value> at) {
  return k.finish(
      result, tile, [&](Value tensor) { return load(k.read(tensor), at); },
      [&](unsigned index, Value finished) {
        store(finished, k.write(index), at);
      });
}
