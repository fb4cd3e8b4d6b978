// Builds the bytes of a GGUF file, right ones and wrong ones.
#ifndef EFFC_TEST_UNIT_FRONTEND_GGUF_GGUFIMAGE_H
#define EFFC_TEST_UNIT_FRONTEND_GGUF_GGUFIMAGE_H

#include "frontend/gguf/Metadata.h"

#include <cstring>
#include <string>
#include <vector>

namespace effc::test {

/// The bytes of a number, the lowest first.
template <typename T> std::string gguf(T number) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &number, sizeof(T));
  return bytes;
}
/// A length and the text.
inline std::string ggufText(llvm::StringRef text) {
  return gguf(uint64_t(text.size())) + text.str();
}

/// Collects keys and tensors and writes a file of them. What is public may be
/// spoiled before.
class GgufBuilder {
public:
  using Type = frontend::GgufValueType;

  /// A key whose value's bytes are given.
  GgufBuilder &raw(llvm::StringRef key, Type type, std::string value) {
    keys += ggufText(key) + gguf(uint32_t(type)) + value;
    ++keyCount;
    return *this;
  }
  GgufBuilder &number(llvm::StringRef key, uint32_t value) {
    return raw(key, Type::U32, gguf(value));
  }
  GgufBuilder &real(llvm::StringRef key, float value) {
    return raw(key, Type::F32, gguf(value));
  }
  GgufBuilder &flag(llvm::StringRef key, bool value) {
    return raw(key, Type::Bool, gguf(uint8_t(value)));
  }
  GgufBuilder &text(llvm::StringRef key, llvm::StringRef value) {
    return raw(key, Type::String, ggufText(value));
  }
  GgufBuilder &texts(llvm::StringRef key, std::vector<std::string> values) {
    std::string bytes =
        gguf(uint32_t(Type::String)) + gguf(uint64_t(values.size()));
    for (const std::string &value : values)
      bytes += ggufText(value);
    return raw(key, Type::Array, bytes);
  }
  template <typename T>
  GgufBuilder &array(llvm::StringRef key, Type type, std::vector<T> values) {
    std::string bytes = gguf(uint32_t(type)) + gguf(uint64_t(values.size()));
    for (T value : values)
      bytes += gguf(value);
    return raw(key, Type::Array, bytes);
  }

  /// A tensor; the innermost dimension comes first, as in the file. `bytes` must
  /// fit type and shape.
  GgufBuilder &tensor(llvm::StringRef name, std::vector<int64_t> dimensions,
                      int32_t type, llvm::StringRef bytes) {
    data.resize((data.size() + alignment - 1) / alignment * alignment);
    infos += ggufText(name) + gguf(uint32_t(dimensions.size()));
    for (int64_t extent : dimensions)
      infos += gguf(extent);
    infos += gguf(type) + gguf(uint64_t(data.size()));
    data += bytes.str();
    ++tensorCount;
    return *this;
  }
  /// A tensor of F32.
  GgufBuilder &floats(llvm::StringRef name, std::vector<int64_t> dimensions,
                      const std::vector<float> &numbers) {
    return tensor(
        name, dimensions, 0,
        llvm::StringRef(reinterpret_cast<const char *>(numbers.data()),
                        numbers.size() * sizeof(float)));
  }

  std::string build() const {
    std::string file = magic + gguf(version) + gguf(tensorCount) +
                       gguf(keyCount) + keys + infos;
    file.resize((file.size() + alignment - 1) / alignment * alignment);
    return file + data;
  }

  std::string magic = "GGUF", keys, infos, data;
  uint32_t version = 3;
  int64_t tensorCount = 0, keyCount = 0;
  /// Of the bytes; the key is the caller's.
  size_t alignment = 32;
};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_FRONTEND_GGUF_GGUFIMAGE_H
