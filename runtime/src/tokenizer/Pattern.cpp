#include "runtime/src/tokenizer/Pattern.h"

#include "runtime/src/tokenizer/Utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

using namespace effc::rt;

// One match may take this many steps and this much memory: a run of some
// millions of characters stays far below, a catastrophic pattern does not.
static constexpr uint32_t kMatchSteps = 20'000'000;
static constexpr uint32_t kHeapKiB = 256 * 1024;
static constexpr size_t kMaxPatternBytes = 65536;

void Pattern::Free::operator()(pcre2_real_code_8 *code) const {
  pcre2_code_free(code);
}

static PCRE2_SPTR units(std::string_view text) {
  // PCRE2 10.42 wants a pointer even to an empty text.
  return reinterpret_cast<PCRE2_SPTR>(text.data() ? text.data() : "");
}

static std::string describe(int code) {
  PCRE2_UCHAR message[256];
  pcre2_get_error_message(code, message, sizeof message);
  return reinterpret_cast<const char *>(message);
}

Result<Pattern> Pattern::compile(std::string_view text) {
  if (text.size() > kMaxPatternBytes)
    return badData("a pattern of ", text.size(), " bytes is longer than ",
                   kMaxPatternBytes);
  int failure = 0;
  PCRE2_SIZE where = 0;
  // \C would cut characters in two.
  uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C;
  Pattern pattern;
  pattern.code.reset(pcre2_compile(units(text), text.size(), options, &failure,
                                   &where, nullptr));
  if (!pattern.code)
    return badData("pattern \"", text, "\" is wrong at byte ", where, ": ",
                   describe(failure));
  return pattern;
}

namespace {
/// What one search needs besides the pattern.
class Search {
public:
  explicit Search(const pcre2_code *code)
      : code(code), data(pcre2_match_data_create(1, nullptr)),
        context(pcre2_match_context_create(nullptr)) {
    if (!data || !context)
      throw std::bad_alloc();
    pcre2_set_match_limit(context, kMatchSteps);
    pcre2_set_heap_limit(context, kHeapKiB);
  }
  ~Search() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
  }
  Search(const Search &) = delete;
  Search &operator=(const Search &) = delete;

  /// PCRE2's result for the first match from `from` on; negative for none.
  int next(std::string_view text, size_t from, Pattern::Match &match) {
    // The text is known to be valid; checking it anew for every match would
    // take quadratic time.
    int result = pcre2_match(code, units(text), text.size(), from,
                             PCRE2_NO_UTF_CHECK, data, context);
    if (result >= 0) {
      const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(data);
      match = {ends[0], ends[1]};
    }
    return result;
  }

private:
  const pcre2_code *code;
  pcre2_match_data *data;
  pcre2_match_context *context;
};
} // namespace

Result<std::vector<Pattern::Match>>
Pattern::findAll(std::string_view text) const {
  Search search(code.get());
  std::vector<Match> matches;
  size_t from = 0;
  while (from <= text.size()) {
    Match match;
    int result = search.next(text, from, match);
    if (result == PCRE2_ERROR_NOMATCH)
      break;
    if (result == PCRE2_ERROR_NOMEMORY)
      throw std::bad_alloc();
    if (result < 0)
      return badData("a pattern fails on this text at byte ", from, ": ",
                     describe(result));
    // \K can move the start past the end, or before where the search began.
    if (match.begin > match.end || match.begin < from)
      return badData("a pattern matches backwards at byte ", from);
    matches.push_back(match);
    from = match.end;
    if (match.begin == match.end)
      from += from < text.size() ? nextCharacter(text.substr(from)).bytes : 1;
  }
  return matches;
}

/// A pattern of this file, which is right.
static const pcre2_code *builtin(const char *text) {
  int failure;
  PCRE2_SIZE where;
  return pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text),
                       PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP, &failure,
                       &where, nullptr);
}

/// Where the last character of `text` starts; `text` is not empty.
static size_t lastCharacter(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80)
    --at;
  return at;
}

static bool isOneOf(const pcre2_code *code, std::string_view character) {
  Search search(code);
  Pattern::Match match;
  return search.next(character, 0, match) >= 0;
}

static bool isWord(std::string_view character) {
  // As the library's regex crate has it; PCRE2's own \w knows no marks.
  static const pcre2_code *word =
      builtin("^[\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{200C}\\x{200D}]");
  return isOneOf(word, character);
}

static bool isSpace(std::string_view character) {
  // PCRE2's own \s has U+180E too, which is no white space.
  static const pcre2_code *space = builtin("^\\p{White_Space}");
  return isOneOf(space, character);
}

bool effc::rt::startsWithWordCharacter(std::string_view text) {
  return !text.empty() && isWord(text.substr(0, nextCharacter(text).bytes));
}

bool effc::rt::endsInWordCharacter(std::string_view text) {
  return !text.empty() && isWord(text.substr(lastCharacter(text)));
}

size_t effc::rt::leadingSpace(std::string_view text) {
  size_t count = 0;
  while (count < text.size()) {
    size_t bytes = nextCharacter(text.substr(count)).bytes;
    if (!isSpace(text.substr(count, bytes)))
      break;
    count += bytes;
  }
  return count;
}

size_t effc::rt::trailingSpace(std::string_view text) {
  size_t left = text.size();
  while (left > 0) {
    size_t at = lastCharacter(text.substr(0, left));
    if (!isSpace(text.substr(at, left - at)))
      break;
    left = at;
  }
  return text.size() - left;
}
