//===- PieceCache.h - Words that come again -------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_PIECECACHE_H
#define EFFC_RUNTIME_SRC_TOKENIZER_PIECECACHE_H

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace effc::rt {

/// The tokens of short pieces of one text, as many as there is room for; of two
/// with one place the later one stays.
class PieceCache {
public:
  /// `bytes`: the size of the text; a short one is not worth a table.
  explicit PieceCache(size_t bytes)
      : slots(bytes < 2048    ? 0
              : bytes < 65536 ? 512
                              : 8192) {}

  /// Appends the tokens of `piece`, if it is known.
  bool find(std::string_view piece, std::vector<int32_t> &tokens) const {
    if (slots.empty() || piece.size() > kLongest)
      return false;
    const Slot &slot = slots[placeOf(piece)];
    if (slot.size != piece.size() ||
        std::memcmp(slot.text, piece.data(), piece.size()) != 0)
      return false;
    tokens.insert(tokens.end(), slot.tokens, slot.tokens + slot.count);
    return true;
  }

  void keep(std::string_view piece, std::span<const int32_t> tokens) {
    if (slots.empty() || piece.size() > kLongest || tokens.size() > kMost)
      return;
    Slot &slot = slots[placeOf(piece)];
    slot.size = static_cast<uint8_t>(piece.size());
    slot.count = static_cast<uint8_t>(tokens.size());
    std::memcpy(slot.text, piece.data(), piece.size());
    std::copy(tokens.begin(), tokens.end(), slot.tokens);
  }

private:
  static constexpr size_t kLongest = 22, kMost = 10;
  struct Slot {
    uint8_t size = 0; // no piece is empty
    uint8_t count = 0;
    char text[kLongest];
    int32_t tokens[kMost];
  };
  size_t placeOf(std::string_view piece) const {
    return std::hash<std::string_view>()(piece) & (slots.size() - 1);
  }

  std::vector<Slot> slots;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_PIECECACHE_H
