// Builds the bytes of a safetensors file, right ones and wrong ones.
#ifndef EFFC_TEST_UNIT_FRONTEND_SAFETENSORSIMAGE_H
#define EFFC_TEST_UNIT_FRONTEND_SAFETENSORSIMAGE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace effc::test {

/// A file from its header's text and its buffer; `length` replaces the header's
/// true length.
inline std::string safetensorsImage(llvm::StringRef header,
                                    llvm::StringRef buffer,
                                    uint64_t length = ~uint64_t(0)) {
  if (length == ~uint64_t(0))
    length = header.size();
  std::string image;
  for (int i = 0; i < 8; ++i)
    image += char(length >> (8 * i));
  return image + header.str() + buffer.str();
}

/// Collects tensors and writes a file of them.
class SafetensorsBuilder {
public:
  /// Adds a tensor; `bytes` must fit type and shape.
  void add(llvm::StringRef name, llvm::StringRef type,
           std::vector<uint64_t> shape, llvm::StringRef bytes) {
    std::string dims;
    for (uint64_t extent : shape)
      dims += (dims.empty() ? "" : ",") + std::to_string(extent);
    header += (header.empty() ? "" : ",");
    header += "\"" + name.str() + "\":{\"dtype\":\"" + type.str() +
              "\",\"shape\":[" + dims + "],\"data_offsets\":[" +
              std::to_string(buffer.size()) + "," +
              std::to_string(buffer.size() + bytes.size()) + "]}";
    buffer += bytes.str();
  }

  std::string build() const {
    return safetensorsImage("{" + header + "}", buffer);
  }

private:
  std::string header;
  std::string buffer;
};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_FRONTEND_SAFETENSORSIMAGE_H
