#include "test/e2e/StatePosition.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdexcept>

using namespace effc::test;

namespace {
/// Little-endian numbers at places of a file.
class Fields {
public:
  explicit Fields(std::string &bytes) : bytes(bytes) {}

  uint64_t get(size_t at, size_t count) const {
    require(at + count);
    uint64_t value = 0;
    for (size_t i = 0; i < count; ++i)
      value |= uint64_t(uint8_t(bytes[at + i])) << (8 * i);
    return value;
  }
  void put(size_t at, uint64_t value) {
    require(at + 8);
    for (size_t i = 0; i < 8; ++i)
      bytes[at + i] = static_cast<char>(value >> (8 * i));
  }

private:
  void require(size_t end) const {
    if (end > bytes.size())
      throw std::runtime_error("the state file ends early");
  }
  std::string &bytes;
};

constexpr size_t kHeader = 64, kAlignment = 64;
} // namespace

std::string effc::test::movedState(std::string bytes, uint64_t position) {
  Fields fields(bytes);
  uint64_t states = fields.get(40, 4);
  size_t at = kHeader, data = kHeader + fields.get(44, 4);
  for (uint64_t state = 0; state < states; ++state) {
    at += 2 + fields.get(at, 2);
    bool grows = fields.get(at + 1, 1) != 0;
    uint64_t rank = fields.get(at + 3, 1), row = 4, rows = 1;
    at += 4;
    for (uint64_t i = 0; i < rank; ++i, at += 8)
      (i ? row : rows) *= fields.get(at, 8);
    data = (data + kAlignment - 1) / kAlignment * kAlignment;
    if (grows) {
      rows = fields.get(data + 8, 8);
      fields.put(data, position - rows);
      data += 16;
    }
    data += rows * row;
  }
  fields.put(32, position);
  fields.put(48, XXH3_64bits(bytes.data() + kHeader, bytes.size() - kHeader));
  fields.put(56, XXH3_64bits(bytes.data(), 56));
  return bytes;
}
