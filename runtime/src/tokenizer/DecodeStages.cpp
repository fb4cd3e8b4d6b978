#include "runtime/src/tokenizer/DecodeStages.h"

#include "runtime/src/tokenizer/ByteAlphabet.h"
#include "runtime/src/tokenizer/Utf8.h"
#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <algorithm>
#include <optional>
#include <utility>

using namespace effc::rt;

std::optional<char> effc::rt::readByteToken(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>')
    return std::nullopt;
  auto digitOf = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  int high = text[3] == '+' ? 0 : digitOf(text[3]), low = digitOf(text[4]);
  if (high < 0 || low < 0)
    return std::nullopt;
  return static_cast<char>(high << 4 | low);
}

namespace {

class Bytes : public DecodeStage {
public:
  explicit Bytes(bool readsCharacters) : readsCharacters(readsCharacters) {}

  void push(std::string_view text, bool) override {
    if (!mayTake(text))
      return;
    std::optional<std::string> bytes;
    if (readsCharacters)
      bytes = readByteCharacters(text);
    pass(stream.push(bytes ? std::string_view(*bytes) : text));
  }
  void finish() override {
    pass(stream.finish());
    hasStarted = false;
    next->finish();
  }

private:
  void pass(std::string_view text) {
    if (text.empty())
      return;
    next->push(text, !hasStarted);
    hasStarted = true;
  }

  bool readsCharacters;
  bool hasStarted = false;
  Utf8Stream stream;
};

class ByteFallback : public DecodeStage {
public:
  void push(std::string_view text, bool) override {
    if (!mayTake(text))
      return;
    if (std::optional<char> byte = readByteToken(text)) {
      row += *byte;
      return;
    }
    passRow();
    next->push(text, true);
  }
  void finish() override {
    passRow();
    next->finish();
  }

private:
  void passRow() {
    if (row.empty())
      return;
    if (makeValidUtf8(row) == row)
      next->push(row, true);
    else
      for (size_t i = 0; i < row.size(); ++i)
        next->push(kReplacement, true);
    row.clear();
  }

  std::string row;
};

class Metaspace : public DecodeStage {
public:
  Metaspace(std::shared_ptr<const TextSearch> mark, bool dropsFirst)
      : mark(std::move(mark)), dropsFirst(dropsFirst) {}

  void push(std::string_view text, bool starts) override {
    tokens += starts;
    bool drops = tokens == 1 && dropsFirst;
    if (mayTake(text))
      next->push(replaceText(*mark, drops ? "" : " ", text), starts);
  }
  void finish() override {
    tokens = 0;
    next->finish();
  }

private:
  std::shared_ptr<const TextSearch> mark;
  bool dropsFirst;
  uint64_t tokens = 0;
};

class Fuse : public DecodeStage {
public:
  void push(std::string_view text, bool) override {
    if (!mayTake(text))
      return;
    next->push(text, !hasStarted);
    hasStarted = true;
  }
  void finish() override {
    hasStarted = false;
    next->finish();
  }

private:
  bool hasStarted = false;
};

class Replace : public DecodeStage {
public:
  Replace(std::shared_ptr<const TextSearch> pattern, std::string_view content)
      : search(std::move(pattern)), content(content) {}

  void push(std::string_view text, bool starts) override {
    if (starts)
      flush();
    isFresh |= starts;
    if (!mayTake(text))
      return;
    const std::string &pattern = search->text();
    std::string out;
    for (size_t at = 0; at < text.size(); ++at) {
      if (waits == 0) { // on to where the pattern may start
        size_t start = std::min(text.find(pattern[0], at), text.size());
        out += text.substr(at, start - at);
        at = start;
        if (at == text.size())
          break;
      }
      char c = text[at];
      size_t before = waits;
      waits = search->next(before, c);
      // What no longer waits is the pattern's start, and then the character.
      size_t released = before + 1 - waits;
      out.append(pattern, 0, std::min(released, before));
      if (released > before)
        out += c;
      if (waits != pattern.size())
        continue;
      if (!budget->spend(content.size()) ||
          !budget->admits(out.size() + content.size()))
        return;
      out += content;
      waits = 0;
    }
    pass(out);
  }
  void finish() override {
    flush();
    next->finish();
  }

private:
  /// What waits was no start of the pattern.
  void flush() {
    if (size_t size = std::exchange(waits, 0))
      pass(search->text().substr(0, size));
    isFresh = false;
  }
  void pass(const std::string &text) {
    // A token of which all waits is passed on when more is known.
    if (text.empty() && waits > 0)
      return;
    next->push(text, isFresh);
    isFresh = false;
  }

  std::shared_ptr<const TextSearch> search;
  std::string_view content;
  size_t waits = 0; // bytes at the token's end with which the pattern starts
  bool isFresh = false; // nothing of the token has been passed on
};

class Strip : public DecodeStage {
public:
  Strip(std::string mark, uint32_t start, uint32_t stop)
      : mark(std::move(mark)), start(start), stop(stop) {}

