#include "frontend/tokenizer/PreTokenizer.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/tokenizer/Component.h"
#include "frontend/tokenizer/Metaspace.h"
#include "frontend/tokenizer/SplitPattern.h"
#include "runtime/schema/TokenizerLimits.h"

using namespace effc;
using namespace effc::frontend;
using artifact::PieceKind;
using artifact::SplitBehavior;

namespace {

constexpr llvm::StringLiteral kRole = "pre_tokenizer";

/// How GPT-2 cuts text into words, which ByteLevel has built in.
constexpr llvm::StringLiteral kWords =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// In the runtime's syntax (runtime/src/tokenizer/pattern/CharacterSet.h).
constexpr llvm::StringLiteral kSpace = R"(\p{White_Space})";
constexpr llvm::StringLiteral kNumeric = R"(\p{x:numeric})";
constexpr llvm::StringLiteral kPunctuation = R"(\p{x:punctuation})";
constexpr llvm::StringLiteral kWordOrSigns =
    R"(\p{x:word}+|[^\p{x:word}\p{White_Space}]+)";

class PreTokenizerReader {
public:
  PreTokenizerReader(llvm::StringRef file, artifact::TokenizerT &into)
      : file(file), into(into) {}

  llvm::Error read(const JsonValue *value) {
    auto component = readComponent(file, kRole, value);
    if (!component)
      return component.takeError();
    if (!component->object)
      return llvm::Error::success();
    std::string supported = "none";
    for (const Handled &handled : getHandled()) {
      supported += (", " + handled.type).str();
      if (component->type != handled.type)
        continue;
      if (llvm::Error error = (this->*handled.read)(*component))
        return error;
      if (into.pieces.size() > artifact::kMostTokenizerSteps)
        return refuse(component->where + ": expects at most " +
                      llvm::Twine(artifact::kMostTokenizerSteps) + " steps");
      return llvm::Error::success();
    }
    return refuseComponent(file, kRole, *component, supported);
  }

private:
  struct Handled {
    llvm::StringLiteral type;
    llvm::Error (PreTokenizerReader::*read)(const Component &);
  };
  static llvm::ArrayRef<Handled> getHandled();

  artifact::PieceStepT &add(PieceKind kind) {
    into.pieces.push_back(std::make_unique<artifact::PieceStepT>());
    into.pieces.back()->kind = kind;
    return *into.pieces.back();
  }

  void addSplit(llvm::StringRef pattern, SplitBehavior behavior,
                bool invert = false) {
    auto split = std::make_unique<artifact::SplitStepT>();
    split->pattern = pattern.str();
    split->behavior = behavior;
    split->invert = invert;
    add(PieceKind::Split).split = std::move(split);
  }

  llvm::Error readAll(const Component &component) {
    auto steps = readSequence(component, "pretokenizers");
    if (!steps)
      return steps.takeError();
    for (const JsonValue &step : **steps)
      if (llvm::Error error = read(&step))
        return error;
    return llvm::Error::success();
  }

  llvm::Error readByteLevel(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.ignore({"type", "trim_offsets"}); // offsets are not part of ids
    bool addPrefixSpace = reader.getBoolean("add_prefix_space", true);
    bool useWords = reader.getBoolean("use_regex", true);
    if (llvm::Error error = reader.finish())
      return error;
    if (addPrefixSpace)
      add(PieceKind::PrefixSpace);
    if (useWords)
      addSplit(llvm::cantFail(translatePattern(kWords)),
               SplitBehavior::Isolated);
    add(PieceKind::ByteCharacters);
    return llvm::Error::success();
  }

  llvm::Error readBert(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    addSplit(kSpace, SplitBehavior::Removed);
    addSplit(kPunctuation, SplitBehavior::Isolated);
    return reader.finish();
  }

  llvm::Error readDelimiter(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    const std::string *delimiter = reader.getString("delimiter");
    if (!delimiter || !isOneCharacter(*delimiter))
      reader.report("expects 'delimiter' to be one character");
    else
      addSplit(escapePattern(*delimiter), SplitBehavior::Removed);
    return reader.finish();
  }

