#include "frontend/tokenizer/Normalizer.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/tokenizer/Component.h"
#include "frontend/tokenizer/SplitPattern.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/ConvertUTF.h"

using namespace effc;
using namespace effc::frontend;
using artifact::NormalizerKind;

namespace {

constexpr llvm::StringLiteral kRole = "normalizer";

class NormalizerReader {
public:
  NormalizerReader(llvm::StringRef file, artifact::TokenizerT &into)
      : file(file), into(into) {}

  llvm::Error read(const JsonValue *value) {
    auto component = readComponent(file, kRole, value);
    if (!component)
      return component.takeError();
    if (!component->object)
      return llvm::Error::success();
    if (llvm::Error error = checkStepCount(file, into.normalizers.size()))
      return error;
    for (const Plain &plain : getPlain())
      if (component->type == plain.type)
        return readPlain(*component, plain.kind);
    for (const Handled &handled : getHandled())
      if (component->type == handled.type)
        return (this->*handled.read)(*component);
    std::string supported = "none";
    for (const Plain &plain : getPlain())
      supported += (", " + plain.type).str();
    for (const Handled &handled : getHandled())
      supported += (", " + handled.type).str();
    return refuseComponent(file, kRole, *component, supported);
  }

private:
  struct Plain {
    llvm::StringLiteral type;
    NormalizerKind kind;
  };
  static llvm::ArrayRef<Plain> getPlain();
  struct Handled {
    llvm::StringLiteral type;
    llvm::Error (NormalizerReader::*read)(const Component &);
  };
  static llvm::ArrayRef<Handled> getHandled();

  artifact::NormalizerStepT &add(NormalizerKind kind) {
    into.normalizers.push_back(std::make_unique<artifact::NormalizerStepT>());
    into.normalizers.back()->kind = kind;
    return *into.normalizers.back();
  }

  llvm::Error readPlain(const Component &component, NormalizerKind kind) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    add(kind);
    return reader.finish();
  }

  llvm::Error readAll(const Component &component) {
    auto steps = readSequence(component, "normalizers");
    if (!steps)
      return steps.takeError();
    for (const JsonValue &step : **steps)
      if (llvm::Error error = read(&step))
        return error;
    return llvm::Error::success();
  }

  llvm::Error readStrip(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    if (reader.getBoolean("strip_left", true))
      add(NormalizerKind::StripLeft);
    if (reader.getBoolean("strip_right", true))
      add(NormalizerKind::StripRight);
    return reader.finish();
  }

  llvm::Error readPrepend(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    const std::string *content = reader.getString("prepend");
    if (!content)
      reader.report("lacks 'prepend'");
    else
      checkStepText(reader, "prepend", *content);
    if (llvm::Error error = reader.finish())
      return error;
    add(NormalizerKind::Prepend).content = *content;
    return llvm::Error::success();
  }

  llvm::Error readReplace(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    std::string pattern = readPattern(reader);
    const std::string *content = reader.getString("content");
    if (!content)
      reader.report("lacks 'content'");
    else
      checkStepText(reader, "content", *content);
    if (llvm::Error error = reader.finish())
      return error;
    auto translated = translatePattern(pattern);
    if (!translated)
      return refuse(component.where + ": " +
                    llvm::toString(translated.takeError()));
    artifact::NormalizerStepT &step = add(NormalizerKind::Replace);
    step.pattern = std::move(*translated);
    step.content = *content;
    return llvm::Error::success();
  }

  llvm::Error readPrecompiled(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    const JsonValue *text = reader.get("precompiled_charsmap");
    if (text && text->isNull())
      return reader.finish(); // nothing is replaced
    std::vector<char> bytes;
    if (!text || !text->getString())
      reader.report("lacks 'precompiled_charsmap'");
    else if (llvm::Error error = llvm::decodeBase64(*text->getString(), bytes))
      reader.report("'precompiled_charsmap' is not base64: " +
                    llvm::toString(std::move(error)));
    if (llvm::Error error = reader.finish())
      return error;
    if (llvm::Error error = checkCharsmap(component, bytes))
      return error;
    add(NormalizerKind::Charsmap).charsmap.assign(bytes.begin(), bytes.end());
    return llvm::Error::success();
  }

  /// The size of a trie of 4-byte units, the trie, then texts.
  static llvm::Error checkCharsmap(const Component &component,
                                   llvm::ArrayRef<char> bytes) {
    uint64_t size = 0;
    for (size_t i = 0; i < 4 && bytes.size() >= 4; ++i)
      size |= uint64_t(uint8_t(bytes[i])) << (8 * i);
    if (bytes.size() < 4 || size % 4 != 0 || size > bytes.size() - 4)
      return refuse(component.where + ": a charsmap of " +
                    llvm::Twine(bytes.size()) +
                    " bytes cannot hold a trie of " + llvm::Twine(size));
    llvm::StringRef texts(bytes.data() + 4 + size, bytes.size() - 4 - size);
    const auto *begin = reinterpret_cast<const llvm::UTF8 *>(texts.begin());
    if (!llvm::isLegalUTF8String(
            &begin, reinterpret_cast<const llvm::UTF8 *>(texts.end())))
      return refuse(component.where +
                    ": the replacements of the charsmap are not UTF-8");
    return llvm::Error::success();
  }

  llvm::Error readBert(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    bool cleans = reader.getBoolean("clean_text", true);
    bool spaces = reader.getBoolean("handle_chinese_chars", true);
    const JsonValue *accents = reader.get("strip_accents");
    bool lowers = reader.getBoolean("lowercase", true);
    bool strips = lowers;
    if (accents && !accents->isNull()) {
      if (!accents->getBoolean())
        reader.reportMismatch("strip_accents", "a boolean or null", *accents);
      else
        strips = *accents->getBoolean();
    }
    if (cleans)
      add(NormalizerKind::CleanText);
    if (spaces)
      add(NormalizerKind::SpaceIdeographs);
    if (strips) {
      add(NormalizerKind::Nfd);
      add(NormalizerKind::StripNonspacing);
    }
    if (lowers)
      add(NormalizerKind::Lowercase);
    return reader.finish();
  }

  llvm::StringRef file;
  artifact::TokenizerT &into;
};

llvm::ArrayRef<NormalizerReader::Plain> NormalizerReader::getPlain() {
  static const Plain kPlain[] = {
      {"ByteLevel", NormalizerKind::ByteCharacters},
      {"Lowercase", NormalizerKind::Lowercase},
      {"NFC", NormalizerKind::Nfc},
      {"NFD", NormalizerKind::Nfd},
      {"NFKC", NormalizerKind::Nfkc},
      {"NFKD", NormalizerKind::Nfkd},
      {"Nmt", NormalizerKind::Nmt},
      {"StripAccents", NormalizerKind::StripAccents}};
  return kPlain;
}

llvm::ArrayRef<NormalizerReader::Handled> NormalizerReader::getHandled() {
  static const Handled kHandled[] = {
      {"BertNormalizer", &NormalizerReader::readBert},
      {"Precompiled", &NormalizerReader::readPrecompiled},
      {"Prepend", &NormalizerReader::readPrepend},
      {"Replace", &NormalizerReader::readReplace},
      {"Sequence", &NormalizerReader::readAll},
      {"Strip", &NormalizerReader::readStrip}};
  return kHandled;
}

} // namespace

llvm::Error effc::frontend::readNormalizer(llvm::StringRef file,
                                           const JsonValue *value,
                                           artifact::TokenizerT &into) {
  return NormalizerReader(file, into).read(value);
}
