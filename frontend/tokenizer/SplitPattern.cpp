#include "frontend/tokenizer/SplitPattern.h"

#include "frontend/checkpoint/Refusal.h"
#include "runtime/schema/TokenizerLimits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <memory>

using namespace effc;
using namespace effc::frontend;

namespace {

constexpr llvm::StringRef kCategories[] = {
    "C",  "Cc", "Cf", "Cn", "Co", "Cs", "L",  "Ll", "Lm", "Lo",
    "Lt", "Lu", "M",  "Mc", "Me", "Mn", "N",  "Nd", "Nl", "No",
    "P",  "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S",  "Sc",
    "Sk", "Sm", "So", "Z",  "Zl", "Zp", "Zs"};

constexpr llvm::StringRef kScripts[] = {
    "Arabic",   "Armenian", "Bengali",   "Bopomofo",  "Cyrillic", "Devanagari",
    "Ethiopic", "Georgian", "Greek",     "Gujarati",  "Gurmukhi", "Han",
    "Hangul",   "Hebrew",   "Hiragana",  "Kannada",   "Katakana", "Khmer",
    "Lao",      "Latin",    "Malayalam", "Mongolian", "Myanmar",  "Oriya",
    "Sinhala",  "Tamil",    "Telugu",    "Thaana",    "Thai",     "Tibetan"};

/// What a class of Oniguruma's \w holds: letters, marks, digits, numbers that are letters,
/// joining punctuation, the six other numbers of Latin-1, and letters in circles and
/// boxes. Compared with the library for every character.
#define WORD                                                                   \
  "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}\\x{"  \
  "24b6}-\\x{24e9}\\x{1f130}-\\x{1f149}"                                       \
  "\\x{1f150}-\\x{1f169}\\x{1f170}-\\x{1f189}"
#define AFTER_WORD "(?<=[" WORD "])"
#define BEFORE_WORD "(?=[" WORD "])"
#define NOT_AFTER_WORD "(?<![" WORD "])"
#define NOT_BEFORE_WORD "(?![" WORD "])"

/// How often a group is written out at most.
constexpr unsigned kMostCopies = 255;

/// A pattern for messages: cut where it is long, at a character.
std::string quoteStart(llvm::StringRef pattern) {
  constexpr size_t kMost = 200;
  if (pattern.size() <= kMost)
    return quote(pattern);
  size_t size = kMost;
  while ((pattern[size] & 0xC0) == 0x80)
    --size;
  return quote((pattern.take_front(size) + "...").str());
}

class Translator {
public:
  explicit Translator(llvm::StringRef pattern)
      : pattern(pattern), rest(pattern) {}

  llvm::Expected<std::string> run() {
    while (!rest.empty() && problem.empty())
      step();
    if (!problem.empty())
      return refuse("pattern " + quoteStart(pattern) + ": " + problem);
    return std::move(out);
  }

private:
  void step() {
    switch (rest[0]) {
    case '\\':
      return translateEscape(/*inClass=*/false);
    case '[':
      return translateClass();
    case '(':
      return translateGroup();
    case '{':
      return translateInterval();
    case '}':
    case ']':
      return emit(("\\" + rest.take_front()).str(), 1);
    case '.':
      return emit("[^\\n]", 1);
    case '^':
      return emit("(?<![^\\n])", 1);
    case '$':
      return emit("(?![^\\n])", 1);
    case ')':
      if (outerCaseless.empty()) {
        problem = "a ')' without its '('";
        return;
      }
      caseless = outerCaseless.pop_back_val();
      emit(")", 1);
      return closeGroup();
    default:
      return translateLiteral();
    }
  }

  /// A group that is counted has its inside written out as often.
  void closeGroup() {
    bool inside = hasCounted.pop_back_val();
    bool isCounted = rest.starts_with("{") && readInterval(rest).isInterval;
    if (isCounted && inside)
      return reject("a counted group in a counted group");
    if (!hasCounted.empty())
      hasCounted.back() |= inside || isCounted;
    if (!isCounted)
      return;
    Interval interval = readInterval(rest);
    unsigned count = 0;
    for (llvm::StringRef number : {interval.least, interval.most})
      if (!number.empty() &&
          (number.getAsInteger(10, count) || count > kMostCopies))
        return reject("a group counted past " + llvm::Twine(kMostCopies));
  }

  void translateLiteral() {
    if (caseless)
      checkCaseless();
    emit(rest.take_front(), 1);
  }

