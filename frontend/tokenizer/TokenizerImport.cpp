#include "frontend/tokenizer/TokenizerImport.h"

#include "frontend/checkpoint/ConfigReader.h"
#include "frontend/checkpoint/MappedFile.h"
#include "frontend/checkpoint/Refusal.h"
#include "frontend/tokenizer/Component.h"
#include "frontend/tokenizer/PostProcessor.h"
#include "frontend/tokenizer/PreTokenizer.h"
#include "frontend/tokenizer/Vocabulary.h"

using namespace effc;
using namespace effc::frontend;

static constexpr uint64_t kMostFileBytes = uint64_t(256) << 20;

/// Nothing, or nothing in a row.
static llvm::Error checkNormalizer(llvm::StringRef file,
                                   const JsonValue *value) {
  auto component = readComponent(file, "normalizer", value);
  if (!component)
    return component.takeError();
  if (!component->object)
    return llvm::Error::success();
  if (component->type != "Sequence")
    return refuseComponent(file, "normalizer", *component, "none");
  auto steps = readSequence(*component, "normalizers");
  if (!steps)
    return steps.takeError();
  for (const JsonValue &step : **steps)
    if (llvm::Error error = checkNormalizer(file, &step))
      return error;
  return llvm::Error::success();
}

/// ByteLevel, alone or as the one step of a Sequence.
static llvm::Error checkDecoder(llvm::StringRef file, const JsonValue *value) {
  auto component = readComponent(file, "decoder", value);
  if (!component)
    return component.takeError();
  if (component->type == "ByteLevel")
    return llvm::Error::success();
  if (component->type == "Sequence") {
    auto steps = readSequence(*component, "decoders");
    if (!steps)
      return steps.takeError();
    if ((*steps)->size() == 1)
      return checkDecoder(file, &(*steps)->front());
  }
  return refuseComponent(file, "decoder", *component, "ByteLevel");
}

static llvm::Error read(ConfigReader &reader, llvm::StringRef file,
                        int64_t size, std::vector<std::string> &remarks,
                        artifact::TokenizerT &into) {
  reader.get("version");
  for (llvm::StringRef key : {"truncation", "padding"})
    if (const JsonValue *value = reader.get(key))
      if (!value->isNull())
        remarks.push_back((file + ": " + quote(key) +
                           " is ignored: it applies on request only")
                              .str());
  if (llvm::Error error = checkNormalizer(file, reader.get("normalizer")))
    return error;
  if (llvm::Error error = checkDecoder(file, reader.get("decoder")))
    return error;
  if (llvm::Error error =
          readPreTokenizer(file, reader.get("pre_tokenizer"), into))
    return error;
  Vocabulary vocabulary(file, size);
  if (llvm::Error error = vocabulary.readModel(reader.get("model")))
    return error;
  if (llvm::Error error =
          vocabulary.readAddedTokens(reader.get("added_tokens")))
    return error;
  if (llvm::Error error = readPostProcessor(file, reader.get("post_processor"),
                                            vocabulary, into))
    return error;
  if (llvm::Error error = reader.finish())
    return error;
  return vocabulary.write(into);
}

llvm::Expected<std::vector<uint8_t>>
effc::frontend::translateTokenizer(llvm::StringRef text, llvm::StringRef name,
                                   int64_t vocabulary,
                                   std::vector<std::string> &remarks) {
  JsonLimits limits;
  limits.bytes = kMostFileBytes;
  auto value = parseJson(text, name, limits);
  if (!value)
    return value.takeError();
  if (!value->getObject())
    return refuse(name + ": expects an object, but got " + value->describe());
  ConfigReader reader(name, *value->getObject());
  artifact::TokenizerT tokenizer;
  if (llvm::Error error = read(reader, name, vocabulary, remarks, tokenizer))
    return error;
  flatbuffers::FlatBufferBuilder builder;
  artifact::FinishTokenizerBuffer(
      builder, artifact::Tokenizer::Pack(builder, &tokenizer));
  return std::vector<uint8_t>(builder.GetBufferPointer(),
                              builder.GetBufferPointer() + builder.GetSize());
}

llvm::Expected<std::vector<uint8_t>>
effc::frontend::importTokenizer(llvm::StringRef path, llvm::StringRef name,
                                int64_t vocabulary,
                                std::vector<std::string> &remarks) {
  auto text = readTextFile(path, name, kMostFileBytes);
  if (!text)
    return text.takeError();
  return translateTokenizer(*text, name, vocabulary, remarks);
}
