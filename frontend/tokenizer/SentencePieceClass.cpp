#include "frontend/tokenizer/SentencePieceClass.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/tokenizer/SentencePiece.h"

#include "llvm/ADT/STLExtras.h"

using namespace effc::frontend;
using llvm::StringRef;
using llvm::Twine;
using Scheme = SentencePieceScheme;

static constexpr StringRef kGemmaTypes[] = {"gemma", "gemma2", "gemma3",
                                            "gemma3_text", "recurrent_gemma"};
static constexpr NamedToken kLlamaNames[] = {{"bos_token", "<s>"},
                                             {"eos_token", "</s>"},
                                             {"unk_token", "<unk>"}},
                            kGemmaNames[] = {{"bos_token", "<bos>"},
                                             {"eos_token", "<eos>"},
                                             {"unk_token", "<unk>"},
                                             {"pad_token", "<pad>"},
                                             {"mask_token", "<mask>"}},
                            kT5Names[] = {{"eos_token", "</s>"},
                                          {"unk_token", "<unk>"},
                                          {"pad_token", "<pad>"}};

static const SentencePieceClass kClasses[] = {
    {"LlamaTokenizer",
     Scheme::Llama,
     kSentencePieceFiles[0],
     SentencePieceKind::Bpe,
     {},
     kLlamaNames},
    {"GemmaTokenizer", Scheme::Gemma, kSentencePieceFiles[0],
     SentencePieceKind::Bpe, kGemmaTypes, kGemmaNames},
    {"T5Tokenizer",
     Scheme::T5,
     kSentencePieceFiles[1],
     SentencePieceKind::Unigram,
     {},
     kT5Names},
    {"PreTrainedTokenizer",
     Scheme::Own,
     kSentencePieceFiles[0],
     std::nullopt,
     {},
     {}},
    {"TokenizersBackend",
     Scheme::Own,
     kSentencePieceFiles[0],
     std::nullopt,
     {},
     {}},
};

/// Model types whose files name a wrong class, as the library has it
/// (MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS), or whose own class is another
/// library's.
static constexpr StringRef kOwnWhateverIsNamed[] = {"jamba", "kimi_linear",
                                                    "mistral", "phi3"};

const SentencePieceClass &effc::frontend::getOwnReading() {
  return *llvm::find_if(kClasses, [](const SentencePieceClass &one) {
    return one.scheme == Scheme::Own;
  });
}

llvm::Expected<const SentencePieceClass *>
effc::frontend::findSentencePieceClass(StringRef name, StringRef modelType,
                                       const TokenizerSettings &settings) {
  if (llvm::is_contained(kOwnWhateverIsNamed, modelType))
    return &getOwnReading();
  std::string known;
  for (const SentencePieceClass &one : kClasses) {
    if (settings.tokenizerClass.empty()
            ? llvm::is_contained(one.modelTypes, modelType)
            : settings.tokenizerClass == one.name)
      return &one;
    known += (known.empty() ? "" : ", ") + one.name.str();
  }
  if (settings.tokenizerClass.empty())
    return &getOwnReading();
  return refuse(name +
                ": expects 'tokenizer_class' of tokenizer_config.json to be "
                "one of " +
                known + ", but got " + quote(settings.tokenizerClass) +
                ": what that class makes of the file is not known; save the "
                "tokenizer with the public library, which writes a "
                "tokenizer.json, or name TokenizersBackend to have the ids of "
                "SentencePiece itself");
}

static StringRef describeKind(SentencePieceKind kind) {
  constexpr StringRef kNames[] = {"Unigram", "BPE", "word", "character"};
  return kNames[size_t(kind) - 1];
}

llvm::Error effc::frontend::checkClassFits(const SentencePieceModel &model,
                                           StringRef name,
                                           const SentencePieceClass &kind) {
  constexpr StringRef kWayOut =
      "; save the tokenizer with the public library, which writes a "
      "tokenizer.json";
  if (kind.file != name)
    return refuse(kind.name + " reads its vocabulary from " + quote(kind.file) +
                  ", but the tokenizer lies in " + quote(name) +
                  "; rename it, or name in tokenizer_config.json the "
                  "'tokenizer_class' that reads it");
  bool isKnown = model.kind == SentencePieceKind::Unigram ||
                 model.kind == SentencePieceKind::Bpe;
  if (!isKnown)
    return refuse(name + ": a " + describeKind(model.kind) +
                  " model is not supported; supported: Unigram, BPE" + kWayOut);
  if (kind.kind && *kind.kind != model.kind)
    return refuse(name + ": " + kind.name + " reads a " +
                  describeKind(*kind.kind) + " model, but got a " +
                  describeKind(model.kind) +
                  " one, of which releases of the library make different ids; "
                  "name 'TokenizersBackend' as 'tokenizer_class' in "
                  "tokenizer_config.json to have those of SentencePiece");
  if (model.isSpaceSuffix)
    return refuse(name +
                  ": spaces at the ends of words "
                  "(treat_whitespace_as_suffix) are not supported" +
                  kWayOut);
  return llvm::Error::success();
}

void effc::frontend::remarkOnClass(const SentencePieceModel &model,
                                   StringRef name,
                                   const SentencePieceClass &kind,
                                   const TokenizerSettings &settings,
                                   std::vector<std::string> &remarks) {
  if (kind.scheme == Scheme::Own) {
    remarks.push_back((name + ": is read as SentencePiece reads it, which is "
                              "what the public library does where no class of "
                              "its own applies")
                          .str());
    return;
  }
  if (kind.scheme == Scheme::T5)
    return;
  if (!model.charsmap.empty() || model.removeExtraSpaces)
    remarks.push_back((name + ": its normalizer " +
                       quote(model.normalizerName) + " is left aside, as " +
                       kind.name + " of the public library does")
                          .str());
  if (kind.scheme == Scheme::Llama)
    remarks.push_back((name + ": a text that begins with a space gets no "
                              "further one in front, as in release 5 of the "
                              "public library; SentencePiece puts one there")
                          .str());
  if (!settings.addBosToken)
    remarks.push_back("tokenizer_config.json has no 'add_bos_token': no text "
                      "gets a bos_token in front, as in release 5 of the "
                      "public library; release 4 put one there");
}
