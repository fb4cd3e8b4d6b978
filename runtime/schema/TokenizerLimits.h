// What a tokenizer may hold. The compiler refuses more in a tokenizer.json, the
// loader in a file: whatever is compiled loads. Numbers of published tokenizers in
// the reasons are of those that the tests record and of the largest known.
#ifndef EFFC_RUNTIME_SCHEMA_TOKENIZERLIMITS_H
#define EFFC_RUNTIME_SCHEMA_TOKENIZERLIMITS_H

#include <cstddef>
#include <cstdint>

namespace effc::artifact {

/// Ids; the largest published vocabulary has 2^18 and some.
inline constexpr uint32_t kMostTokens = 1u << 24;
/// Pairs that merge: one makes a token, or a few do.
inline constexpr uint32_t kMostMerges = 1u << 25;
/// Of one token of a vocabulary; published ones have some hundreds.
inline constexpr size_t kMostTokenBytes = size_t(1) << 20;
/// Of one added token, which a normalizer may make longer.
inline constexpr size_t kMostAddedBytes = 65536;
/// Steps of a normalizer, a pre-tokenizer or a decoder; published ones have ten.
inline constexpr size_t kMostTokenizerSteps = 64;
/// Of a text that a step looks for or writes.
inline constexpr size_t kMostStepTextBytes = 65536;
/// Of a pattern, in the syntax of either side.
inline constexpr size_t kMostPatternBytes = 65536;
/// What each character gets before or behind it: "##", "</w>". It is written out
/// for every character of a text.
inline constexpr size_t kMostAffixBytes = 1024;
/// Ids before and after a text together: one or two each, or a system prompt.
/// They are there for every text, an empty one too.
inline constexpr size_t kMostAroundText = 4096;
/// How many characters a decoder's Strip takes from a side.
inline constexpr uint32_t kMostStripped = 1u << 20;

/// Ways to write a conversation; published checkpoints have one to four.
inline constexpr size_t kMostTemplates = 64;
/// Of the name of one, and of a token that templates name.
inline constexpr size_t kMostTemplateName = 256;
/// Of one; published ones have up to 30 KiB.
inline constexpr size_t kMostTemplateBytes = size_t(1) << 20;

} // namespace effc::artifact

#endif // EFFC_RUNTIME_SCHEMA_TOKENIZERLIMITS_H