  llvm::Error readDigits(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    bool individual = reader.getBoolean("individual_digits", false);
    addSplit(kNumeric,
             individual ? SplitBehavior::Isolated : SplitBehavior::Contiguous);
    return reader.finish();
  }

  llvm::Error readMetaspaceStep(const Component &component) {
    auto metaspace = readMetaspace(component);
    if (!metaspace)
      return metaspace.takeError();
    artifact::PieceStepT &step = add(PieceKind::Metaspace);
    step.content = metaspace->replacement;
    step.prepend = metaspace->prepend;
    if (metaspace->split)
      addSplit(escapePattern(metaspace->replacement),
               SplitBehavior::MergedWithNext);
    return llvm::Error::success();
  }

  SplitBehavior readBehavior(ConfigReader &reader, bool isRequired) {
    constexpr std::pair<llvm::StringLiteral, SplitBehavior> kBehaviors[] = {
        {"Isolated", SplitBehavior::Isolated},
        {"Removed", SplitBehavior::Removed},
        {"MergedWithPrevious", SplitBehavior::MergedWithPrevious},
        {"MergedWithNext", SplitBehavior::MergedWithNext},
        {"Contiguous", SplitBehavior::Contiguous}};
    const std::string *name = reader.getString("behavior");
    if (!name && isRequired)
      reader.report("lacks 'behavior'");
    std::string known;
    for (auto [text, behavior] : kBehaviors) {
      if (name && *name == text)
        return behavior;
      known += (known.empty() ? text : ", " + text).str();
    }
    if (name)
      reader.report("behavior " + quote(*name) +
                    " is not supported; supported: " + known);
    return SplitBehavior::Isolated;
  }

  llvm::Error readPunctuation(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    addSplit(kPunctuation, readBehavior(reader, /*isRequired=*/false));
    return reader.finish();
  }

  llvm::Error readSplit(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    std::string pattern = readPattern(reader);
    bool invert = reader.getBoolean("invert", false);
    SplitBehavior behavior = readBehavior(reader, /*isRequired=*/true);
    if (llvm::Error error = reader.finish())
      return error;
    auto translated = translatePattern(pattern);
    if (!translated)
      return refuse(component.where + ": " +
                    llvm::toString(translated.takeError()));
    addSplit(*translated, behavior, invert);
    return llvm::Error::success();
  }

  llvm::Error readWhitespace(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    addSplit(kWordOrSigns, SplitBehavior::Removed, /*invert=*/true);
    return reader.finish();
  }

  llvm::Error readWhitespaceSplit(const Component &component) {
    ConfigReader reader(component.where, *component.object);
    reader.get("type");
    addSplit(kSpace, SplitBehavior::Removed);
    return reader.finish();
  }

  llvm::StringRef file;
  artifact::TokenizerT &into;
};

llvm::ArrayRef<PreTokenizerReader::Handled> PreTokenizerReader::getHandled() {
  static const Handled kHandled[] = {
      {"BertPreTokenizer", &PreTokenizerReader::readBert},
      {"ByteLevel", &PreTokenizerReader::readByteLevel},
      {"CharDelimiterSplit", &PreTokenizerReader::readDelimiter},
      {"Digits", &PreTokenizerReader::readDigits},
      {"Metaspace", &PreTokenizerReader::readMetaspaceStep},
      {"Punctuation", &PreTokenizerReader::readPunctuation},
      {"Sequence", &PreTokenizerReader::readAll},
      {"Split", &PreTokenizerReader::readSplit},
      {"Whitespace", &PreTokenizerReader::readWhitespace},
      {"WhitespaceSplit", &PreTokenizerReader::readWhitespaceSplit}};
  return kHandled;
}

} // namespace

llvm::Error effc::frontend::readPreTokenizer(llvm::StringRef file,
                                             const JsonValue *value,
                                             artifact::TokenizerT &into) {
  return PreTokenizerReader(file, into).read(value);
}
