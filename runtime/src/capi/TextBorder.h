// What all functions that give tokens or text do at the C border.
#ifndef EFFC_RUNTIME_SRC_CAPI_TEXTBORDER_H
#define EFFC_RUNTIME_SRC_CAPI_TEXTBORDER_H

#include "runtime/src/Model.h"
#include "runtime/src/Status.h"

#include <algorithm>
#include <cstring>

namespace effc::rt {

inline Check requireTokenizer(const Model &model) {
  if (!model.tokenizer())
    return fail(EFFC_UNSUPPORTED, "the model has no tokenizer; use token ids");
  return {};
}

/// Copies as much of `from` as there is room for, and says how much there was.
template <typename Element, typename Container>
void copyOut(const Container &from, Element *out, size_t capacity,
             size_t *outCount) {
  size_t count = std::min(capacity, from.size());
  if (count > 0)
    std::memcpy(out, from.data(), count * sizeof(Element));
  *outCount = from.size();
}

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_CAPI_TEXTBORDER_H
