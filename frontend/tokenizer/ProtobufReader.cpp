#include "frontend/tokenizer/ProtobufReader.h"

#include "frontend/checkpoint/Refusal.h"

#include "llvm/Support/Endian.h"

using namespace effc::frontend;
using llvm::Twine;

llvm::Error ProtobufReader::refuseAt(uint64_t offset,
                                     const Twine &problem) const {
  return refuse(name + ": at byte " + Twine(offset) + ": " + problem);
}

/// Seven bits a byte, the lowest first; the highest bit says that another byte
/// follows. 64 bits take ten bytes, the last of which holds one bit.
llvm::Expected<uint64_t> ProtobufReader::readVarint() {
  constexpr unsigned kMostBytes = 10;
  uint64_t begin = at, value = 0;
  for (unsigned i = 0; i < kMostBytes; ++i) {
    if (isAtEnd())
      return refuseAt(start + begin, "a number does not end before the " +
                                         Twine(start + message.size()) +
                                         " bytes do");
    auto byte = static_cast<uint8_t>(message[at++]);
    if (i == kMostBytes - 1 && byte > 1)
      break;
    value |= uint64_t(byte & 0x7F) << (7 * i);
    if (byte < 0x80)
      return value;
  }
  return refuseAt(start + begin, "a number has more than 64 bits");
}

llvm::Expected<llvm::StringRef> ProtobufReader::take(uint64_t count) {
  if (count > message.size() - at)
    return refuseAt(start + at, "a value of " + Twine(count) +
                                    " bytes begins here, but only " +
                                    Twine(message.size() - at) + " are left");
  llvm::StringRef taken = message.substr(at, count);
  at += count;
  return taken;
}

llvm::Expected<ProtobufField> ProtobufReader::next() {
  ProtobufField field = {};
  field.offset = start + at;
  auto tag = readVarint();
  if (!tag)
    return tag.takeError();
  uint64_t number = *tag >> 3;
  constexpr uint64_t kMostNumber = (uint64_t(1) << 29) - 1; // of the format
  if (number == 0 || number > kMostNumber)
    return refuseAt(field.offset, "expects a field's number in 1.." +
                                      Twine(kMostNumber) + ", but got " +
                                      Twine(number));
  field.number = static_cast<uint32_t>(number);
  field.kind = WireKind(*tag & 7);
  switch (field.kind) {
  case WireKind::Varint: {
    auto value = readVarint();
    if (!value)
      return value.takeError();
    field.value = *value;
    return field;
  }
  case WireKind::Bytes: {
    auto count = readVarint();
    if (!count)
      return count.takeError();
    field.bytesOffset = start + at;
    auto bytes = take(*count);
    if (!bytes)
      return bytes.takeError();
    field.bytes = *bytes;
    return field;
  }
  case WireKind::Fixed64:
  case WireKind::Fixed32: {
    bool isWide = field.kind == WireKind::Fixed64;
    auto bytes = take(isWide ? 8 : 4);
    if (!bytes)
      return bytes.takeError();
    field.value = isWide ? llvm::support::endian::read64le(bytes->data())
                         : llvm::support::endian::read32le(bytes->data());
    return field;
  }
  }
  return refuseAt(field.offset,
                  "expects a value of kind 0, 1, 2 or 5, but got " +
                      Twine(*tag & 7));
}

llvm::Error ProtobufReader::expectKind(const ProtobufField &field,
                                       WireKind kind) const {
  if (field.kind == kind)
    return llvm::Error::success();
  return refuseAt(field.offset, "expects field " + Twine(field.number) +
                                    " to be of kind " + Twine(unsigned(kind)) +
                                    ", but got " + Twine(unsigned(field.kind)));
}
