// The wire format of protocol buffers, field by field: what SentencePiece's files
// are written in.
//
// The format: https://protobuf.dev/programming-guides/encoding. A field is a tag
// (its number and the kind of its value) and a value. Groups, which nobody has
// written since version 2, are refused; so is what does not end where it says.
#ifndef EFFC_FRONTEND_TOKENIZER_PROTOBUFREADER_H
#define EFFC_FRONTEND_TOKENIZER_PROTOBUFREADER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace effc::frontend {

/// The kinds of values, with the numbers that the format gives them.
enum class WireKind : uint8_t {
  Varint = 0,
  Fixed64 = 1,
  Bytes = 2,
  Fixed32 = 5
};

struct ProtobufField {
  uint32_t number;
  WireKind kind;
  /// Of all kinds but Bytes.
  uint64_t value;
  /// Of Bytes; part of the message that is read.
  llvm::StringRef bytes;
  /// Where the tag, and where `bytes` begins in the file.
  uint64_t offset, bytesOffset;
};

class ProtobufReader {
public:
  /// Reads `message`, which begins at `offset` of the file `name`. Both outlive
  /// the reader and its fields.
  ProtobufReader(llvm::StringRef message, llvm::StringRef name,
                 uint64_t offset = 0)
      : message(message), name(name), start(offset) {}

  bool isAtEnd() const { return at == message.size(); }
  /// The next field; not at the end. Errors name the file and the offset.
  llvm::Expected<ProtobufField> next();

  /// An error about `offset` of the file.
  llvm::Error refuseAt(uint64_t offset, const llvm::Twine &problem) const;
  /// Refuses a field whose kind is not the one that its number has.
  llvm::Error expectKind(const ProtobufField &field, WireKind kind) const;

private:
  llvm::Expected<uint64_t> readVarint();
  llvm::Expected<llvm::StringRef> take(uint64_t count);

  llvm::StringRef message, name;
  uint64_t start;
  uint64_t at = 0;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_PROTOBUFREADER_H
