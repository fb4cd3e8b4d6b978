#include "frontend/tokenizer/SentencePieceModel.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/tokenizer/ProtobufReader.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/JSON.h"

#include <cmath>

using namespace effc::frontend;
using llvm::StringRef;
using llvm::Twine;

/// As many ids as any reader of vocabularies here takes.
static constexpr size_t kMostPieces = size_t(1) << 24;
/// More than any piece has; every way to cut one is tried for merges.
static constexpr size_t kMostPieceBytes = 1024;

namespace {

class ModelParser {
public:
  ModelParser(StringRef bytes, StringRef name) : bytes(bytes), name(name) {}

  llvm::Expected<SentencePieceModel> parse() {
    llvm::Error error = read(bytes, 0, [&](auto &reader, auto &field) {
      return readModelField(reader, field);
    });
    if (error)
      return error;
    if (model.pieces.empty())
      return refuse(name + ": expects at least one piece, but the " +
                    Twine(bytes.size()) +
                    " bytes have none: this is no SentencePiece model");
    return std::move(model);
  }

private:
  /// Calls `body` for each field of a message.
  template <typename Body>
  llvm::Error read(StringRef message, uint64_t offset, Body body) {
    ProtobufReader reader(message, name, offset);
    while (!reader.isAtEnd()) {
      auto field = reader.next();
      if (!field)
        return field.takeError();
      if (llvm::Error error = body(reader, *field))
        return error;
    }
    return llvm::Error::success();
  }

  /// A message inside: of one that comes twice the fields add up, as the
  /// format says.
  template <typename Body>
  llvm::Error readInner(const ProtobufReader &reader,
                        const ProtobufField &field, Body body) {
    if (llvm::Error error = reader.expectKind(field, WireKind::Bytes))
      return error;
    return read(field.bytes, field.bytesOffset, body);
  }

  llvm::Error readModelField(const ProtobufReader &reader,
                             const ProtobufField &field) {
    switch (field.number) {
    case 1:
      return readPiece(reader, field);
    case 2:
      return readInner(reader, field, [&](auto &inner, auto &one) {
        return readTrainerField(inner, one);
      });
    case 3:
      return readInner(reader, field, [&](auto &inner, auto &one) {
        return readNormalizerField(inner, one);
      });
    default:
      return llvm::Error::success();
    }
  }

  llvm::Error readPiece(const ProtobufReader &reader,
                        const ProtobufField &field) {
    SentencePiece piece;
    llvm::Error error =
        readInner(reader, field, [&](auto &inner, auto &one) -> llvm::Error {
          switch (one.number) {
          case 1:
            return readText(inner, one, piece.text);
          case 2:
            return readScore(inner, one, piece.score);
          case 3:
            return readEnum(inner, one, PieceType::Byte, piece.type);
          default:
            return llvm::Error::success();
          }
        });
    if (error)
      return error;
    size_t id = model.pieces.size();
    if (id == kMostPieces)
      return reader.refuseAt(field.offset, "expects at most " +
                                               Twine(kMostPieces) + " pieces");
    if (piece.text.empty() || piece.text.size() > kMostPieceBytes)
      return reader.refuseAt(field.offset,
                             "expects piece " + Twine(id) + " to have 1.." +
                                 Twine(kMostPieceBytes) + " bytes, but got " +
                                 Twine(piece.text.size()));
    auto [known, isNew] = idOf.try_emplace(piece.text, id);
    if (!isNew)
      return reader.refuseAt(field.offset,
                             "pieces " + Twine(known->second) + " and " +
                                 Twine(id) + " are both " + quote(piece.text));
    model.pieces.push_back(std::move(piece));
    return llvm::Error::success();
  }

  llvm::Error readTrainerField(const ProtobufReader &reader,
                               const ProtobufField &field) {
    switch (field.number) {
    case 3:
      return readEnum(reader, field, SentencePieceKind::Character, model.kind);
    case 24:
      return readBoolean(reader, field, model.isSpaceSuffix);
    case 35:
      return readBoolean(reader, field, model.byteFallback);
    case 40:
      return readId(reader, field, model.unknownId);
    case 41:
      return readId(reader, field, model.bosId);
    case 42:
      return readId(reader, field, model.eosId);
    case 45:
      return readText(reader, field, model.unknownPiece);
    case 46:
      return readText(reader, field, model.bosPiece);
    case 47:
      return readText(reader, field, model.eosPiece);
    default:
      return llvm::Error::success();
    }
  }

  llvm::Error readNormalizerField(const ProtobufReader &reader,
                                  const ProtobufField &field) {
    switch (field.number) {
    case 1:
      return readText(reader, field, model.normalizerName);
    case 2:
      if (llvm::Error error = reader.expectKind(field, WireKind::Bytes))
        return error;
      model.charsmap = field.bytes.str();
      return llvm::Error::success();
    case 3:
      return readBoolean(reader, field, model.addDummyPrefix);
    case 4:
      return readBoolean(reader, field, model.removeExtraSpaces);
    case 5:
      return readBoolean(reader, field, model.escapeSpaces);
    default:
      return llvm::Error::success();
    }
  }

  static llvm::Error readText(const ProtobufReader &reader,
                              const ProtobufField &field, std::string &into) {
    if (llvm::Error error = reader.expectKind(field, WireKind::Bytes))
      return error;
    size_t wrong = 0;
    if (!llvm::json::isUTF8(field.bytes, &wrong))
      return reader.refuseAt(field.bytesOffset + wrong,
                             "the text of field " + Twine(field.number) +
                                 " is not UTF-8");
    into = field.bytes.str();
    return llvm::Error::success();
  }

  static llvm::Error readScore(const ProtobufReader &reader,
                               const ProtobufField &field, float &into) {
    if (llvm::Error error = reader.expectKind(field, WireKind::Fixed32))
      return error;
    into = llvm::bit_cast<float>(static_cast<uint32_t>(field.value));
    if (!std::isfinite(into))
      return reader.refuseAt(field.offset, "expects a finite score");
    return llvm::Error::success();
  }

  /// A value of 1 to `last`.
  template <typename Enum>
  static llvm::Error readEnum(const ProtobufReader &reader,
                              const ProtobufField &field, Enum last,
                              Enum &into) {
    if (llvm::Error error = reader.expectKind(field, WireKind::Varint))
      return error;
    if (field.value < 1 || field.value > uint64_t(last))
      return reader.refuseAt(field.offset,
                             "expects field " + Twine(field.number) +
                                 " to be in 1.." + Twine(unsigned(last)) +
                                 ", but got " + Twine(field.value));
    into = Enum(field.value);
    return llvm::Error::success();
  }

  static llvm::Error readBoolean(const ProtobufReader &reader,
                                 const ProtobufField &field, bool &into) {
    if (llvm::Error error = reader.expectKind(field, WireKind::Varint))
      return error;
    into = field.value != 0;
    return llvm::Error::success();
  }

  /// An int32, which the format writes as 64 bits.
  static llvm::Error readId(const ProtobufReader &reader,
                            const ProtobufField &field, int64_t &into) {
    if (llvm::Error error = reader.expectKind(field, WireKind::Varint))
      return error;
    into = static_cast<int32_t>(field.value);
    return llvm::Error::success();
  }

  StringRef bytes, name;
  SentencePieceModel model;
  llvm::StringMap<size_t> idOf;
};

} // namespace

llvm::Expected<SentencePieceModel>
effc::frontend::parseSentencePiece(StringRef bytes, StringRef name) {
  return ModelParser(bytes, name).parse();
}
