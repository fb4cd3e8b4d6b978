#include "runtime/src/DrawnWeights.h"

#include "runtime/src/ModelChecks.h"

#include <cstring>
#include <optional>

using namespace effc;
using namespace effc::rt;

static constexpr uint64_t kAlignment = 64;

/// SplitMix64.
static uint64_t next(uint64_t &state) {
  uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

namespace {
/// Which bits of an element are drawn and which are set: sign, the exponents of
/// [2^-7, 2^-5), all of the fraction.
struct Bits {
  uint64_t width, drawn, set;
};
} // namespace

/// None for types without such numbers, and for blocks, whose storage says it.
static std::optional<Bits> bitsOf(artifact::ElementType type) {
  switch (type) {
  case artifact::ElementType::F32:
    return Bits{4, 0x80FFFFFF80FFFFFFu, 0x3C0000003C000000u};
  case artifact::ElementType::BF16:
    return Bits{2, 0x80FF80FF80FF80FFu, 0x3C003C003C003C00u};
  case artifact::ElementType::F16:
    return Bits{2, 0x87FF87FF87FF87FFu, 0x2000200020002000u};
  case artifact::ElementType::I32:
  case artifact::ElementType::I64:
  case artifact::ElementType::Blocks:
    return std::nullopt;
  }
  return std::nullopt;
}

Result<uint64_t> rt::drawnBytes(const artifact::Program &program,
                                const artifact::Weight &weight) {
  if (weight.type() != artifact::ElementType::Blocks && !bitsOf(weight.type()))
    return badData("weight '", weight.name()->string_view(), "' is of ",
                   typeName(program, weight),
                   ", but only floating-point weights can be drawn");
  return (weight.size() + kAlignment - 1) / kAlignment * kAlignment;
}

/// Block after block, its bits drawn where the storage says so.
static void drawBlocks(const artifact::Storage &storage, uint64_t bytes,
                       uint64_t state, uint8_t *out) {
  uint64_t word = 0;
  for (uint64_t i = 0; i < bytes; ++i) {
    if (i % sizeof word == 0)
      word = next(state);
    auto within = static_cast<uint32_t>(i % storage.bytes());
    auto drawn = static_cast<uint8_t>(word >> i % sizeof word * 8);
    out[i] = static_cast<uint8_t>((drawn & storage.drawn()->Get(within)) |
                                  storage.set()->Get(within));
  }
}

void rt::drawWeight(const artifact::Program &program,
                    const artifact::Weight &weight, uint64_t seed,
                    uint8_t *out) {
  uint64_t state = seed * 0xD1342543DE82EF95u;
  if (weight.type() == artifact::ElementType::Blocks)
    return drawBlocks(*program.storages()->Get(weight.storage() - 1),
                      weight.size(), state, out);
  Bits bits = bitsOf(weight.type()).value();
  bool isVector = weight.shape()->size() < 2;
  uint64_t rows = isVector ? 1 : weight.shape()->Get(0);
  uint64_t elements = 1;
  for (uint32_t i = isVector ? 0 : 1; i < weight.shape()->size(); ++i)
    elements *= weight.shape()->Get(i);
  for (uint64_t row = 0; row < rows; ++row) {
    uint8_t *at = out + row * weight.row_stride_bytes();
    for (uint64_t left = elements * bits.width; left > 0;) {
      uint64_t word = (next(state) & bits.drawn) | bits.set;
      uint64_t count = left < sizeof word ? left : sizeof word;
      std::memcpy(at, &word, count);
      at += count;
      left -= count;
    }
  }
}
