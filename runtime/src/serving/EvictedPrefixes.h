//===- EvictedPrefixes.h - What was there once ----------------------------===//
//
// The hashes of the last prefixes whose states were given up, so that who looks for
// one can be told that a larger budget would have had it.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SERVING_EVICTEDPREFIXES_H
#define EFFC_RUNTIME_SRC_SERVING_EVICTEDPREFIXES_H

#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <unordered_map>

namespace effc::rt {

/// A hash of a salt and tokens that grows with each token.
struct PrefixHash {
  static uint64_t begin(std::string_view salt) {
    uint64_t hash = salt.size() + 1;
    for (char byte : salt)
      hash = next(hash, static_cast<unsigned char>(byte));
    return hash;
  }
  static uint64_t next(uint64_t hash, int32_t token) {
    hash = (hash ^ static_cast<uint32_t>(token)) * 0x9e3779b97f4a7c15;
    return hash ^ (hash >> 29);
  }
};

class EvictedPrefixes {
public:
  void add(uint64_t hash) {
    ++added;
    order.push_back(hash);
    ++known[hash];
    if (order.size() <= kMost)
      return;
    auto oldest = known.find(order.front());
    if (oldest != known.end() && --oldest->second == 0)
      known.erase(oldest);
    order.pop_front();
  }
  /// The longest of the first `most` tokens that is among them; 0: none is.
  uint64_t longestOf(std::string_view salt, std::span<const int32_t> tokens,
                     uint64_t most) const {
    uint64_t hash = PrefixHash::begin(salt), longest = 0;
    if (known.empty())
      return longest;
    for (uint64_t i = 0; i < most; ++i) {
      hash = PrefixHash::next(hash, tokens[i]);
      if (known.contains(hash))
        longest = i + 1;
    }
    return longest;
  }
  /// How many there have been.
  uint64_t count() const { return added; }

private:
  static constexpr size_t kMost = 4096;
  std::deque<uint64_t> order;
  std::unordered_map<uint64_t, uint32_t> known;
  uint64_t added = 0;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SERVING_EVICTEDPREFIXES_H
