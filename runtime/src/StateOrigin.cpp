#include "runtime/src/StateOrigin.h"

#include <algorithm>

using namespace effc::rt;

static void put(std::vector<uint8_t> &bytes, size_t count, uint64_t value) {
  for (size_t i = 0; i < count; ++i)
    bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

static uint64_t get(std::span<const uint8_t> bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | bytes[i];
  return value;
}

void StateOrigin::append(std::vector<uint8_t> &bytes) const {
  bytes.insert(bytes.end(), salt.begin(), salt.end());
  put(bytes, 8, byPrefill);
  put(bytes, 8, tokens.size());
  for (int32_t token : tokens)
    put(bytes, 4, static_cast<uint32_t>(token));
}

Result<StateOrigin> StateOrigin::read(std::span<const uint8_t> bytes,
                                      uint64_t position) {
  if (bytes.size() != bytesAt(position))
    return badData("the state's tokens take ", bytes.size(),
                   " bytes, but those of position ", position, " take ",
                   bytesAt(position));
  uint64_t flags = get(bytes.subspan(32, 8)), count = get(bytes.subspan(40, 8));
  if (flags > 1)
    return badData("the state's tokens have the flags ", flags,
                   ", of which 0 and 1 are known");
  if (count != position)
    return badData("the state has ", count, " tokens, but its position is ",
                   position);
  StateOrigin origin;
  std::copy_n(bytes.begin(), origin.salt.size(), origin.salt.begin());
  origin.byPrefill = flags == 1;
  origin.tokens.reserve(position);
  for (uint64_t i = 0; i < position; ++i)
    origin.tokens.push_back(
        static_cast<int32_t>(get(bytes.subspan(48 + 4 * i, 4))));
  return origin;
}
