//===- ChatHandle.h - What the opaque types of chat.h are -----------------===//
#ifndef EFFC_RUNTIME_SRC_CAPI_CHATHANDLE_H
#define EFFC_RUNTIME_SRC_CAPI_CHATHANDLE_H

#include "runtime/src/chat/answers/AnswerParser.h"

#include <mutex>
#include <optional>

struct effc_chat {
  explicit effc_chat(effc::rt::ChatFormat format) : format(std::move(format)) {}

  /// Found when it is first asked for.
  const effc::rt::AnswerFormat &answers() const {
    std::lock_guard guard(lock);
    if (!found)
      found = effc::rt::AnswerFormat::of(format);
    return *found;
  }

  const effc::rt::ChatFormat format;

private:
  mutable std::mutex lock;
  mutable std::optional<effc::rt::AnswerFormat> found;
};

struct effc_chat_parser {
  std::unique_ptr<effc::rt::AnswerParser> parser;
  effc::rt::AnswerPart shown = {};
};

#endif // EFFC_RUNTIME_SRC_CAPI_CHATHANDLE_H
