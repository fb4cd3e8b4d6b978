#include "runtime/src/StateHeader.h"

#include "runtime/src/Checksum.h"

using namespace effc::rt;

static void put(uint8_t *out, size_t count, uint64_t value) {
  for (size_t i = 0; i < count; ++i)
    out[i] = static_cast<uint8_t>(value >> (8 * i));
}

static uint64_t get(const uint8_t *bytes, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i)
    value |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  return value;
}

StateHeader::Bytes StateHeader::encode() const {
  Bytes out = {};
  for (size_t i = 0; i < magic.size(); ++i)
    out[i] = magic[i];
  put(&out[4], 2, major);
  out[6] = minor;
  out[7] = withOrigin;
  put(&out[8], 8, fileSize);
  put(&out[16], 8, modelId);
  put(&out[24], 8, layoutId);
  put(&out[32], 8, static_cast<uint64_t>(position));
  put(&out[40], 4, states);
  put(&out[44], 4, descriptorBytes);
  put(&out[48], 8, bodyChecksum);
  put(&out[56], 8, checksumOf(out.data()));
  return out;
}

StateHeader StateHeader::decode(const uint8_t *bytes) {
  StateHeader header;
  for (size_t i = 0; i < kMagic.size(); ++i)
    header.magic[i] = bytes[i];
  header.major = static_cast<uint16_t>(get(bytes + 4, 2));
  header.minor = bytes[6];
  header.withOrigin = bytes[7];
  header.fileSize = get(bytes + 8, 8);
  header.modelId = get(bytes + 16, 8);
  header.layoutId = get(bytes + 24, 8);
  header.position = static_cast<int64_t>(get(bytes + 32, 8));
  header.states = static_cast<uint32_t>(get(bytes + 40, 4));
  header.descriptorBytes = static_cast<uint32_t>(get(bytes + 44, 4));
  header.bodyChecksum = get(bytes + 48, 8);
  header.headerChecksum = get(bytes + 56, 8);
  return header;
}

uint64_t StateHeader::checksumOf(const uint8_t *bytes) {
  return checksum(bytes, kCheckedBytes);
}