  /// Where case does not matter, Oniguruma lets one character match several:
  /// "ss" matches U+00DF, and the other way round.
  void checkCaseless() {
    constexpr llvm::StringRef kFolded[] = {"ss", "st", "ff", "fi", "fl"};
    if (!llvm::isASCII(rest[0]))
      return reject("a character that is not ASCII, regardless of case,");
    if (llvm::is_contained(kFolded, rest.take_front(2).lower()))
      return reject(quote(rest.take_front(2)) + " regardless of case");
  }

  /// Writes `text` for the next `count` characters.
  void emit(llvm::StringRef text, size_t count) {
    out += text;
    rest = rest.drop_front(count);
  }

  void reject(const llvm::Twine &what) {
    problem = (what + " is not supported").str();
  }

  void translateGroup() {
    if (rest.starts_with("(*"))
      return reject("'(*'");
    // Elsewhere the two differ in how far an option reaches past a '|'.
    if (rest.starts_with("(?i)") && out.empty()) {
      caseless = true;
      return emit("(?i)", 4);
    }
    outerCaseless.push_back(caseless);
    hasCounted.push_back(false);
    if (!rest.starts_with("(?"))
      return emit("(", 1);
    for (llvm::StringRef known :
         {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?-i:"}) {
      if (!rest.starts_with(known))
        continue;
      if (known.contains('i'))
        caseless = known == "(?i:";
      return emit(known, known.size());
    }
    reject("group " + quote(rest.take_front(3)));
  }

  void translateClass() {
    emit("[", 1);
    if (rest.consume_front("^"))
      out += "^";
    if (rest.starts_with("]"))
      emit("\\]", 1);
    while (!rest.empty() && rest[0] != ']' && problem.empty()) {
      if (rest[0] == '\\')
        translateEscape(/*inClass=*/true);
      else if (rest[0] == '[')
        reject("'[' in a character class");
      else if (rest.starts_with("&&"))
        reject("'&&' in a character class");
      else if (caseless && !llvm::isASCII(rest[0]))
        checkCaseless();
      else
        emit(rest.take_front(), 1);
    }
    if (problem.empty() && rest.empty())
      problem = "a character class does not end";
    else if (problem.empty())
      emit("]", 1);
  }

  struct Interval {
    bool isInterval, isFixed;
    llvm::StringRef least, most, after;
  };
  static Interval readInterval(llvm::StringRef text) {
    llvm::StringRef inside = text.drop_front().take_until(
        [](char c) { return c != ',' && !llvm::isDigit(c); });
    llvm::StringRef after = text.drop_front(1 + inside.size());
    auto [least, most] = inside.split(',');
    bool isInterval = after.consume_front("}") && !inside.empty() &&
                      inside != "," && !most.contains(',');
    return {isInterval, !inside.contains(','), least, most, after};
  }

  void translateInterval() {
    auto [isInterval, isFixed, least, most, after] = readInterval(rest);
    if (!isInterval)
      return emit("\\{", 1);
    if (after.starts_with("+"))
      return reject("'{" + least + (isFixed ? "" : ",") + most + "}+'");
    if (isFixed && after.starts_with("?"))
      return reject("'{" + least + "}?'");
    out += ("{" + (least.empty() ? "0" : least) + (isFixed ? "" : ",") + most +
            "}")
               .str();
    rest = after;
  }

  void translateEscape(bool inClass) {
    if (rest.size() < 2) {
      problem = "ends in a backslash";
      return;
    }
    char c = rest[1];
    switch (c) {
    case 's':
      return emit("\\p{White_Space}", 2);
    case 'S':
      return emit("\\P{White_Space}", 2);
    case 'd':
      return emit("\\p{Nd}", 2);
    case 'D':
      return emit("\\P{Nd}", 2);
    case 'v':
      return emit("\\x{0b}", 2);
    case 'w':
      return emit(inClass ? WORD : "[" WORD "]", 2);
    case 'W':
      if (inClass)
        return reject("'\\W' in a character class");
      return emit("[^" WORD "]", 2);
    case 'b':
      if (inClass)
        break;
      return emit("(?:" AFTER_WORD NOT_BEFORE_WORD
                  "|" NOT_AFTER_WORD BEFORE_WORD ")",
                  2);
    case 'B':
      if (inClass)
        break;
      return emit("(?:" AFTER_WORD BEFORE_WORD
                  "|" NOT_AFTER_WORD NOT_BEFORE_WORD ")",
                  2);
    case 'a':
    case 'e':
    case 'f':
    case 'n':
    case 'r':
    case 't':
      return emit(rest.take_front(2), 2);
    case 'p':
    case 'P':
      return translateProperty(inClass);
    case 'u':
      return translateUnicode();
    case 'x':
      return translateHex();
    default:
      break;
    }
    if (llvm::isAlnum(c))
      return reject("'" + rest.take_front(2) + "'");
    // A character that is not ASCII stands for itself.
    if (llvm::isASCII(c))
      return emit(rest.take_front(2), 2);
    rest = rest.drop_front();
    translateLiteral();
  }

  void translateProperty(bool inClass) {
    size_t end = rest.find('}');
    if (rest.substr(2, 1) != "{" || end == llvm::StringRef::npos)
      return reject(quote(rest.take_front(2)) + " without braces");
    llvm::StringRef escape = rest.take_front(end + 1);
    llvm::StringRef name = rest.slice(3, end);
    bool negated = name.consume_front("^");
    std::string translated;
    // There such a class has the letters of either case.
    bool isCase = name == "Lu" || name == "Ll" || name == "Lt";
    if (caseless && inClass && isCase)
      return reject("property " + quote(name) +
                    " in a class regardless of case");
    if (llvm::is_contained(kCategories, name))
      translated = name.str();
    else if (llvm::is_contained(kScripts, name))
      translated = ("sc:" + name).str();
    else
      return reject("property " + quote(name));
    emit(("\\" + escape.substr(1, 1) + "{" + (negated ? "^" : "") + translated +
          "}")
             .str(),
         escape.size());
  }

  void translateUnicode() {
    llvm::StringRef digits = rest.substr(2, 4);
    if (digits.size() != 4 || !llvm::all_of(digits, llvm::isHexDigit))
      return reject("'\\u' without four digits");
    if (caseless)
      return reject("'\\u' regardless of case");
    emit(("\\x{" + digits + "}").str(), 6);
  }

  void translateHex() {
    if (caseless)
      return reject("'\\x' regardless of case");
    if (rest.substr(2, 1) == "{") {
      llvm::StringRef digits = rest.drop_front(3).take_while(llvm::isHexDigit);
      if (digits.empty() || rest.substr(3 + digits.size(), 1) != "}")
        return reject("'\\x{' without digits and '}'");
      return emit(rest.take_front(4 + digits.size()), 4 + digits.size());
    }
    unsigned value;
    llvm::StringRef digits = rest.substr(2, 2);
    if (digits.size() != 2 || digits.getAsInteger(16, value))
      return reject("'\\x' without two digits");
    // There a byte of UTF-8, here a character.
    if (value >= 0x80)
      return reject("'\\x" + digits + "'");
    emit(rest.take_front(4), 4);
  }

  llvm::StringRef pattern, rest;
  std::string out, problem;
  /// Whether case is ignored here, and in the groups around.
  bool caseless = false;
  llvm::SmallVector<bool> outerCaseless;
  /// For each open group, whether a counted group is inside.
  llvm::SmallVector<bool> hasCounted;
};

} // namespace

static llvm::Error checkCompiles(llvm::StringRef pattern,
                                 llvm::StringRef original) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  std::unique_ptr<pcre2_code, decltype(&pcre2_code_free)> code(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()),
                    pattern.size(), PCRE2_UTF | PCRE2_UCP, &error, &offset,
                    nullptr),
      pcre2_code_free);
  if (code)
    return llvm::Error::success();
  PCRE2_UCHAR reason[256] = "unknown error";
  pcre2_get_error_message(error, reason, sizeof(reason));
  return refuse("pattern " + quoteStart(original) + ": " +
                reinterpret_cast<const char *>(reason));
}

llvm::Expected<std::string>
effc::frontend::translatePattern(llvm::StringRef pattern) {
  constexpr size_t kMost = artifact::kMostPatternBytes;
  if (pattern.empty() || pattern.size() > kMost)
    return refuse("expects a pattern of 1.." + llvm::Twine(kMost) +
                  " bytes, but got " + llvm::Twine(pattern.size()));
  auto translated = Translator(pattern).run();
  if (!translated)
    return translated.takeError();
  // "\\s" becomes six times as long.
  if (translated->size() > kMost)
    return refuse("pattern " + quoteStart(pattern) + ": expects at most " +
                  llvm::Twine(kMost) +
                  " bytes once it is written for the runtime, but got " +
                  llvm::Twine(translated->size()));
  if (llvm::Error error = checkCompiles(*translated, pattern))
    return error;
  return translated;
}

std::string effc::frontend::escapePattern(llvm::StringRef text) {
  std::string out;
  for (char c : text) {
    if (llvm::isASCII(c) && llvm::isPunct(c))
      out += '\\';
    out += c;
  }
  return out;
}

std::string effc::frontend::readPattern(ConfigReader &reader) {
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
