// Files of SentencePiece put together by hand, in the wire format of protocol
// buffers.
#ifndef EFFC_TEST_UNIT_FRONTEND_SENTENCEPIECEIMAGE_H
#define EFFC_TEST_UNIT_FRONTEND_SENTENCEPIECEIMAGE_H

#include "frontend/tokenizer/SentencePieceModel.h"

namespace effc::frontend {

inline std::string makeVarint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7)
    bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

/// A field that is a number.
inline std::string makeNumber(uint32_t field, uint64_t value) {
  return makeVarint(field << 3) + makeVarint(value);
}

/// A field that is a text or a message.
inline std::string makeMessage(uint32_t field, const std::string &bytes) {
  return makeVarint(field << 3 | 2) + makeVarint(bytes.size()) + bytes;
}

/// A field that is a float, whose bits are `bits`.
inline std::string makeFloat(uint32_t field, uint32_t bits) {
  std::string bytes = makeVarint(field << 3 | 5);
  for (unsigned i = 0; i < 4; ++i)
    bytes += static_cast<char>(bits >> (8 * i));
  return bytes;
}

/// One piece of a model.
inline std::string makePiece(const std::string &text,
                             PieceType type = PieceType::Normal) {
  return makeMessage(1, makeMessage(1, text) + makeFloat(2, 0) +
                            makeNumber(3, uint64_t(type)));
}

} // namespace effc::frontend

#endif // EFFC_TEST_UNIT_FRONTEND_SENTENCEPIECEIMAGE_H
