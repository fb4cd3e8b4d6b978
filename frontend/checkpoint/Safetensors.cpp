#include "frontend/checkpoint/Safetensors.h"

#include "dialects/storage/Bytes.h"
#include "frontend/checkpoint/ForeignFile.h"
#include "frontend/checkpoint/Json.h"
#include "frontend/checkpoint/Refusal.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"

#include <tuple>

using namespace effc;
using namespace effc::frontend;

namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMostHeaderBytes = 100'000'000;

/// Reads one entry; messages are about `where`, "model.safetensors: tensor
/// 'a'".
class EntryReader {
public:
  EntryReader(llvm::StringRef file, const JsonMember &member)
      : member(member), where((file + ": tensor " + quote(member.key)).str()) {}

  llvm::Expected<TensorEntry> read() {
    const JsonObject *object = member.value.getObject();
    if (!object)
      return refuse(where + ": expects an object, but got " +
                    member.value.describe());
    for (const JsonMember &inner : object->getMembers())
      if (inner.key != "dtype" && inner.key != "shape" &&
          inner.key != "data_offsets")
        return refuse(where + ": unknown key " + quote(inner.key));
    entry.name = member.key;
    for (auto step : {&EntryReader::readType, &EntryReader::readShape,
                      &EntryReader::readOffsets, &EntryReader::checkSize})
      if (llvm::Error error = (this->*step)(*object))
        return error;
    return std::move(entry);
  }

private:
  llvm::Error mismatch(llvm::StringRef key, llvm::StringRef expected,
                       const JsonValue *found) {
    if (!found)
      return refuse(where + ": lacks '" + key + "'");
    return refuse(where + ": expects '" + key + "' to be " + expected +
                  ", but got " + found->describe());
  }

  llvm::Error readType(const JsonObject &object) {
    const JsonValue *value = object.find("dtype");
    const std::string *name = value ? value->getString() : nullptr;
    if (!name)
      return mismatch("dtype", "a string", value);
    std::optional<ElementType> type = parseElementType(*name);
    if (!type)
      return refuse(where + ": unknown dtype " + quote(*name));
    entry.type = *type;
    return llvm::Error::success();
  }

  llvm::Error readShape(const JsonObject &object) {
    const JsonValue *value = object.find("shape");
    const JsonArray *dimensions = value ? value->getArray() : nullptr;
    if (!dimensions)
      return mismatch("shape", "an array", value);
    for (const JsonValue &dimension : *dimensions) {
      std::optional<uint64_t> extent = dimension.getUnsigned();
      if (!extent)
        return refuse(
            where + ": expects dimensions to be integers from 0 on, but got " +
            dimension.describe());
      entry.shape.push_back(*extent);
    }
    return llvm::Error::success();
  }

  llvm::Error readOffsets(const JsonObject &object) {
    const JsonValue *value = object.find("data_offsets");
    const JsonArray *offsets = value ? value->getArray() : nullptr;
    if (!offsets || offsets->size() != 2)
      return mismatch("data_offsets", "an array of 2", value);
    for (const JsonValue &offset : *offsets)
      if (!offset.getUnsigned())
        return refuse(where +
                      ": expects offsets to be integers from 0 on, but got " +
                      offset.describe());
    entry.begin = *(*offsets)[0].getUnsigned();
    entry.end = *(*offsets)[1].getUnsigned();
    if (entry.begin > entry.end)
      return refuse(where +
                    ": expects its start to be at most its end, but got "
                    "offsets " +
                    llvm::Twine(entry.begin) + " and " +
                    llvm::Twine(entry.end));
    return llvm::Error::success();
  }

  llvm::Error checkSize(const JsonObject &) {
    // In the order of the format's reference reader: elements, then bits.
    std::optional<uint64_t> bits = 1;
    for (uint64_t extent : entry.shape)
      if (bits)
        bits = llvm::checkedMulUnsigned(*bits, extent);
    if (bits)
      bits = llvm::checkedMulUnsigned(
          *bits, uint64_t(getBits(entry.type.getElement())));
    if (!bits)
      return refuse(where + ": the size of shape " +
                    describeShape(entry.shape) + " does not fit 64 bits");
    std::optional<uint64_t> bytes = storage::bytesIn(*bits);
    if (!bytes)
      return refuse(where + ": expects a whole number of bytes, but " +
                    describeShape(entry.shape) + " elements of " +
                    entry.type.getName() + " are " + llvm::Twine(*bits) +
                    " bits");
    if (entry.end - entry.begin != *bytes)
      return refuse(where + ": expects " + llvm::Twine(*bytes) + " bytes for " +
                    describeShape(entry.shape) + " elements of " +
                    entry.type.getName() + ", but its offsets span " +
                    llvm::Twine(entry.end - entry.begin));
    return llvm::Error::success();
  }

  const JsonMember &member;
  std::string where;
  TensorEntry entry{{}, ElementType::F32, {}};
};

} // namespace

