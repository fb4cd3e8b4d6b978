//===- JsonWriter.h - Writes one JSON document ----------------------------===//
//
// Just enough for ModelDescription.cpp: no value is read, and no library is
// needed by those who link the runtime. Strings that are no UTF-8 are written
// with U+FFFD, so that the document is always valid.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_JSONWRITER_H
#define EFFC_RUNTIME_SRC_JSONWRITER_H

#include <cstdint>
#include <string>
#include <string_view>

namespace effc::rt {

class JsonWriter {
public:
  void beginObject() { open('{'); }
  void endObject() { close('}'); }
  void beginArray() { open('['); }
  void endArray() { close(']'); }

  void key(std::string_view name);
  void value(std::string_view text);
  void value(const char *text) { value(std::string_view(text)); }
  void value(bool truth) { write(truth ? "true" : "false"); }
  void value(uint64_t number) { write(std::to_string(number)); }
  void value(int64_t number) { write(std::to_string(number)); }
  void value(uint32_t number) { value(uint64_t(number)); }
  void value(int32_t number) { value(int64_t(number)); }
  void value(double number);
  void null() { write("null"); }

  template <typename T> void field(std::string_view name, const T &content) {
    key(name);
    value(content);
  }

  std::string take() { return std::move(text); }

private:
  void open(char bracket);
  void close(char bracket);
  void separate();
  void write(std::string_view token);
  void quote(std::string_view content);

  std::string text;
  bool afterValue = false; // a comma is due before the next
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_JSONWRITER_H
