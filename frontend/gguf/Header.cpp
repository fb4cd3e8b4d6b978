#include "frontend/gguf/Header.h"

#include "frontend/checkpoint/ForeignFile.h"
#include "frontend/checkpoint/Refusal.h"
#include "frontend/gguf/Types.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace effc::frontend;

namespace {

constexpr uint64_t kMostStringBytes = uint64_t(1) << 30;
/// Four times the elements of the largest public vocabularies' merges.
constexpr uint64_t kMostElements = uint64_t(1) << 26;
constexpr uint64_t kMostKeyBytes = 65535;
/// Of the format's own library: 64 with the terminator.
constexpr uint64_t kMostNameBytes = 63;
/// A page of any machine; files have 32.
constexpr uint32_t kMostAlignment = 65536;
/// What the shortest key (a name of one letter, a u8) and the shortest tensor (a
/// name of one letter, one dimension) take.
constexpr uint64_t kLeastKeyBytes = 8 + 1 + 4 + 1,
                   kLeastTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;

/// Reads the file from its first byte on and knows where it ends.
class HeaderParser {
public:
  HeaderParser(llvm::ArrayRef<uint8_t> file, llvm::StringRef name)
      : file(file), name(name) {}

  llvm::Expected<GgufHeader> parse() {
    for (auto step : {&HeaderParser::readStart, &HeaderParser::readPairs,
                      &HeaderParser::readAlignment, &HeaderParser::readTensors})
      if (llvm::Error error = (this->*step)())
        return error;
    return GgufHeader{version,
                      alignment,
                      GgufMetadata(name, std::move(pairs)),
                      {std::move(entries), dataOffset}};
  }

private:
  uint64_t left() const { return file.size() - at; }

  template <typename T> bool read(T &number) {
    if (left() < sizeof(T))
      return false;
    number = llvm::support::endian::read<T, llvm::endianness::little>(
        file.data() + at);
    at += sizeof(T);
    return true;
  }

  llvm::Error cutShort(const llvm::Twine &where) {
    return refuse(name + ": ends at byte " + llvm::Twine(file.size()) +
                  ", within " + where);
  }

  /// (GG1) to (GG3)
  llvm::Error readStart() {
    if (!isGguf(file)) {
      std::string foreign = explainForeignBinary(
          file.take_front(std::min<uint64_t>(file.size(), kForeignBytes)));
      return refuse(name + (foreign.empty()
                                ? ": expects 'GGUF' at the start, but got " +
                                      quote(llvm::toStringRef(file.take_front(
                                          std::min<size_t>(file.size(), 4))))
                                : ": is " + foreign));
    }
    at = 4;
    int64_t tensors, keys;
    if (!read(version) || !read(tensors) || !read(keys))
      return cutShort("the header");
    if (version != 0 && (version & 0xffff) == 0)
      return refuse(name + ": is of the other byte order (its version reads " +
                    llvm::Twine(version) +
                    "), for machines such as s390x: convert it to "
                    "little-endian (gguf-convert-endian of the package gguf)");
    if (version == 1)
      return refuse(name + ": expects version 2 or 3, but got 1, which no "
                           "current program reads: convert the model again");
    if (version != 2 && version != 3)
      return refuse(name + ": expects version 2 or 3, but got " +
                    llvm::Twine(version));
    if (llvm::Error error = checkCount("keys", keys, kLeastKeyBytes))
      return error;
    if (llvm::Error error = checkCount("tensors", tensors, kLeastTensorBytes))
      return error;
    keyCount = uint64_t(keys);
    tensorCount = uint64_t(tensors);
    return llvm::Error::success();
  }

  llvm::Error checkCount(llvm::StringRef what, int64_t count, uint64_t least) {
    uint64_t most = left() / least;
    if (count >= 0 && uint64_t(count) <= most)
      return llvm::Error::success();
    return refuse(name + ": expects the number of " + what + " to be in 0.." +
                  llvm::Twine(most) +
                  ", which the file has room for, but got " +
                  llvm::Twine(count));
  }

  /// (GG6) of a string; `where` says which one.
  llvm::Error readString(std::string &text, const llvm::Twine &where,
                         uint64_t most = kMostStringBytes) {
    uint64_t length;
    if (!read(length))
      return cutShort(where);
    if (length > most)
      return refuse(name + ": expects " + where + " to have at most " +
                    llvm::Twine(most) + " bytes, but got " +
                    llvm::Twine(length));
    if (length > left())
      return refuse(name + ": " + where + " has " + llvm::Twine(length) +
                    " bytes, but the file has " + llvm::Twine(left()) +
                    " left");
    text = llvm::toStringRef(file.slice(at, length)).str();
    at += length;
    return llvm::Error::success();
  }