static llvm::Error
readMetadata(const JsonValue &value, llvm::StringRef file,
             std::vector<std::pair<std::string, std::string>> &metadata) {
  const JsonObject *object = value.getObject();
  if (!object)
    return refuse(file + ": expects '__metadata__' to be an object, but got " +
                  value.describe());
  for (const JsonMember &member : object->getMembers()) {
    const std::string *text = member.value.getString();
    if (!text)
      return refuse(file + ": expects " + quote(member.key) +
                    " in '__metadata__' to be a string, but got " +
                    member.value.describe());
    metadata.emplace_back(member.key, *text);
  }
  return llvm::Error::success();
}

/// (ST12), (ST13)
static llvm::Error checkLayout(llvm::ArrayRef<TensorEntry> entries,
                               uint64_t bufferBytes, llvm::StringRef file) {
  uint64_t expected = 0;
  for (const TensorEntry &entry : entries) {
    if (entry.begin != expected)
      return refuse(file + ": expects tensor " + quote(entry.name) +
                    " to start at offset " + llvm::Twine(expected) +
                    ", where the one before ends, but got " +
                    llvm::Twine(entry.begin));
    expected = entry.end;
  }
  if (expected != bufferBytes)
    return refuse(file + ": expects " + llvm::Twine(expected) +
                  " bytes of tensors, but the file has " +
                  llvm::Twine(bufferBytes));
  return llvm::Error::success();
}

llvm::Expected<SafetensorsHeader> effc::frontend::parseSafetensorsHeader(
    llvm::StringRef text, uint64_t bufferBytes, llvm::StringRef name) {
  if (!text.starts_with("{"))
    return refuse(name + ": expects the header to start with '{', but got " +
                  (text.empty() ? "nothing" : quote(text.take_front(1))));
  llvm::StringRef json = text.rtrim(' ');
  if (!json.ends_with("}"))
    return refuse(name +
                  ": expects the header to end with '}' and spaces, but "
                  "got " +
                  quote(json.take_back(1)));
  JsonLimits limits;
  limits.bytes = kMostHeaderBytes;
  limits.depth = 8;
  limits.nonFinite = false;
  auto value = parseJson(json, name, limits);
  if (!value)
    return value.takeError();

  SafetensorsHeader header;
  for (const JsonMember &member : value->getObject()->getMembers()) {
    if (member.key == "__metadata__") {
      if (llvm::Error error = readMetadata(member.value, name, header.metadata))
        return error;
      continue;
    }
    auto entry = EntryReader(name, member).read();
    if (!entry)
      return entry.takeError();
    header.entries.push_back(std::move(*entry));
  }
  llvm::sort(header.entries, [](const auto &a, const auto &b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  if (llvm::Error error = checkLayout(header.entries, bufferBytes, name))
    return error;
  return header;
}

/// Why a file whose first bytes are no header's length is refused: what it is
/// instead, if that is known, else `reason`.
static llvm::Error refuseHeader(const MappedFile &file,
                                const llvm::Twine &reason) {
  std::vector<uint8_t> start(std::min(file.size(), kForeignBytes));
  if (llvm::Error error = file.read(0, start))
    return error;
  std::string foreign = explainForeignBinary(start);
  return refuse(file.getName() + ": " +
                (foreign.empty() ? reason : "is " + foreign));
}

llvm::Expected<std::unique_ptr<TensorFile>>
effc::frontend::openSafetensors(llvm::StringRef path, llvm::StringRef name) {
  auto opened = MappedFile::open(path, name);
  if (!opened)
    return opened.takeError();
  const MappedFile &file = **opened;
  uint64_t fileBytes = file.size();
  if (fileBytes < kLengthBytes)
    return refuse(name + ": expects at least 8 bytes, but got " +
                  llvm::Twine(fileBytes));
  uint8_t length[kLengthBytes];
  if (llvm::Error error = file.read(0, length))
    return error;
  uint64_t headerBytes = llvm::support::endian::read64le(length);
  if (headerBytes > kMostHeaderBytes)
    return refuseHeader(
        file, "expects a header of at most " + llvm::Twine(kMostHeaderBytes) +
                  " bytes, but got " + llvm::Twine(headerBytes));
  if (headerBytes > fileBytes - kLengthBytes)
    return refuseHeader(
        file, "expects a header of " + llvm::Twine(headerBytes) +
                  " bytes, but the file has " +
                  llvm::Twine(fileBytes - kLengthBytes) + " after its length");
  std::string text(headerBytes, '\0');
  if (llvm::Error error =
          file.read(kLengthBytes,
                    llvm::MutableArrayRef<uint8_t>(
                        reinterpret_cast<uint8_t *>(text.data()), text.size())))
    return error;
  uint64_t dataOffset = kLengthBytes + headerBytes;
  auto header = parseSafetensorsHeader(text, fileBytes - dataOffset, name);
  if (!header)
    return header.takeError();
  return std::make_unique<TensorFile>(
      std::move(*opened), TensorTable{std::move(header->entries), dataOffset});
}
