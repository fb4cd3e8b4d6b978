//===- CallReader.h - A call of a tool as a model writes it ---------------===//
//
// Readers take bytes one by one, so that where a stream is cut shows nowhere.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_ANSWERS_CALLREADER_H
#define EFFC_RUNTIME_SRC_CHAT_ANSWERS_CALLREADER_H

#include <memory>
#include <string>
#include <string_view>

namespace effc::rt {

/// Told of calls as they are read: first of the name, then of pieces of a JSON
/// mapping.
class CallSink {
public:
  virtual ~CallSink() = default;
  virtual void beginCall(const std::string &name, const std::string &id) = 0;
  virtual void addArguments(std::string_view json) = 0;
};

class CallReader {
public:
  enum class Step {
    More,   // the byte is taken
    Done,   // it is taken, and the calls end with it
    Refused // it is not: what came is no call, or not one to the end
  };
  virtual ~CallReader() = default;
  virtual Step push(char byte) = 0;
};

/// {"name": ..., "arguments": {...}} or with "parameters", or a list of such. With
/// `waits` a call is told of when its arguments begin, since other JSON may have a
/// name.
std::unique_ptr<CallReader> createJsonCalls(CallSink &sink, bool waits);

/// What a tool's description says of a parameter.
enum class ParameterType { Text, Other, Unknown };
class ParameterTypes {
public:
  virtual ~ParameterTypes() = default;
  virtual ParameterType of(const std::string &call,
                           const std::string &key) const = 0;
};

/// <function=name><parameter=key>value</parameter></function>. A value whose type is
/// not known is the JSON that it looks like, else a text.
std::unique_ptr<CallReader> createXmlCalls(CallSink &sink,
                                           const ParameterTypes &types);

/// [name(key="value", other=1), ...]
std::unique_ptr<CallReader> createPythonCalls(CallSink &sink);

inline bool isBlank(char byte) {
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_CHAT_ANSWERS_CALLREADER_H
