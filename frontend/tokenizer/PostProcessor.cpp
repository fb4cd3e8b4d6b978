#include "frontend/tokenizer/PostProcessor.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/tokenizer/Component.h"
#include "runtime/schema/TokenizerLimits.h"

using namespace effc;
using namespace effc::frontend;

namespace {

constexpr llvm::StringLiteral kRole = "post_processor";

class PostProcessorReader {
public:
  PostProcessorReader(llvm::StringRef file, const Vocabulary &vocabulary,
                      artifact::TokenizerT &into)
      : file(file), vocabulary(vocabulary), into(into) {}

  llvm::Error read(const JsonValue *value) {
    auto component = readComponent(file, kRole, value);
    if (!component)
      return component.takeError();
    if (!component->object || component->type == "ByteLevel")
      return llvm::Error::success();
    if (component->type == "Sequence")
      return readAll(*component);
    if (component->type == "TemplateProcessing")
      return readTemplate(*component);
    if (component->type == "BertProcessing" ||
        component->type == "RobertaProcessing")
      return readClassifier(*component);
    return refuseComponent(file, kRole, *component,
                           "none, BertProcessing, ByteLevel, "
                           "RobertaProcessing, Sequence, TemplateProcessing");
  }

private:
  llvm::Error readAll(const Component &component) {
    auto steps = readSequence(component, "processors");
    if (!steps)
      return steps.takeError();
    for (const JsonValue &step : **steps)
      if (llvm::Error error = read(&step))
        return error;
    return llvm::Error::success();
  }

  /// 'single' is a list of {"SpecialToken": {"id": name}} around one
  /// {"Sequence": {"id": "A"}}.
  llvm::Error readTemplate(const Component &component) {
    if (hasTemplate)
      return refuse(component.where + ": a second one is not supported");
    hasTemplate = true;
    ConfigReader reader(component.where, *component.object);
    reader.ignore({"type", "pair"}); // 'pair' is about two texts
    const JsonValue *single = reader.get("single");
    const JsonValue *specials = reader.get("special_tokens");
    if (!single || !single->getArray())
      reader.report("expects 'single' to be an array, but got " +
                    (single ? single->describe() : "nothing"));
    if (!specials || !specials->getObject())
      reader.report("expects 'special_tokens' to be an object, but got " +
                    (specials ? specials->describe() : "nothing"));
    if (llvm::Error error = reader.finish())
      return error;

    unsigned sequences = 0;
    for (const JsonValue &piece : *single->getArray()) {
      std::optional<llvm::StringRef> special = getId(piece, "SpecialToken");
      std::optional<llvm::StringRef> sequence = getId(piece, "Sequence");
      if (sequence && *sequence == "A") {
        ++sequences;
        continue;
      }
      if (!special)
        return refuse(component.where + ": expects 'single' to hold special "
                                        "tokens and the sequence A");
      std::vector<int32_t> &side = sequences ? into.append : into.prepend;
      if (llvm::Error error =
              addIds(component, *special, *specials->getObject(), side))
        return error;
    }
    if (sequences != 1)
      return refuse(component.where +
                    ": expects 'single' to hold the sequence "
                    "A once, but got it " +
                    llvm::Twine(sequences) + " times");
    return llvm::Error::success();
  }

  /// 'cls' before the text and 'sep' after it, each [token, id].
  llvm::Error readClassifier(const Component &component) {
    if (hasTemplate)
      return refuse(component.where + ": a second one is not supported");
    hasTemplate = true;
    ConfigReader reader(component.where, *component.object);
    reader.ignore({"type", "trim_offsets", "add_prefix_space"}); // offsets
    for (auto [key, side] :
         {std::pair("cls", &into.prepend), std::pair("sep", &into.append)}) {
      const JsonValue *value = reader.get(key);
      const JsonArray *pair = value ? value->getArray() : nullptr;
      std::optional<int64_t> id =
          pair && pair->size() == 2 ? (*pair)[1].getInteger() : std::nullopt;
      if (!id || !vocabulary.has(*id))
        reader.report("expects " + quote(key) +
                      " to be a token and its id in the vocabulary, but got " +
                      (value ? value->describe() : "nothing"));
      else
        side->push_back(*id);
    }
    return reader.finish();
  }

  /// The "id" inside {kind: {"id": ...}}.
  static std::optional<llvm::StringRef> getId(const JsonValue &piece,
                                              llvm::StringRef kind) {
    const JsonObject *object = piece.getObject();
    const JsonValue *inner = object ? object->find(kind) : nullptr;
    const JsonObject *fields = inner ? inner->getObject() : nullptr;
    const JsonValue *id = fields ? fields->find("id") : nullptr;
    if (!id || !id->getString() || object->getMembers().size() != 1)
      return std::nullopt;
    return llvm::StringRef(*id->getString());
  }

  llvm::Error addIds(const Component &component, llvm::StringRef name,
                     const JsonObject &specials, std::vector<int32_t> &side) {
    const JsonValue *special = specials.find(name);
    const JsonObject *object = special ? special->getObject() : nullptr;
    const JsonValue *ids = object ? object->find("ids") : nullptr;
    if (!ids || !ids->getArray())
      return refuse(component.where + ": special token " + quote(name) +
                    " has no 'ids'");
    for (const JsonValue &value : *ids->getArray()) {
      std::optional<int64_t> id = value.getInteger();
      if (!id || !vocabulary.has(*id))
        return refuse(component.where + ": expects the ids of special token " +
                      quote(name) + " to be in the vocabulary, but got " +
                      value.describe());
      if (into.prepend.size() + into.append.size() == artifact::kMostAroundText)
        return refuse(component.where + ": expects at most " +
                      llvm::Twine(artifact::kMostAroundText) +
                      " ids around a text, but got more");
      side.push_back(*id);
    }
    return llvm::Error::success();
  }

  llvm::StringRef file;
  const Vocabulary &vocabulary;
  artifact::TokenizerT &into;
  bool hasTemplate = false;
};

} // namespace

llvm::Error effc::frontend::readPostProcessor(llvm::StringRef file,
                                              const JsonValue *value,
                                              const Vocabulary &vocabulary,
                                              artifact::TokenizerT &into) {
  return PostProcessorReader(file, vocabulary, into).read(value);
}