  /// (GG4)
  llvm::Error readPairs() {
    llvm::StringSet<> seen;
    for (uint64_t i = 0; i < keyCount; ++i) {
      GgufPair pair;
      if (llvm::Error error = readString(
              pair.key, "the name of key " + llvm::Twine(i), kMostKeyBytes))
        return error;
      if (pair.key.empty())
        return refuse(name + ": the name of key " + llvm::Twine(i) +
                      " is empty");
      if (!seen.insert(pair.key).second)
        return refuse(name + ": key " + quote(pair.key) + " occurs twice");
      if (llvm::Error error = readValue(pair))
        return error;
      pairs.push_back(std::move(pair));
    }
    return llvm::Error::success();
  }

  llvm::Error readType(llvm::StringRef key, llvm::StringRef what,
                       GgufValueType &type) {
    uint32_t number;
    if (!read(number))
      return cutShort("key " + quote(key));
    if (number > uint32_t(GgufValueType::F64))
      return refuse(name + ": key " + quote(key) + ": expects " + what +
                    " in 0..12, but got " + llvm::Twine(int32_t(number)));
    type = GgufValueType(number);
    return llvm::Error::success();
  }

  /// (GG5), (GG6), (GG7)
  llvm::Error readValue(GgufPair &pair) {
    GgufValue &value = pair.value;
    std::string where = "key " + quote(pair.key);
    if (llvm::Error error = readType(pair.key, "a type of values", value.type))
      return error;
    if (value.type == GgufValueType::Array) {
      value.isArray = true;
      if (llvm::Error error =
              readType(pair.key, "a type of elements", value.type))
        return error;
      if (value.type == GgufValueType::Array)
        return refuse(name + ": " + where +
                      " is an array of arrays, which is not read");
      if (!read(value.count))
        return cutShort(where);
    }
    unsigned bytes = getBytes(value.type);
    uint64_t least = bytes == 0 ? sizeof(uint64_t) : bytes;
    if (value.count > kMostElements)
      return refuse(name + ": " + where + ": expects at most " +
                    llvm::Twine(kMostElements) + " elements, but got " +
                    llvm::Twine(value.count));
    if (value.count > left() / least)
      return refuse(name + ": " + where + " has " + llvm::Twine(value.count) +
                    (value.isArray ? " elements" : " value") + " of " +
                    getName(value.type) + ", but the file has " +
                    llvm::Twine(left()) + " bytes left");
    if (bytes == 0) {
      for (uint64_t i = 0; i < value.count; ++i) {
        std::string text;
        if (llvm::Error error =
                value.isArray ? readString(text, "element " + llvm::Twine(i) +
                                                     " of " + where)
                              : readString(text, where))
          return error;
        value.strings.push_back(std::move(text));
      }
      return llvm::Error::success();
    }
    value.bytes = llvm::toStringRef(file.slice(at, value.count * bytes)).str();
    at += value.count * bytes;
    if (value.type == GgufValueType::Bool)
      for (unsigned char c : value.bytes)
        if (c > 1)
          return refuse(name + ": " + where +
                        ": expects a bool to be 0 or 1, "
                        "but got " +
                        llvm::Twine(unsigned(c)));
    return llvm::Error::success();
  }

  /// (GG8)
  llvm::Error readAlignment() {
    for (const GgufPair &pair : pairs) {
      if (pair.key != "general.alignment")
        continue;
      const GgufValue &value = pair.value;
      int64_t number = 0;
      if (!value.isArray && value.type == GgufValueType::U32)
        number = *value.getInteger();
      if (number > kMostAlignment || !llvm::isPowerOf2_64(uint64_t(number)))
        return refuse(name +
                      ": expects 'general.alignment' to be a power of two in "
                      "1..65536 (u32), but got " +
                      value.describe());
      alignment = uint32_t(number);
    }
    return llvm::Error::success();
  }

