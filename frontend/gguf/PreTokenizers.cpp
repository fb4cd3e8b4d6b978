// Facts of llama.cpp's src/llama-vocab.cpp (llama-cpp-python 0.3.36). Where that
// program writes a pattern in another way since its own matcher lacks something, the
// pattern is the one that it names as the model's own.
#include "frontend/gguf/PreTokenizers.h"

#include "frontend/tokenizer/VocabularyFile.h"

#include "llvm/ADT/STLExtras.h"

using namespace effc::frontend;
using llvm::StringLiteral;

// Without folding of case: U+017F is no 's'.
#define CONTRACTIONS R"('[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
#define SPACES R"(\s*[\r\n]+|\s+(?!\S)|\s+)"
#define SIGNS R"( ?[^\s\p{L}\p{N}]+[\r\n]*)"
#define WORDS R"([^\r\n\p{L}\p{N}]?\p{L}+)"
#define GPT2                                                                   \
  R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))"
// Words of an upper-case and a lower-case part.
#define CASED_1                                                                \
  R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
#define CASED_2                                                                \
  R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
#define CASED_WORDS                                                            \
  CASED_1 "(?:" CONTRACTIONS ")?|" CASED_2 "(?:" CONTRACTIONS ")?"
// What scripts without spaces write, one after another.
#define IDEOGRAPHS "[一-龥぀-ゟ゠-ヿ]+"
#define ASCII_SIGN_AND_WORD R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+)"
#define MARKED_WORDS                                                           \
  ASCII_SIGN_AND_WORD R"(|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+)"
#define FINNISH R"( ?[^(\s|.,!?…。，、।۔،)]+)"

static constexpr StringLiteral kGpt2[] = {GPT2};
static constexpr StringLiteral kDigits[] = {R"(\p{N})", GPT2};
static constexpr StringLiteral kLlama3[] = {
    CONTRACTIONS "|" WORDS R"(|\p{N}{1,3}|)" SIGNS "|" SPACES};
static constexpr StringLiteral kQwen2[] = {
    CONTRACTIONS "|" WORDS R"(|\p{N}|)" SIGNS "|" SPACES};
static constexpr StringLiteral kQwen35[] = {
    CONTRACTIONS
    R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)" SPACES};
static constexpr StringLiteral kUfakzeka[] = {WORDS R"(|\p{N}|)" SIGNS
                                                    "|" SPACES};
static constexpr StringLiteral kMiniCpm5[] = {
    R"(\p{N}{1,3})", CONTRACTIONS "|" WORDS R"(|\p{N}+|)" SIGNS "|" SPACES};
static constexpr StringLiteral kDeepseek3[] = {
    R"(\p{N}{1,3})", IDEOGRAPHS, MARKED_WORDS R"([\r\n]*|)" SPACES};
static constexpr StringLiteral kSpark[] = {
    R"(\p{N}{1,3})", IDEOGRAPHS, MARKED_WORDS R"(|[\r\n]|\s+(?!\S)|\s+)",
    R"(\p{N})"};
// Digits in threes from the right.
static constexpr StringLiteral kAfmoe[] = {
    R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N})))",
    R"([一-鿿㐀-䶿豈-﫿぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-꧿가-힯ᄀ-ᇿ]+)",
    MARKED_WORDS R"([\r\n]*|)" SPACES};
static constexpr StringLiteral kDeepseekLlm[] = {
    R"([\r\n])",
    R"(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)",
    R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)",
    R"(\s+$)",
    "[一-龥ࠀ-一가-퟿]+",
    R"(\p{N}+)"};
static constexpr StringLiteral kDeepseekCoder[] = {
    R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", "[一-龥ࠀ-一가-퟿]+",
    R"(\p{N})"};
static constexpr StringLiteral kFalcon[] = {R"([\p{P}\$\+<=>\^~\|`]+)", GPT2,
                                            "[0-9][0-9][0-9]"};
