#include "frontend/Generation.h"

#include "dialects/seq/Remarks.h"
#include "frontend/checkpoint/Refusal.h"
#include "runtime/schema/GenerationLimits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <utility>

using namespace effc;
using namespace effc::frontend;

namespace {

/// Reads one object's settings over those that stand already.
class GenerationReader {
public:
  GenerationReader(ConfigReader &reader, int64_t vocabulary, Generation &into,
                   Remarks &remarks)
      : reader(reader), vocabulary(vocabulary), generation(into),
        remarks(remarks) {}

  void read() {
    readToken("bos_token_id", generation.bos);
    readToken("pad_token_id", generation.pad);
    readEnds();
    readSampling();
  }

private:
  /// Ids past what any vocabulary has are mistakes.
  static constexpr int64_t kMostId = int64_t(1) << 24;

  std::optional<int32_t> getToken(llvm::StringRef key, const JsonValue &value) {
    std::optional<int64_t> id = value.getInteger();
    if (id && *id >= 0 && *id < vocabulary)
      return int32_t(*id);
    // As the library loads it: a token that the model cannot be given, nor
    // give, such as a padding token that only the tokenizer has.
    if (id && *id >= vocabulary && *id < kMostId) {
      remarks.push_back(reader.getFile().str() + ": " + quote(key) + " " +
                        std::to_string(*id) + " is left aside: the model has " +
                        std::to_string(vocabulary) + " tokens");
      return std::nullopt;
    }
    reader.reportMismatch(
        key, "a token id in 0.." + llvm::Twine(vocabulary - 1), value);
    return std::nullopt;
  }

  static bool isNone(const JsonValue &value) {
    return value.isNull() || value.getInteger() == -1;
  }

  void readToken(llvm::StringRef key, std::optional<int32_t> &token) {
    const JsonValue *value = reader.get(key);
    if (!value)
      return;
    token = std::nullopt;
    if (!isNone(*value))
      token = getToken(key, *value);
  }

  void readEnds() {
    constexpr llvm::StringLiteral kKey = "eos_token_id";
    const JsonValue *value = reader.get(kKey);
    if (!value)
      return;
    if (isNone(*value))
      return;
    auto add = [&](const JsonValue &id) {
      if (std::optional<int32_t> token = getToken(kKey, id))
        if (!llvm::is_contained(generation.eos, *token))
          generation.eos.push_back(*token);
    };
    const JsonArray *ids = value->getArray();
    if (!ids)
      return add(*value);
    constexpr size_t kMost = 256;
    if (ids->size() > kMost)
      return reader.reportMismatch(
          kKey, "at most " + llvm::Twine(kMost) + " ids", *value);
    for (const JsonValue &id : *ids)
      add(id);
  }

  /// null stands for the default of the library, as an absent key does.
  bool isSet(llvm::StringRef key) {
    const JsonValue *value = reader.get(key);
    return value && !value->isNull();
  }

  void readSampling() {
    if (isSet("do_sample"))
      generation.doSample = reader.getBoolean("do_sample", false);
    if (isSet("temperature"))
      generation.temperature =
          reader.getNumber("temperature", 0, artifact::kMostTemperature, 1);
    if (isSet("top_k"))
      generation.topK = reader.getInteger("top_k", 0, artifact::kMostTopK, 0);
    if (isSet("top_p"))
      generation.topP = reader.getNumber("top_p", 0, 1, 1);
    if (isSet("min_p"))
      generation.minP = reader.getNumber("min_p", 0, 1, 0);
    if (isSet("repetition_penalty"))
      readPenalty();
    readStops();
  }

  void readPenalty() {
    constexpr llvm::StringLiteral kKey = "repetition_penalty";
    const JsonValue &value = *reader.get(kKey);
    generation.repeatPenalty = value.getNumber().value_or(0);
    // As f32, in which it is kept.
    if (!artifact::isRepeatPenalty(
            static_cast<float>(generation.repeatPenalty)))
      reader.reportMismatch(kKey,
                            "a number above 0 and up to " +
                                describeNumber(artifact::kMostRepeatPenalty),
                            value);
  }

  /// A text or a list of them.
  void readStops() {
    constexpr llvm::StringLiteral kKey = "stop_strings";
    if (!isSet(kKey))
      return;
    const JsonValue &value = *reader.get(kKey);
    generation.stops.clear();
    auto add = [&](const JsonValue &element) {
      const std::string *text = element.getString();
      if (text && artifact::isStopText(*text))
        generation.stops.push_back(*text);
      else
        reader.reportMismatch(kKey,
                              "texts of 1 to " +
                                  llvm::Twine(artifact::kMostStopBytes) +
                                  " bytes, none of them zero",
                              element);
    };
    const JsonArray *list = value.getArray();
    if (!list)
      return add(value);
    if (list->size() > artifact::kMostStops)
      return reader.reportMismatch(
          kKey, "at most " + llvm::Twine(artifact::kMostStops) + " texts",
          value);
    for (const JsonValue &element : *list)
      add(element);
  }

