//===- TurnEnd.h - The token that ends an answer --------------------------===//
//
// A model that was trained on conversations ends its turn with the token that its
// template writes behind an answer: "<|im_end|>", "<end_of_turn>". Checkpoints name
// another often, so the template is asked: an answer that is known is rendered, and
// what stands behind it is looked at.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_TURNEND_H
#define EFFC_RUNTIME_SRC_CHAT_TURNEND_H

#include "runtime/src/chat/ChatFormat.h"

#include <optional>

namespace effc::rt {

class Tokenizer;

/// The special token of `tokenizer` that `format` writes behind an answer; none
/// where something else stands there, or where the template takes no plain question
/// and answer.
std::optional<int32_t> findTurnEnd(const ChatFormat &format,
                                   const Tokenizer &tokenizer);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_CHAT_TURNEND_H