  /// (GG9), (GG13), (GG14)
  llvm::Error readTensors() {
    llvm::StringSet<> seen;
    uint64_t end = 0; // of the tensor before
    for (uint64_t i = 0; i < tensorCount; ++i) {
      TensorEntry entry{{}, ElementType::F32, {}};
      if (llvm::Error error =
              readString(entry.name, "the name of tensor " + llvm::Twine(i),
                         kMostNameBytes))
        return error;
      if (entry.name.empty())
        return refuse(name + ": the name of tensor " + llvm::Twine(i) +
                      " is empty");
      std::string where = "tensor " + quote(entry.name);
      if (!seen.insert(entry.name).second)
        return refuse(name + ": " + where + " occurs twice");
      uint64_t bytes, offset;
      if (llvm::Error error = readShapeAndType(entry, where, bytes))
        return error;
      if (!read(offset))
        return cutShort(where);
      // Both are below 2^63 and the alignment is small, so this fits.
      uint64_t expected = llvm::alignTo(end, alignment);
      if (offset != expected)
        return refuse(name + ": expects " + where + " to begin at offset " +
                      llvm::Twine(expected) +
                      ", where the one before ends, but got " +
                      llvm::Twine(offset));
      if (bytes > file.size() || offset > file.size() - bytes)
        return refuse(name + ": " + where + " ends at offset " +
                      llvm::Twine(offset + bytes) +
                      " of the data, but the file has " +
                      llvm::Twine(file.size()) + " bytes");
      entry.begin = offset;
      entry.end = end = offset + bytes;
      entries.push_back(std::move(entry));
    }
    dataOffset = llvm::alignTo(at, alignment);
    // Nothing follows where there are no tensors, not even the padding.
    if (dataOffset > file.size()) {
      if (!entries.empty())
        return cutShort("the padding before the tensors");
      dataOffset = file.size();
    }
    uint64_t data = file.size() - dataOffset;
    if (end > data)
      return refuse(name + ": tensor " + quote(entries.back().name) +
                    " ends at offset " + llvm::Twine(end) +
                    " of the data, but the file has " + llvm::Twine(data) +
                    ": it has been cut short");
    if (data > llvm::alignTo(end, alignment))
      return refuse(name + ": expects " + llvm::Twine(end) +
                    " bytes of tensors, but the file has " + llvm::Twine(data));
    return llvm::Error::success();
  }

  /// (GG10) to (GG12)
  llvm::Error readShapeAndType(TensorEntry &entry, const std::string &where,
                               uint64_t &bytes) {
    uint32_t dimensions;
    if (!read(dimensions))
      return cutShort(where);
    if (dimensions < 1 || dimensions > 4)
      return refuse(name + ": " + where +
                    ": expects 1 to 4 dimensions, but got " +
                    llvm::Twine(dimensions));
    std::optional<int64_t> elements = 1;
    for (uint32_t i = 0; i < dimensions; ++i) {
      int64_t extent;
      if (!read(extent))
        return cutShort(where);
      if (extent < 1)
        return refuse(name + ": " + where +
                      ": expects dimensions from 1 on, but got " +
                      llvm::Twine(extent));
      if (elements)
        elements = llvm::checkedMul(*elements, extent);
      entry.shape.insert(entry.shape.begin(), uint64_t(extent));
    }
    if (!elements)
      return refuse(name + ": " + where + ": the elements of shape " +
                    describeShape(entry.shape) + " do not fit 63 bits");
    int32_t number;
    if (!read(number))
      return cutShort(where);
    const GgufType *type = findGgufType(number);
    if (!type)
      return refuse(name + ": " + where + ": unknown type " +
                    llvm::Twine(number));
    entry.type = type->getTensorType();
    if (entry.shape.back() % type->elements != 0)
      return refuse(name + ": " + where + ": expects rows of a multiple of " +
                    llvm::Twine(type->elements) + " elements, the block of " +
                    type->name + ", but got " +
                    llvm::Twine(entry.shape.back()));
    std::optional<int64_t> size = llvm::checkedMul(
        *elements / int64_t(type->elements), int64_t(type->bytes));
    if (!size)
      return refuse(name + ": " + where + ": the bytes of shape " +
                    describeShape(entry.shape) + " do not fit 63 bits");
    bytes = uint64_t(*size);
    return llvm::Error::success();
  }

  llvm::ArrayRef<uint8_t> file;
  std::string name;
  uint64_t at = 0, keyCount = 0, tensorCount = 0, dataOffset = 0;
  uint32_t version = 0, alignment = 32;
  std::vector<GgufPair> pairs;
  std::vector<TensorEntry> entries;
};

} // namespace

bool effc::frontend::isGguf(llvm::ArrayRef<uint8_t> start) {
  return llvm::toStringRef(start).starts_with("GGUF");
}

llvm::Expected<GgufHeader>
effc::frontend::parseGgufHeader(llvm::ArrayRef<uint8_t> file,
                                llvm::StringRef name) {
  return HeaderParser(file, name).parse();
}