  void push(std::string_view text, bool starts) override {
    if (starts) {
      endToken();
      left = start;
    }
    isFresh |= starts;
    if (!mayTake(text))
      return;
    while (left > 0 && text.starts_with(mark)) {
      text.remove_prefix(mark.size());
      --left;
    }
    if (!text.empty())
      left = 0;
    // The marks at the end may be stripped.
    std::string_view rest = text;
    uint64_t marks = 0;
    while (rest.ends_with(mark)) {
      rest.remove_suffix(mark.size());
      ++marks;
    }
    std::string out;
    if (rest.empty())
      marks += held;
    else
      appendMarks(held, out);
    held = std::min<uint64_t>(marks, stop);
    out += rest;
    appendMarks(marks - held, out);
    next->push(out, isFresh);
    isFresh = false;
  }
  void finish() override {
    endToken();
    next->finish();
  }

private:
  void endToken() { held = 0; }
  void appendMarks(uint64_t count, std::string &out) {
    if (!budget->spend(count * mark.size()))
      return;
    for (uint64_t i = 0; i < count; ++i)
      out += mark;
  }

  std::string mark;
  uint32_t start, stop;
  uint32_t left = 0; // how many more the start may lose
  uint64_t held = 0; // marks at the end so far, at most `stop`
  bool isFresh = false;
};

class WordPiece : public DecodeStage {
public:
  WordPiece(std::string_view prefix, bool cleanup)
      : prefix(prefix), cleanup(cleanup) {}

  void push(std::string_view text, bool starts) override {
    tokens += starts;
    if (!mayTake(text))
      return;
    std::string out;
    if (starts && tokens > 1) {
      if (text.starts_with(prefix))
        text.remove_prefix(prefix.size());
      else
        out = " ";
    }
    out += text;
    next->push(cleanup ? mend(out) : out, starts);
  }
  void finish() override {
    tokens = 0;
    next->finish();
  }

private:
  /// The library's replacements, in its order.
  static std::string mend(std::string text) {
    static const std::pair<TextSearch, const char *> kMendings[] = {
        {TextSearch(" ."), "."},    {TextSearch(" ?"), "?"},
        {TextSearch(" !"), "!"},    {TextSearch(" ,"), ","},
        {TextSearch(" ' "), "'"},   {TextSearch(" n't"), "n't"},
        {TextSearch(" 'm"), "'m"},  {TextSearch(" do not"), " don't"},
        {TextSearch(" 's"), "'s"},  {TextSearch(" 've"), "'ve"},
        {TextSearch(" 're"), "'re"}};
    for (const auto &[from, to] : kMendings)
      text = replaceText(from, to, text);
    return text;
  }

  std::string_view prefix;
  bool cleanup;
  uint64_t tokens = 0;
};

class WordSuffix : public DecodeStage {
public:
  explicit WordSuffix(std::shared_ptr<const TextSearch> suffix)
      : suffix(std::move(suffix)) {}

  void push(std::string_view text, bool) override {
    passLast(" ");
    if (mayTake(text))
      last = text;
  }
  void finish() override {
    passLast("");
    next->finish();
  }

private:
  void passLast(std::string_view content) {
    if (last)
      next->push(replaceText(*suffix, content, *last), true);
    last.reset();
  }

  std::shared_ptr<const TextSearch> suffix;
  std::optional<std::string> last;
};

class Spaces : public DecodeStage {
public:
  void push(std::string_view text, bool starts) override {
    if (!mayTake(text))
      return;
    if (hasStarted)
      next->push(" ", true);
    hasStarted = true;
    next->push(text, starts);
  }
  void finish() override {
    hasStarted = false;
    next->finish();
  }

private:
  bool hasStarted = false;
};

} // namespace

std::unique_ptr<DecodeStage> effc::rt::createBytesStage(bool readsCharacters) {
  return std::make_unique<Bytes>(readsCharacters);
}
std::unique_ptr<DecodeStage> effc::rt::createByteFallbackStage() {
  return std::make_unique<ByteFallback>();
}
std::unique_ptr<DecodeStage>
effc::rt::createMetaspaceStage(std::shared_ptr<const TextSearch> mark,
                               bool dropsFirst) {
  return std::make_unique<Metaspace>(std::move(mark), dropsFirst);
}
std::unique_ptr<DecodeStage> effc::rt::createFuseStage() {
  return std::make_unique<Fuse>();
}
std::unique_ptr<DecodeStage>
effc::rt::createReplaceStage(std::shared_ptr<const TextSearch> pattern,
                             std::string_view content) {
  return std::make_unique<Replace>(std::move(pattern), content);
}
std::unique_ptr<DecodeStage>
effc::rt::createStripStage(std::string mark, uint32_t start, uint32_t stop) {
  return std::make_unique<Strip>(std::move(mark), start, stop);
}
std::unique_ptr<DecodeStage>
effc::rt::createWordPieceStage(std::string_view prefix, bool cleanup) {
  return std::make_unique<WordPiece>(prefix, cleanup);
}
std::unique_ptr<DecodeStage>
effc::rt::createWordSuffixStage(std::shared_ptr<const TextSearch> suffix) {
  return std::make_unique<WordSuffix>(std::move(suffix));
}
std::unique_ptr<DecodeStage> effc::rt::createSpacesStage() {
  return std::make_unique<Spaces>();
}
