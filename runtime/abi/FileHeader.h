//===- FileHeader.h - The 64 bytes every .effc file starts with -----------===//
//
// Shared by the artifact writer and the loader; depends on nothing.
//
//   offset  bytes  field
//        0      4  magic "EFFC"
//        4      2  format major version: another one is refused
//        6      2  format minor version: a newer one is refused (program.fbs
//                  says how versions grow)
//        8      8  size of the whole file
//       16      8  offset of the program (a flatbuffer, schema/program.fbs)
//       24      8  size of the program
//       32      8  XXH3-64 of the program's bytes
//       40      8  XXH3-64 of bytes 0 to 39
//       48     16  zero
//
// All numbers are little-endian. What lies between header, program and the
// segments that the program lists is padding.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_ABI_FILEHEADER_H
#define EFFC_RUNTIME_ABI_FILEHEADER_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace effc::rt {

struct FileHeader {
  static constexpr size_t kBytes = 64;
  /// Bytes that `headerChecksum` covers.
  static constexpr size_t kCheckedBytes = 40;
  static constexpr std::array<uint8_t, 4> kMagic = {'E', 'F', 'F', 'C'};
  static constexpr uint16_t kMajor = 1;
  static constexpr uint16_t kMinor = 0;
  /// A flatbuffer has a root and an identifier, and cannot address more than
  /// the greatest size.
  static constexpr uint64_t kLeastProgramBytes = 8;
  static constexpr uint64_t kMaxProgramBytes = (uint64_t(1) << 31) - 2;
  /// The most stack that a kernel may ask for.
  static constexpr uint64_t kMaxStackBytes = uint64_t(4) << 20;
  /// The most box maps of a kernel.
  static constexpr uint32_t kMaxBoxMaps = 8;
  /// Of a weight in a file of its own, the blocks that Weight.sample_checksum
  /// covers, and where block `index` starts in a weight of `size` bytes, which
  /// are more than all blocks together.
  static constexpr uint64_t kSampleBytes = 4096;
  static constexpr uint64_t kSamples = 4;
  static constexpr uint64_t sampleStart(uint64_t size, uint64_t index) {
    return (size - kSampleBytes) / (kSamples - 1) * index +
           (size - kSampleBytes) % (kSamples - 1) * index / (kSamples - 1);
  }
  /// The bytes of a kernel's code that KernelCode.start_checksum covers.
  static constexpr uint64_t kCodeStartBytes = 64;
  /// Where a segment may start: any kind, and those that are mapped as pages.
  static constexpr uint64_t kSegmentAlignment = 64;
  static constexpr uint64_t kPageAlignment = 4096;

  std::array<uint8_t, 4> magic = kMagic;
  uint16_t major = kMajor;
  uint16_t minor = kMinor;
  uint64_t fileSize = 0;
  uint64_t programOffset = 0;
  uint64_t programSize = 0;
  uint64_t programChecksum = 0;
  uint64_t headerChecksum = 0;

  /// Whether this runtime reads files of that version.
  bool isReadable() const { return major == kMajor && minor <= kMinor; }

  using Bytes = std::array<uint8_t, kBytes>;

  /// The header as it lies in the file. To fill `headerChecksum`, encode once,
  /// hash the first kCheckedBytes bytes, and encode again.
  Bytes encode() const {
    Bytes out = {};
    for (size_t i = 0; i < magic.size(); ++i)
      out[i] = magic[i];
    put(out, 4, 2, major);
    put(out, 6, 2, minor);
    put(out, 8, 8, fileSize);
    put(out, 16, 8, programOffset);
    put(out, 24, 8, programSize);
    put(out, 32, 8, programChecksum);
    put(out, 40, 8, headerChecksum);
    return out;
  }

  /// Reads the fields of `bytes`, which are kBytes long. Checks nothing.
  static FileHeader decode(const uint8_t *bytes) {
    FileHeader header;
    for (size_t i = 0; i < kMagic.size(); ++i)
      header.magic[i] = bytes[i];
    header.major = static_cast<uint16_t>(get(bytes + 4, 2));
    header.minor = static_cast<uint16_t>(get(bytes + 6, 2));
    header.fileSize = get(bytes + 8, 8);
    header.programOffset = get(bytes + 16, 8);
    header.programSize = get(bytes + 24, 8);
    header.programChecksum = get(bytes + 32, 8);
    header.headerChecksum = get(bytes + 40, 8);
    return header;
  }

private:
  static void put(Bytes &out, size_t at, size_t count, uint64_t value) {
    for (size_t i = 0; i < count; ++i)
      out[at + i] = static_cast<uint8_t>(value >> (8 * i));
  }
  static uint64_t get(const uint8_t *bytes, size_t count) {
    uint64_t value = 0;
    for (size_t i = 0; i < count; ++i)
      value |= static_cast<uint64_t>(bytes[i]) << (8 * i);
    return value;
  }
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_ABI_FILEHEADER_H
