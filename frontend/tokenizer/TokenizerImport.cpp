#include "frontend/tokenizer/TokenizerImport.h"

#include "frontend/checkpoint/ConfigReader.h"
#include "frontend/checkpoint/MappedFile.h"
#include "frontend/checkpoint/Refusal.h"
#include "frontend/tokenizer/Component.h"
#include "frontend/tokenizer/Decoder.h"
#include "frontend/tokenizer/Model.h"
#include "frontend/tokenizer/Normalizer.h"
#include "frontend/tokenizer/PostProcessor.h"
#include "frontend/tokenizer/PreTokenizer.h"
#include "frontend/tokenizer/Vocabulary.h"

#include "llvm/ADT/STLExtras.h"

using namespace effc;
using namespace effc::frontend;

static constexpr uint64_t kMostFileBytes = uint64_t(256) << 20;

/// Where each character of the byte alphabet is a token and the decoder reads
/// them back, the runtime works on bytes: the same ids, without the detour.
static void useBytes(const Vocabulary &vocabulary, artifact::TokenizerT &into) {
  using artifact::PieceKind;
  auto isAlphabet = [](const auto &piece) {
    return piece->kind == PieceKind::ByteCharacters;
  };
  bool isByteLevel = into.model == artifact::ModelKind::CharacterBpe &&
                     into.subword_prefix.empty() && into.word_suffix.empty() &&
                     llvm::count_if(into.pieces, isAlphabet) == 1 &&
                     isAlphabet(into.pieces.back()) &&
                     into.decoders.size() == 1 &&
                     into.decoders[0]->kind == artifact::DecoderKind::ByteLevel;
  std::vector<int32_t> symbols = vocabulary.getByteCharacters();
  if (!isByteLevel || llvm::is_contained(symbols, -1))
    return;
  into.model = artifact::ModelKind::ByteBpe;
  into.byte_symbols = std::move(symbols);
  into.byte_fallback.clear();
  into.unknown = -1;
  into.pieces.pop_back();
  into.decoders[0]->kind = artifact::DecoderKind::Bytes;
}

/// PLaMo's code joins the bytes of all tokens, and reads the text from them: a byte's
/// token is that byte, and no text that is a piece.
static void spellBytes(artifact::TokenizerT &into) {
  if (into.model != artifact::ModelKind::BackwardUnigram)
    return;
  for (auto [byte, id] : llvm::enumerate(into.byte_fallback)) {
    into.tokens[id]->data = {uint8_t(byte)};
    into.outside.push_back(id);
  }
  into.decoders.resize(1);
  into.decoders[0] = std::make_unique<artifact::DecoderStepT>();
  into.decoders[0]->kind = artifact::DecoderKind::Bytes;
}

/// Whether a text of one word gets a space in front.
static bool putsSpaceInFront(const artifact::TokenizerT &tokenizer) {
  using artifact::PieceKind;
  return llvm::any_of(tokenizer.pieces,
                      [](const auto &piece) {
                        return piece->kind == PieceKind::PrefixSpace ||
                               (piece->kind == PieceKind::Metaspace &&
                                piece->prepend != artifact::Prepend::Never);
                      }) ||
         llvm::any_of(tokenizer.normalizers, [](const auto &step) {
           return step->kind == artifact::NormalizerKind::Prepend;
         });
}

/// 'add_prefix_space' of the settings against what the tokenizer does. Releases
/// of the library differ in which counts where a ByteLevel stands alone or a
/// space is put in front as Metaspace does; of other pipelines all of them keep
/// what the tokenizer says.
static llvm::Error checkPrefixSpace(llvm::StringRef file,
                                    const JsonValue *preTokenizer,
                                    const TokenizerSettings &settings,
                                    const artifact::TokenizerT &tokenizer,
                                    std::vector<std::string> &remarks) {
  bool puts = putsSpaceInFront(tokenizer);
  if (!settings.addPrefixSpace || *settings.addPrefixSpace == puts)
    return llvm::Error::success();
  const JsonObject *object = preTokenizer ? preTokenizer->getObject() : nullptr;
  const JsonValue *type = object ? object->find("type") : nullptr;
  bool isByteLevel =
      type && type->getString() && *type->getString() == "ByteLevel";
  std::string message =
      ("tokenizer_config.json: 'add_prefix_space' is " +
       llvm::Twine(puts ? "false" : "true") + ", but " + file + " puts " +
       (puts ? "a" : "no") + " space in front of a text")
          .str();
  if (isByteLevel || puts)
    return refuse(message +
                  ": releases of the library differ in which of them counts; "
                  "have the two files say the same");
  remarks.push_back(message + ", which counts, as in the library");
  return llvm::Error::success();
}