  ConfigReader &reader;
  int64_t vocabulary;
  Generation &generation;
  Remarks &remarks;
};

} // namespace

/// A value by which a setting asks for nothing: most are off at 0, factors at 1.
static bool asksForNothing(const JsonValue &value) {
  if (std::optional<double> number = value.getNumber())
    return *number == 0 || *number == 1;
  if (const JsonArray *list = value.getArray())
    return list->empty();
  return value.isNull() || value.getBoolean() == false;
}

/// Names the settings of `object` that change which tokens are chosen and that
/// are not followed, and lengths, which whoever generates states. Everything else
/// in there is about outputs and caches of the library's own loop.
static void remarkOnOthers(const JsonObject &object,
                           std::vector<std::string> &remarks) {
  constexpr llvm::StringRef kKeys[] = {"assistant_early_exit",
                                       "bad_words_ids",
                                       "diversity_penalty",
                                       "encoder_no_repeat_ngram_size",
                                       "encoder_repetition_penalty",
                                       "epsilon_cutoff",
                                       "eta_cutoff",
                                       "exponential_decay_length_penalty",
                                       "force_words_ids",
                                       "forced_bos_token_id",
                                       "forced_eos_token_id",
                                       "guidance_scale",
                                       "length_penalty",
                                       "min_length",
                                       "min_new_tokens",
                                       "no_repeat_ngram_size",
                                       "num_beam_groups",
                                       "num_beams",
                                       "penalty_alpha",
                                       "prefill_chunk_size",
                                       "sequence_bias",
                                       "suppress_tokens",
                                       "begin_suppress_tokens",
                                       "token_healing",
                                       "top_h",
                                       "typical_p",
                                       "watermarking_config"};
  for (const JsonMember &member : object.getMembers())
    if (llvm::is_contained(kKeys, member.key) && !asksForNothing(member.value))
      remarks.push_back(seq::kWarningRemark.str() + "generation_config.json: " +
                        quote(member.key) + " is not followed");
    else if (llvm::is_contained({"max_new_tokens", "max_length"}, member.key) &&
             !member.value.isNull())
      remarks.push_back("generation_config.json: " + quote(member.key) +
                        " is left aside: effc run -n says how many tokens");
}

/// Makes `ends`, of `file`, those of `first`, of `firstFile`, and its own.
static void uniteEnds(std::vector<int32_t> first, std::vector<int32_t> &ends,
                      llvm::StringRef firstFile, llvm::StringRef file,
                      std::vector<std::string> &remarks) {
  auto list = [](llvm::ArrayRef<int32_t> ids) {
    return llvm::join(
        llvm::map_range(ids, [](int32_t id) { return std::to_string(id); }),
        ", ");
  };
  bool areSame =
      std::is_permutation(first.begin(), first.end(), ends.begin(), ends.end());
  if (!first.empty() && !ends.empty() && !areSame)
    remarks.push_back(
        "generation ends at each 'eos_token_id' of two files that "
        "differ: " +
        list(first) + " of " + firstFile.str() + ", " + list(ends) + " of " +
        file.str());
  for (int32_t id : ends)
    if (!llvm::is_contained(first, id))
      first.push_back(id);
  ends = std::move(first);
}

llvm::Expected<Generation>
effc::frontend::readGeneration(ConfigReader &config, llvm::StringRef directory,
                               int64_t vocabulary,
                               std::vector<std::string> &remarks) {
  constexpr llvm::StringLiteral kFile = "generation_config.json";
  Generation generation;
  GenerationReader(config, vocabulary, generation, remarks).read();

  llvm::SmallString<256> path(directory);
  llvm::sys::path::append(path, kFile);
  if (directory.empty() || !llvm::sys::fs::exists(path))
    return generation;
  auto value = readJsonObject(path, kFile);
  if (!value)
    return value.takeError();
  ConfigReader reader(kFile, *value->getObject());
  std::vector<int32_t> ofConfig = std::exchange(generation.eos, {});
  GenerationReader(reader, vocabulary, generation, remarks).read();
  uniteEnds(ofConfig, generation.eos, config.getFile(), kFile, remarks);
  remarkOnOthers(*value->getObject(), remarks);
  if (llvm::Error error = reader.getProblem())
    return error;
  return generation;
}
