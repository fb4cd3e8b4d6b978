// effc-chat-render TEMPLATE DATE: renders conversations from the standard input.
//
// A line is one conversation, its parts with tabs between: messages, tools,
// documents, arguments, `1` for a generation prompt or `0`, the field that goes on.
// All but the first may be empty; the first four are JSON without tabs and line
// ends. For each a line `ok SIZE` or `error SIZE` is printed, and so many bytes: the
// prompt, or what is wrong.

#include "runtime/include/effc/effc.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

static void print(const char *kind, const char *text, size_t size) {
  std::printf("%s %zu\n", kind, size);
  std::fwrite(text, 1, size, stdout);
  std::putchar('\n');
}

static void printFailure(effc_status_t *status) {
  std::string message = effc_status_message(status);
  print("error", message.data(), message.size());
  effc_status_free(status);
}

static void render(const effc_chat_t *chat, const char *date,
                   const std::array<std::string, 6> &parts) {
  effc_conversation_t conversation = effc_conversation_default();
  conversation.messages = parts[0].data();
  conversation.messages_size = parts[0].size();
  conversation.tools = parts[1].data();
  conversation.tools_size = parts[1].size();
  conversation.documents = parts[2].data();
  conversation.documents_size = parts[2].size();
  conversation.arguments = parts[3].data();
  conversation.arguments_size = parts[3].size();
  conversation.date = date;
  conversation.add_generation_prompt = parts[4] == "1";
  conversation.continued = parts[5].empty() ? nullptr : parts[5].c_str();
  effc_chat_text_t *prompt = nullptr;
  if (effc_status_t *status = effc_chat_render(chat, &conversation, &prompt))
    return printFailure(status);
  size_t size;
  const char *text = effc_chat_text_bytes(prompt, &size);
  print("ok", text, size);
  effc_chat_text_free(prompt);
}

int main(int count, char **arguments) {
  if (count != 3) {
    std::fprintf(stderr,
                 "usage: effc-chat-render TEMPLATE DATE <CONVERSATIONS\n");
    return 2;
  }
  std::ifstream file(arguments[1], std::ios::binary);
  std::string source(std::istreambuf_iterator<char>(file), {});
  if (!file) {
    std::fprintf(stderr, "cannot read '%s'\n", arguments[1]);
    return 1;
  }
  effc_chat_t *chat = nullptr;
  if (effc_status_t *status = effc_chat_create_from_source(
          source.data(), source.size(), nullptr, &chat)) {
    printFailure(status);
    return 0;
  }
  for (std::string line; std::getline(std::cin, line);) {
    std::array<std::string, 6> parts;
    size_t part = 0;
    for (char byte : line)
      if (byte == '\t' && part + 1 < parts.size())
        ++part;
      else
        parts[part] += byte;
    render(chat, arguments[2], parts);
  }
  effc_chat_free(chat);
}
