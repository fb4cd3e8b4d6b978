// Any bytes as a chat template and, behind a zero byte, as the messages that it is
// given: refused with one line, or a prompt of valid UTF-8 within the limits, whose
// given parts are in order.
#include "runtime/src/chat/ChatFormat.h"
#include "runtime/src/chat/jinja/Machine.h"
#include "runtime/src/tokenizer/Utf8.h"

using namespace effc::rt;

static void checkError(const effc::rt::Error &error) {
  if (error.message.empty() || error.message.find('\n') != std::string::npos)
    __builtin_trap();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view input(reinterpret_cast<const char *>(data), size);
  size_t zero = input.find('\0');
  std::string messages =
      R"([{"role": "user", "content": "Hi \u00e9"}, {"role": "assistant",
         "tool_calls": [{"function": {"name": "f", "arguments": {"a": [1, 2.5]}}}]}])";
  if (zero != std::string_view::npos)
    messages = input.substr(zero + 1);
  Result<ChatFormat> format = ChatFormat::create(
      std::string(input.substr(0, zero)), {{"bos_token", "<s>"}});
  if (!format) {
    checkError(format.error());
    return 0;
  }
  Conversation conversation;
  conversation.messages = messages;
  conversation.addGenerationPrompt = size % 2;
  Result<jinja::Text> text =
      format->render(conversation, {2026, 3, 9, 14, 5, 7});
  if (!text) {
    checkError(text.error());
    return 0;
  }
  size_t end = 0;
  for (const jinja::Span &span : text->givenSpans()) {
    if (span.begin < end || span.begin >= span.end || span.end > text->size())
      __builtin_trap();
    end = span.end;
  }
  if (text->size() > jinja::kMostTextBytes ||
      makeValidUtf8(text->bytes()) != text->bytes())
    __builtin_trap();
  return 0;
}