static constexpr StringLiteral kFinnish[] = {FINNISH};
static constexpr StringLiteral kViking[] = {FINNISH, R"(\p{N})"};
static constexpr StringLiteral kTekken[] = {
    CASED_1 "|" CASED_2 R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" SPACES};
static constexpr StringLiteral kGpt4o[] = {
    CASED_WORDS R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" SPACES};
// Where a letter follows, digits are left to the second pattern.
static constexpr StringLiteral kTinyAya[] = {R"(\d{1,3}(?=(?:\d{3})*\b))",
                                             kGpt4o[0]};
static constexpr StringLiteral kYoutu[] = {
    "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|" IDEOGRAPHS,
    CASED_WORDS R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" SPACES};
// The second matches between digits.
static constexpr StringLiteral kSuperBpe[] = {R"(\p{N}+)",
                                              R"((?=(\d{3})+(?!\d)))"};
static constexpr StringLiteral kBailing[] = {
    R"('(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|)" WORDS R"(|\p{N}|)" SIGNS
    R"(|\s*[\r\n]|\s+(?!\S)|\s+)"};
static constexpr StringLiteral kExaoneMoe[] = {
    CONTRACTIONS
    R"(|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)"};
static constexpr StringLiteral kLaguna[] = {R"([^\n]+|[\n]+)", kQwen2[0]};
static constexpr StringLiteral kJais2[] = {
    CONTRACTIONS
    "|" WORDS R"(|\p{N}{1,3}|)" SIGNS
    R"(|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})"};
static constexpr StringLiteral kChameleon[] = {
    "<sentinel:[0-9]+>",       "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
    R"([\t\n]|    |  )",       R"(\p{N})",
    R"([\p{P}!-/:-@\[-`{-~])", GPT2};
static constexpr StringLiteral kSeedCoder[] = {
    CONTRACTIONS "|" WORDS R"(|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|)" SPACES};

static constexpr StringLiteral kKimi[] = {kKimiPattern};

static constexpr GgufPreTokenizer kRows[] = {
    {"gpt-2", kGpt2},
    {"phi-2", kGpt2},
    {"mpt", kGpt2},
    {"olmo", kGpt2},
    {"jais", kGpt2},
    {"trillion", kGpt2},
    {"exaone4", kGpt2},
    {"gigachat", kGpt2},
    {"a.x-4.0", kGpt2},
    {"mellum", kGpt2},
    {"granite-docling", kGpt2},
    {"modern-bert", kGpt2},
    {"jina-es", kGpt2},
    {"jina-de", kGpt2},
    {"jina-v2-es", kGpt2},
    {"jina-v2-de", kGpt2},
    {"smollm", kDigits},
    {"starcoder", kDigits},
    {"refact", kDigits},
    {"command-r", kDigits},
    {"codeshell", kDigits},
    {"exaone", kDigits},
    {"minerva-7b", kDigits},
    {"mellum2", kDigits},
    {"llama-bpe", kLlama3, true, true},
    {"llama3", kLlama3, true, true},
    {"llama-v3", kLlama3, true, true},
    {"falcon3", kLlama3, true, true},
    {"falcon-h1", kLlama3, true, true},
    {"pixtral", kLlama3, true, true},
    {"midm-2.0", kLlama3, true, true},
    {"lfm2", kLlama3, true, true},
    {"jina-v5-nano", kLlama3, true, true},
    {"dbrx", kLlama3},
    {"smaug-bpe", kLlama3},
    {"chatglm-bpe", kLlama3},
    {"glm4", kLlama3, true},
    {"glm5", kLlama3, true},
    {"qwen2", kQwen2},
    {"deepseek-r1-qwen", kQwen2},
    {"kormo", kQwen2},
    {"stablelm2", kQwen2},
    {"hunyuan", kQwen2},
    {"megrez", kQwen2},
    {"solar-open", kQwen2},
    {"grok-2", kQwen2},
    {"f2llmv2", kQwen2},
    {"laguna", kLaguna},
    {"qwen35", kQwen35},
    {"ufakzeka", kUfakzeka},
    {"minicpm5", kMiniCpm5, true},
    {"deepseek-v3", kDeepseek3},
    {"hunyuan-dense", kDeepseek3},
    {"hy_v4", kDeepseek3},
    {"joyai-llm", kDeepseek3},
    {"spark2_5", kSpark},
    {"afmoe", kAfmoe},
    {"deepseek-llm", kDeepseekLlm},
    {"deepseek-coder", kDeepseekCoder},
    {"falcon", kFalcon},
    {"poro-chat", kFinnish},
    {"bloom", kFinnish},
    {"gpt3-finnish", kFinnish},
    {"viking", kViking},
    {"tekken", kTekken, true, true},
    {"gpt-4o", kGpt4o},
    {"llama4", kGpt4o},
    {"kanana2", kGpt4o},
    {"minimax-m2", kGpt4o},
    {"talkie", kGpt4o},
    {"granite-embed-multi-97m", kGpt4o, true},
    {"tiny_aya", kTinyAya},
    {"cohere2moe", kTinyAya},
    {"youtu", kYoutu, true},
    {"superbpe", kSuperBpe},
    {"bailingmoe", kBailing},
    {"bailingmoe2", kBailing},
    {"llada-moe", kBailing},
    {"exaone-moe", kExaoneMoe},
    {"jais-2", kJais2},
    {"chameleon", kChameleon, false, true},
    {"seed-coder", kSeedCoder},
    {"kimi-k2", kKimi, false, false, true},
    {"sarvam-moe", {}, false, false, false, true},
};

llvm::ArrayRef<GgufPreTokenizer> effc::frontend::listGgufPreTokenizers() {
  return kRows;
}

const GgufPreTokenizer *
effc::frontend::findGgufPreTokenizer(llvm::StringRef name) {
  const GgufPreTokenizer *row = llvm::find_if(
      kRows, [&](const GgufPreTokenizer &row) { return row.name == name; });
  return row == std::end(kRows) ? nullptr : row;
}
