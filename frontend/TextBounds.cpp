#include "frontend/TextBounds.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace effc;
using namespace effc::frontend;

// The position behind the string or the comment that begins at `position`, or
// `position` itself.
static size_t skipText(llvm::StringRef text, size_t position) {
  if (text.substr(position).starts_with("//"))
    return std::min(text.find('\n', position), text.size());
  if (text[position] != '"')
    return position;
  for (++position; position < text.size() && text[position] != '"'; ++position)
    if (text[position] == '\\')
      ++position;
  return std::min(position + 1, text.size());
}

// As the parser's names go on (mlir/lib/AsmParser/Lexer.cpp).
static bool isOfWord(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-';
}

namespace {
/// What an alias stands for, with the aliases in it.
struct Defined {
  unsigned levels = 0;
  uint64_t length = 0; // characters
};

/// Follows a text through its levels. An alias stands for what it is defined
/// as, with as many levels and characters.
class TextWalk {
public:
  TextWalk(llvm::StringRef text, const TextBounds &bounds)
      : text(text), bounds(bounds) {}

  std::optional<TextExcess> find() {
    if (text.size() > bounds.text)
      return TextExcess{
          0, "expects a text of at most " + std::to_string(bounds.text) +
                 " characters, but got " + std::to_string(text.size())};
    for (size_t i = 0; i < text.size();) {
      size_t start = i;
      i = skipText(text, i);
      if (i > start)
        signs = 0;
      else
        i = step(i);
      length = llvm::SaturatingAdd(length, uint64_t(i - start));
      if (open + signs + ofAlias > bounds.levels)
        return TextExcess{start, "expects at most " +
                                     std::to_string(bounds.levels) +
                                     " levels of brackets or signs, but here "
                                     "begins another"};
      deepest = std::max(deepest, open + signs + ofAlias);
      if (aliased > bounds.aliased)
        return TextExcess{start,
                          "expects aliases that stand for at most " +
                              std::to_string(bounds.aliased) +
                              " characters in all, but with this one they "
                              "stand for " +
                              std::to_string(aliased)};
      if (inWord > bounds.word)
        return TextExcess{start + 1 - inWord,
                          "expects a name or number of at most " +
                              std::to_string(bounds.word) +
                              " characters, but this one is longer"};
      if (wideInteger)
        return TextExcess{start, "expects integers of at most " +
                                     std::to_string(bounds.integerBits) +
                                     " bits, but got '" + *wideInteger + "'"};
    }
    return std::nullopt;
  }

private:
  // What begins at `i`; returns where the next begins.
  size_t step(size_t i) {
    ofAlias = 0;
    char c = text[i];
    if (!llvm::isSpace(c) && c != '=')
      hasValue = true;
    else if (c == '\n' && open == 0 && hasValue)
      define("");
    inWord = isOfWord(c) ? inWord + 1 : 0;
    if (c == 'i')
      checkInteger(i);
    if (c == '#' || c == '!')
      return alias(i);
    // "->" and ">=" close nothing, "<=" opens nothing.
    llvm::StringRef pair = text.substr(i, 2);
    if (pair == "->" || pair == ">=" || pair == "<=") {
      signs = 0;
      return i + 2;
    }
    if (llvm::StringRef("([{<").contains(c))
      ++open;
    else if (llvm::StringRef(")]}>").contains(c) && open > 0)
      --open;
    // Each operator of an affine expression holds what is left of it.
    bool isSign = c == '-' || c == '+' || c == '*' || isWord(i, "mod") ||
                  isWord(i, "floordiv") || isWord(i, "ceildiv");
    if (isSign)
      ++signs;
    else if (llvm::StringRef(",([{<)]}>=:\"%@").contains(c))
      signs = 0;
    return i + 1;
  }

  // "#name" or "!name": a definition where '=' follows, outside of brackets.
  size_t alias(size_t i) {
    llvm::StringRef name = text.substr(i).take_front(
        1 + text.substr(i + 1).take_while(isOfWord).size());
    signs = 0;
    inWord = name.size();
    llvm::StringRef rest = text.substr(i + name.size()).ltrim();
    if (open == 0 && rest.consume_front("=") && !rest.starts_with("=")) {
      define(name);
      return i + name.size();
    }
    Defined used = aliases.lookup(name);
    ofAlias = used.levels + 1;
    length = llvm::SaturatingAdd(length, used.length);
    aliased = llvm::SaturatingAdd(aliased, used.length);
    return i + name.size();
  }

  // Ends a definition, as a line does, and begins another, or none.
  void define(llvm::StringRef name) {
    if (!defined.empty())
      aliases[defined] = {deepest, length};
    defined = name;
    deepest = 0;
    length = 0;
    hasValue = false;
  }

  // "i32", "si8" or "2x3xi32", but not "%i32".
  void checkInteger(size_t i) {
    llvm::StringRef digits = text.substr(i + 1).take_while(llvm::isDigit);
    llvm::StringRef before = text.take_front(i);
    if (!before.consume_back("s"))
      before.consume_back("u");
    bool begins = before.empty() || before.ends_with("x") ||
                  (!isOfWord(before.back()) &&
                   !llvm::StringRef("%@#!^").contains(before.back()));
    uint64_t bits = 0;
    if (!begins || digits.empty() || isOfWord(at(i + 1 + digits.size())))
      return;
    // What does not fit 64 bits is too much as well.
    if (digits.getAsInteger(10, bits) || bits > bounds.integerBits)
      wideInteger = "i" + digits.take_front(20).str();
  }

  // The character there; a space behind the end.
  char at(size_t i) const { return i < text.size() ? text[i] : ' '; }

  bool isWord(size_t i, llvm::StringRef word) const {
    return text.substr(i).starts_with(word) && i > 0 &&
           llvm::isSpace(text[i - 1]);
  }

  llvm::StringRef text, defined;
  const TextBounds &bounds;
  bool hasValue = false; // of what is defined
  unsigned open = 0, signs = 0, ofAlias = 0, deepest = 0;
  size_t inWord = 0;                // characters of the word so far
  uint64_t length = 0, aliased = 0; // of what is defined; of all aliases
  llvm::StringMap<Defined> aliases;
  std::optional<std::string> wideInteger;
};
} // namespace

std::optional<TextExcess> frontend::findTextExcess(llvm::StringRef text,
                                                   const TextBounds &bounds) {
  return TextWalk(text, bounds).find();
}
