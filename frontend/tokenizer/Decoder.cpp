#include "frontend/tokenizer/Decoder.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/tokenizer/Component.h"
#include "frontend/tokenizer/Metaspace.h"
#include "runtime/schema/TokenizerLimits.h"

using namespace effc;
using namespace effc::frontend;
using artifact::DecoderKind;

namespace {

constexpr llvm::StringLiteral kRole = "decoder";

class DecoderReader {
public:
  DecoderReader(llvm::StringRef file, artifact::TokenizerT &into)
      : file(file), into(into) {}

  llvm::Error read(const JsonValue *value) {
    auto component = readComponent(file, kRole, value);
    if (!component)
      return component.takeError();
    if (!component->object) {
      add(DecoderKind::Spaces);
      return llvm::Error::success();
    }
    return readStep(*component);
  }

private:
  struct Handled {
    llvm::StringLiteral type;
    llvm::Error (DecoderReader::*read)(const Component &);
    bool needsTokens; // does not work on tokens that have been fused
  };
  static llvm::ArrayRef<Handled> getHandled();

  llvm::Error readStep(const Component &component) {
    std::string supported = "none";
    for (const Handled &handled : getHandled()) {
      supported += (", " + handled.type).str();
      if (component.type != handled.type)
        continue;
      if (llvm::Error error = checkStepCount(file, into.decoders.size()))
        return error;
      if (isFused && handled.needsTokens)
        return refuse(component.where +
                      " is not supported after a step that fuses tokens");
      return (this->*handled.read)(component);
    }
    return refuseComponent(file, kRole, component, supported);
  }

  artifact::DecoderStepT &add(DecoderKind kind) {
    into.decoders.push_back(std::make_unique<artifact::DecoderStepT>());
    into.decoders.back()->kind = kind;
    return *into.decoders.back();
  }

  llvm::Error readAll(const Component &component) {
    auto steps = readSequence(component, "decoders");
    if (!steps)
      return steps.takeError();
    for (const JsonValue &value : **steps) {
      auto step = readComponent(file, kRole, &value);
      if (!step)
        return step.takeError();
      if (!step->object)
        return refuseComponent(file, kRole, *step, "objects in a Sequence");
      if (llvm::Error error = readStep(*step))
        return error;
    }
    // The tokens of an empty chain are joined as they are.
    if (into.decoders.empty())
      add(DecoderKind::Fuse);
    return llvm::Error::success();
  }

  llvm::Error readByteLevel(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.ignore({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    add(DecoderKind::ByteLevel);
    isFused = true;
    return reader.finish();
  }

  llvm::Error readByteFallback(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    add(DecoderKind::ByteFallback);
    return reader.finish();
  }

  llvm::Error readFuse(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    add(DecoderKind::Fuse);
    isFused = true;
    return reader.finish();
  }

  llvm::Error readMetaspaceStep(const Component &component) {
    auto metaspace = readMetaspace(component);
    if (!metaspace)
      return metaspace.takeError();
    artifact::DecoderStepT &step = add(DecoderKind::Metaspace);
    step.content = metaspace->replacement;
    step.prepend = metaspace->prepend;
    return llvm::Error::success();
  }

  llvm::Error readReplace(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    const JsonValue *pattern = reader.get("pattern");
    const JsonObject *object = pattern ? pattern->getObject() : nullptr;
    const JsonValue *text = object ? object->find("String") : nullptr;
    const std::string *content = reader.getString("content");
    if (!text || !text->getString() || text->getString()->empty() ||
        object->getMembers().size() != 1)
      reader.report("expects 'pattern' to be {\"String\": text}, but got " +
                    (pattern ? pattern->describe() : "nothing"));
    if (!content)
      reader.report("lacks 'content'");
    else
      checkStepText(reader, "content", *content);
    if (text && text->getString())
      checkStepText(reader, "pattern", *text->getString());
    if (llvm::Error error = reader.finish())
      return error;
    artifact::DecoderStepT &step = add(DecoderKind::Replace);
    step.pattern = *text->getString();
    step.content = *content;
    return llvm::Error::success();
  }

  llvm::Error readStrip(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    constexpr int64_t kMost = artifact::kMostStripped;
    const std::string *content = reader.getString("content");
    int64_t start = reader.requireInteger("start", 0, kMost);
    int64_t stop = reader.requireInteger("stop", 0, kMost);
    if (!content || !isOneCharacter(*content))
      reader.report("expects 'content' to be one character");
    if (llvm::Error error = reader.finish())
      return error;
    artifact::DecoderStepT &step = add(DecoderKind::Strip);
    step.content = *content;
    step.start = start;
    step.stop = stop;
    return llvm::Error::success();
  }

  llvm::Error readWordPiece(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    const std::string *prefix = reader.getString("prefix");
    if (prefix)
      checkStepText(reader, "prefix", *prefix);
    artifact::DecoderStepT &step = add(DecoderKind::WordPiece);
    step.content = prefix ? *prefix : "##";
    step.cleanup = reader.getBoolean("cleanup", true);
    return reader.finish();
  }

  llvm::Error readSuffix(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    const std::string *suffix = reader.getString("suffix");
    if (!suffix || suffix->empty())
      reader.report("expects 'suffix' to be a string that is not empty");
    else
      checkStepText(reader, "suffix", *suffix);
    if (llvm::Error error = reader.finish())
      return error;
    add(DecoderKind::WordSuffix).content = *suffix;
    return llvm::Error::success();
  }

  llvm::StringRef file;
  artifact::TokenizerT &into;
  bool isFused = false;
};

llvm::ArrayRef<DecoderReader::Handled> DecoderReader::getHandled() {
  static const Handled kHandled[] = {
      {"BPEDecoder", &DecoderReader::readSuffix, false},
      {"ByteFallback", &DecoderReader::readByteFallback, true},
      {"ByteLevel", &DecoderReader::readByteLevel, true},
      {"Fuse", &DecoderReader::readFuse, false},
      {"Metaspace", &DecoderReader::readMetaspaceStep, false},
      {"Replace", &DecoderReader::readReplace, false},
      {"Sequence", &DecoderReader::readAll, false},
      {"Strip", &DecoderReader::readStrip, false},
      {"WordPiece", &DecoderReader::readWordPiece, true}};
  return kHandled;
}

} // namespace

llvm::Error effc::frontend::readDecoder(llvm::StringRef file,
                                        const JsonValue *value,
                                        artifact::TokenizerT &into) {
  return DecoderReader(file, into).read(value);
}
