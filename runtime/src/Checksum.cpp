#include "runtime/src/Checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace effc::rt;

uint64_t effc::rt::checksum(const void *bytes, size_t size) {
  return XXH3_64bits(bytes, size);
}

struct ChecksumStream::State {
  XXH3_state_t stream;
};

ChecksumStream::ChecksumStream() : state(new State) {
  XXH3_64bits_reset(&state->stream);
}

ChecksumStream::~ChecksumStream() = default;

void ChecksumStream::add(const void *bytes, size_t size) {
  XXH3_64bits_update(&state->stream, bytes, size);
}

uint64_t ChecksumStream::finish() const {
  return XXH3_64bits_digest(&state->stream);
}