/// Tokens that the language model lacks, as a padding token that was added to
/// the tokenizer alone: the library loads such a checkpoint, too.
static llvm::Error remarkOnPast(llvm::StringRef file,
                                const Vocabulary &vocabulary, int64_t size,
                                std::vector<std::string> &remarks) {
  std::vector<int32_t> past = vocabulary.listPast();
  if (past.empty())
    return llvm::Error::success();
  // Where a quarter of the tokens are missing, the file is another model's.
  if (past.size() > vocabulary.count() / 4)
    return refuse(file + ": " + llvm::Twine(past.size()) + " of its " +
                  llvm::Twine(vocabulary.count()) + " tokens lie past the " +
                  llvm::Twine(size) +
                  " of the model: the file belongs to another one");
  remarks.push_back((file + ": ids from " + llvm::Twine(past.front()) + " to " +
                     llvm::Twine(past.back()) + " lie past the " +
                     llvm::Twine(size) +
                     " tokens of the model: a text that gives one is refused")
                        .str());
  return llvm::Error::success();
}

static llvm::Error read(ConfigReader &reader, llvm::StringRef file,
                        int64_t size, const TokenizerSettings &settings,
                        std::vector<std::string> &remarks,
                        artifact::TokenizerT &into) {
  reader.get("version");
  for (llvm::StringRef key : {"truncation", "padding"})
    if (const JsonValue *value = reader.get(key))
      if (!value->isNull())
        remarks.push_back((file + ": " + quote(key) +
                           " is ignored: it applies on request only")
                              .str());
  if (llvm::Error error = readNormalizer(file, reader.get("normalizer"), into))
    return error;
  if (llvm::Error error =
          readPreTokenizer(file, reader.get("pre_tokenizer"), into))
    return error;
  if (llvm::Error error = checkPrefixSpace(file, reader.get("pre_tokenizer"),
                                           settings, into, remarks))
    return error;
  if (llvm::Error error = readDecoder(file, reader.get("decoder"), into))
    return error;
  for (size_t steps : {into.normalizers.size(), into.decoders.size()})
    if (llvm::Error error = checkStepCount(file, steps))
      return error;
  Vocabulary vocabulary(file, size);
  if (llvm::Error error =
          readModel(file, reader.get("model"), vocabulary, into, remarks))
    return error;
  if (llvm::Error error =
          vocabulary.readAddedTokens(reader.get("added_tokens")))
    return error;
  if (llvm::Error error = vocabulary.addSettings(settings, remarks))
    return error;
  if (llvm::Error error = readPostProcessor(file, reader.get("post_processor"),
                                            vocabulary, into))
    return error;
  if (llvm::Error error = reader.finish())
    return error;
  if (llvm::Error error = remarkOnPast(file, vocabulary, size, remarks))
    return error;
  useBytes(vocabulary, into);
  vocabulary.write(into.model == artifact::ModelKind::ByteBpe, into);
  spellBytes(into);
  return llvm::Error::success();
}

/// Templates, and the tokens that they call by name.
static llvm::Error writeChatTemplates(llvm::StringRef file,
                                      const TokenizerSettings &settings,
                                      artifact::TokenizerT &into) {
  if (settings.chatTemplates.empty())
    return llvm::Error::success();
  if (llvm::Error error = checkChatTemplates(file, settings.chatTemplates))
    return error;
  for (const ChatTemplate &from : settings.chatTemplates) {
    auto chat = std::make_unique<artifact::ChatTemplateT>();
    chat->name = from.name;
    chat->source = from.source;
    into.chat_templates.push_back(std::move(chat));
  }
  for (const auto &[name, content] : settings.named) {
    auto token = std::make_unique<artifact::NamedTokenT>();
    token->name = name;
    token->content = content;
    into.named_tokens.push_back(std::move(token));
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<uint8_t>> effc::frontend::translateTokenizer(
    llvm::StringRef text, llvm::StringRef name, int64_t vocabulary,
    std::vector<std::string> &remarks, const TokenizerSettings &settings) {
  JsonLimits limits;
  limits.bytes = kMostFileBytes;
  auto value = parseJson(text, name, limits);
  if (!value)
    return value.takeError();
  if (!value->getObject())
    return refuse(name + ": expects an object, but got " + value->describe());
  ConfigReader reader(name, *value->getObject());
  artifact::TokenizerT tokenizer;
  if (llvm::Error error =
          read(reader, name, vocabulary, settings, remarks, tokenizer))
    return error;
  if (llvm::Error error = writeChatTemplates(name, settings, tokenizer))
    return error;
  flatbuffers::FlatBufferBuilder builder;
  artifact::FinishTokenizerBuffer(
      builder, artifact::Tokenizer::Pack(builder, &tokenizer));
  return std::vector<uint8_t>(builder.GetBufferPointer(),
                              builder.GetBufferPointer() + builder.GetSize());
}

llvm::Expected<std::vector<uint8_t>> effc::frontend::importTokenizer(
    llvm::StringRef path, llvm::StringRef name, int64_t vocabulary,
    std::vector<std::string> &remarks, const TokenizerSettings &settings) {
  auto text = readTextFile(path, name, kMostFileBytes);
  if (!text)
    return text.takeError();
  return translateTokenizer(*text, name, vocabulary, remarks, settings);
}
