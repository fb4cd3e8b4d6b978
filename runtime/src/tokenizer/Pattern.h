//===- Pattern.h - Regular expressions over UTF-8 -------------------------===//
//
// PCRE2 with Unicode properties, interpreted (no code is generated at run
// time), under limits on steps and memory, so that no pattern and no text can
// hang or exhaust a process. Texts are valid UTF-8; the caller has made sure.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_PATTERN_H
#define EFFC_RUNTIME_SRC_TOKENIZER_PATTERN_H

#include "runtime/src/Error.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct pcre2_real_code_8;

namespace effc::rt {

/// A compiled pattern; may be used by several threads at once.
class Pattern {
public:
  static Result<Pattern> compile(std::string_view text);

  struct Match {
    size_t begin;
    size_t end;
  };
  /// All matches in `text` from left to right, none overlapping. An empty match
  /// does not stop the search; the next starts one character further.
  Result<std::vector<Match>> findAll(std::string_view text) const;

private:
  struct Free {
    void operator()(pcre2_real_code_8 *code) const;
  };
  std::unique_ptr<pcre2_real_code_8, Free> code;
};

/// Unicode \w at one end of a text; false for an empty one.
bool startsWithWordCharacter(std::string_view text);
bool endsInWordCharacter(std::string_view text);

/// How many bytes of Unicode white space stand at one end of a text.
size_t leadingSpace(std::string_view text);
size_t trailingSpace(std::string_view text);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_PATTERN_H
