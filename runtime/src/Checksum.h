//===- Checksum.h - XXH3-64, the checksum of everything in an artifact ----===//
#ifndef EFFC_RUNTIME_SRC_CHECKSUM_H
#define EFFC_RUNTIME_SRC_CHECKSUM_H

#include <cstddef>
#include <cstdint>
#include <memory>

namespace effc::rt {

uint64_t checksum(const void *bytes, size_t size);

/// The same over bytes that come in pieces.
class ChecksumStream {
public:
  ChecksumStream();
  ~ChecksumStream();
  void add(const void *bytes, size_t size);
  uint64_t finish() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_CHECKSUM_H
