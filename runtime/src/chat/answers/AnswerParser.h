//===- AnswerParser.h - Reasoning, content and calls of an answer ---------===//
//
//   reasoning ──close mark──> content ──open mark──> calls ──> content ──> ...
//
// Takes bytes one by one. White space at the borders of the parts belongs to the
// template and is dropped; within them it stays.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_ANSWERS_ANSWERPARSER_H
#define EFFC_RUNTIME_SRC_CHAT_ANSWERS_ANSWERPARSER_H

#include "runtime/src/chat/answers/AnswerFormat.h"
#include "runtime/src/chat/answers/CallReader.h"

#include <deque>
#include <map>

namespace effc::rt {

struct AnswerPart {
  effc_chat_part_kind_t kind;
  uint32_t call;
  std::string text, id;
};

class AnswerParser : private CallSink, private ParameterTypes {
public:
  struct Options {
    bool tools = false, reasoning = true;
    std::string_view prompt;      // that the answer follows
    std::string_view definitions; // of tools, JSON; empty: unknown
  };
  /// EFFC_UNSUPPORTED: tools, and the format has none; EFFC_INVALID_ARGUMENT: the
  /// definitions are no list of mappings.
  static Result<std::unique_ptr<AnswerParser>> create(AnswerFormat format,
                                                      const Options &options);

  void push(std::string_view text);
  /// The next answer begins as this one did.
  void finish();
  /// The oldest part that nobody has taken; false where there is none.
  bool next(AnswerPart &part);

private:
  enum class State { Reasoning, Content, Calls, BehindCalls };
  enum class Mark { ReasoningOpen, ReasoningClose, CallOpen, CallClose };

  AnswerParser(AnswerFormat format, const Options &options);
  Check readDefinitions(std::string_view json);
  void begin();
  void enter(State next);
  std::vector<std::pair<std::string_view, Mark>> marks() const;
  void take(char byte);
  void takeText(char byte);
  void reached(Mark mark);
  void say(char byte);
  void add(effc_chat_part_kind_t kind, std::string_view text,
           std::string id = "");
  void beginCalls(bool isCertain);
  void takeCall(char byte);
  bool mayBeginCall(char byte) const;

  void beginCall(const std::string &name, const std::string &id) override;
  void addArguments(std::string_view json) override;
  ParameterType of(const std::string &call,
                   const std::string &key) const override;

  AnswerFormat format;
  bool readsTools, readsReasoning, beginsReasoning = false;
  std::map<std::pair<std::string, std::string>, ParameterType> types;

  State state = State::Content;
  std::string held;        // may be the beginning of a mark
  std::string white;       // may be that before a mark
  bool dropsWhite = false; // what comes first of a part is the template's
  bool hasContent = false;
  std::unique_ptr<CallReader> reader;
  bool isCertain = false; // a mark has said that calls come
  bool isOpen = false;    // and none yet that they have come to their end
  bool hasBegun = false;  // the reader has told of a call
  std::string read;       // by the reader, while it has not
  uint32_t calls = 0;
  std::deque<AnswerPart> parts;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_CHAT_ANSWERS_ANSWERPARSER_H
