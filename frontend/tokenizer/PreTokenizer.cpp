#include "frontend/tokenizer/PreTokenizer.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/tokenizer/Component.h"
#include "frontend/tokenizer/SplitPattern.h"

using namespace effc;
using namespace effc::frontend;

namespace {

constexpr llvm::StringLiteral kRole = "pre_tokenizer";
constexpr llvm::StringLiteral kSupported = "ByteLevel, Digits, Sequence, Split";

/// The most that the runtime loads.
constexpr size_t kMostSplits = 64;

/// How GPT-2 cuts text into words, which ByteLevel has built in.
constexpr llvm::StringLiteral kWords =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

class PreTokenizerReader {
public:
  PreTokenizerReader(llvm::StringRef file, artifact::TokenizerT &into)
      : file(file), into(into) {}

  llvm::Error read(const JsonValue *value) {
    if (llvm::Error error = readStep(value))
      return error;
    if (hasByteLevel)
      return llvm::Error::success();
    return refuse(file + ": expects a pre_tokenizer that ends in 'ByteLevel'");
  }

private:
  llvm::Error readStep(const JsonValue *value) {
    auto component = readComponent(file, kRole, value);
    if (!component)
      return component.takeError();
    if (hasByteLevel)
      return refuse(component->where + " after 'ByteLevel' is not supported");
    if (component->type == "Sequence")
      return readAll(*component);
    if (component->type == "ByteLevel")
      return readByteLevel(*component);
    if (component->type == "Split")
      return readSplit(*component);
    if (component->type == "Digits")
      return readDigits(*component);
    return refuseComponent(file, kRole, *component, kSupported);
  }

  llvm::Error readAll(const Component &component) {
    auto steps = readSequence(component, "pretokenizers");
    if (!steps)
      return steps.takeError();
    for (const JsonValue &step : **steps)
      if (llvm::Error error = readStep(&step))
        return error;
    return llvm::Error::success();
  }

  llvm::Error readByteLevel(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.ignore({"type", "trim_offsets"}); // offsets are not part of ids
    bool addPrefixSpace = reader.getBoolean("add_prefix_space", true);
    bool useWords = reader.getBoolean("use_regex", true);
    if (addPrefixSpace && !into.splits.empty())
      reader.report("'add_prefix_space' after another step is not supported");
    if (llvm::Error error = reader.finish())
      return error;
    hasByteLevel = true;
    into.add_prefix_space = addPrefixSpace;
    if (useWords)
      return addSplit(component, kWords, artifact::SplitBehavior::Isolated,
                      /*invert=*/false);
    return llvm::Error::success();
  }

  llvm::Error readDigits(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    bool individual = reader.getBoolean("individual_digits", false);
    if (llvm::Error error = reader.finish())
      return error;
    return addSplit(component, individual ? "\\p{N}" : "\\p{N}+",
                    artifact::SplitBehavior::Isolated, /*invert=*/false);
  }

  /// {"Regex": pattern} or {"String": text}
  static std::string readPattern(ConfigReader &reader) {
    const JsonValue *value = reader.get("pattern");
    const JsonObject *object = value ? value->getObject() : nullptr;
    if (object && object->getMembers().size() == 1) {
      const JsonMember &member = object->getMembers()[0];
      const std::string *text = member.value.getString();
      if (text && member.key == "Regex")
        return *text;
      if (text && member.key == "String")
        return escapePattern(*text);
    }
    reader.report("expects 'pattern' to be {\"Regex\": string} or "
                  "{\"String\": string}, but got " +
                  (value ? value->describe() : "nothing"));
    return "";
  }

  llvm::Error readSplit(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    std::string pattern = readPattern(reader);
    bool invert = reader.getBoolean("invert", false);
    const std::string *name = reader.getString("behavior");
    artifact::SplitBehavior behavior = artifact::SplitBehavior::Isolated;
    if (!name)
      reader.report("lacks 'behavior'");
    else if (*name == "Removed")
      behavior = artifact::SplitBehavior::Removed;
    else if (*name != "Isolated")
      reader.report("behavior " + quote(*name) +
                    " is not supported; supported: Isolated, Removed");
    if (llvm::Error error = reader.finish())
      return error;
    // All pieces are kept whichever of them count as matches.
    if (behavior == artifact::SplitBehavior::Isolated)
      invert = false;
    return addSplit(component, pattern, behavior, invert);
  }

  llvm::Error addSplit(const Component &component, llvm::StringRef pattern,
                       artifact::SplitBehavior behavior, bool invert) {
    if (into.splits.size() == kMostSplits)
      return refuse(component.where + ": expects at most " +
                    llvm::Twine(kMostSplits) + " steps before it");
    auto translated = translatePattern(pattern);
    if (!translated)
      return refuse(component.where + ": " +
                    llvm::toString(translated.takeError()));
    auto step = std::make_unique<artifact::SplitStepT>();
    step->pattern = std::move(*translated);
    step->behavior = behavior;
    step->invert = invert;
    into.splits.push_back(std::move(step));
    return llvm::Error::success();
  }

  llvm::StringRef file;
  artifact::TokenizerT &into;
  bool hasByteLevel = false;
};

} // namespace

llvm::Error effc::frontend::readPreTokenizer(llvm::StringRef file,
                                             const JsonValue *value,
                                             artifact::TokenizerT &into) {
  return PreTokenizerReader(file, into).read(value);
}
