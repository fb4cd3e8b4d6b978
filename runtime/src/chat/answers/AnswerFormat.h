//===- AnswerFormat.h - How a template writes calls and reasoning ---------===//
//
// Found by rendering conversations whose call, arguments and reasoning are known,
// and looking at what stands around them in the answer's turn.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_ANSWERS_ANSWERFORMAT_H
#define EFFC_RUNTIME_SRC_CHAT_ANSWERS_ANSWERFORMAT_H

#include "runtime/src/chat/ChatFormat.h"

namespace effc::rt {

enum class CallForm : uint8_t {
  None,
  JsonTags,    // <tool_call>{"name": ..., "arguments": ...}</tool_call>
  XmlTags,     // <tool_call><function=..><parameter=..>..
  Json,        // {"name": ..., "parameters": ...} as the whole answer
  BracketList, // [TOOL_CALLS][{...}, ...]
  TaggedList,  // <tool_calls>[{...}, ...]</tool_calls>
  Python,      // [name(key="value")], possibly between marks
  MarkedList   // <|tool_call|>[{...}, ...]
};

/// As effc_chat_tool_format() has it.
const char *nameOf(CallForm form);

struct AnswerFormat {
  CallForm form = CallForm::None;
  /// Marks before and behind a call or a list of calls; empty for none.
  std::string open, close;
  /// Of forms in JSON: `open` with the white space behind it, the key of a call's
  /// arguments, and whether calls are written as a list.
  std::string lead;
  const char *argumentsKey = "";
  bool isList = false;
  std::string whyNone;                       // of CallForm::None
  std::string reasoningOpen, reasoningClose; // empty: none

  /// Does not fail: a template may refuse all that is tried.
  static AnswerFormat of(const ChatFormat &chat);
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_CHAT_ANSWERS_ANSWERFORMAT_H
