//===- StateHeader.h - The 64 bytes every state file starts with ----------===//
//
//   offset  bytes  field
//        0      4  magic "EFFS"
//        4      2  format major version: another one is refused
//        6      1  format minor version: a newer one is refused
//        7      1  1: the tokens follow the names of the code; else 0
//        8      8  size of the whole file
//       16      8  model id: XXH3-64 over the weights' names and checksums
//       24      8  layout id of the artifact's program
//       32      8  position: tokens that the sequence has taken, signed
//       40      4  number of states
//       44      4  size of their descriptors, which follow the header
//       48      8  XXH3-64 of everything after the header
//       56      8  XXH3-64 of bytes 0 to 55
//
// A descriptor is, without padding: name size (2), name, kind, growth, type and
// rank (1 each), then the logical shape (8 for each dimension). The data of the
// states follow in the same order, each at the next multiple of 64 bytes, dense
// and row-major; what lies between is zero. A state that grows with the
// sequence starts with the position of the first token it holds (8) and their
// count (8), which end at the header's position; a row for each follows, oldest
// first. The first extent of its shape is the room that the writer had. Behind the
// last state 64 bytes have the names of the instruction sets by whose code the
// states were computed, filled up with zeros (CodeNames.h), and behind these, where
// byte 7 says so, the tokens that the sequence has taken (StateOrigin.h). All numbers
// are little-endian; kind, growth and type are those of schema/program.fbs.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_STATEHEADER_H
#define EFFC_RUNTIME_SRC_STATEHEADER_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace effc::rt {

struct StateHeader {
  static constexpr size_t kBytes = 64;
  /// Bytes that `headerChecksum` covers.
  static constexpr size_t kCheckedBytes = 56;
  static constexpr std::array<uint8_t, 4> kMagic = {'E', 'F', 'F', 'S'};
  static constexpr uint16_t kMajor = 1;
  static constexpr uint8_t kMinor = 0;
  /// Where the data of a state may start.
  static constexpr uint64_t kAlignment = 64;

  std::array<uint8_t, 4> magic = kMagic;
  uint16_t major = kMajor;
  uint8_t minor = kMinor;
  uint8_t withOrigin = 0; // 1: a StateOrigin.h follows the names
  uint64_t fileSize = 0;
  uint64_t modelId = 0;
  uint64_t layoutId = 0;
  int64_t position = 0;
  uint32_t states = 0;
  uint32_t descriptorBytes = 0;
  uint64_t bodyChecksum = 0;
  uint64_t headerChecksum = 0;

  /// Whether this library reads files of that version.
  bool isReadable() const { return major == kMajor && minor <= kMinor; }

  using Bytes = std::array<uint8_t, kBytes>;
  /// The header as it lies in the file, its own checksum included.
  Bytes encode() const;
  /// Reads the fields of kBytes bytes. Checks nothing.
  static StateHeader decode(const uint8_t *bytes);
  /// What `headerChecksum` should be for these kBytes bytes.
  static uint64_t checksumOf(const uint8_t *bytes);
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_STATEHEADER_H
