#include "runtime/src/tokenizer/DecodeStages.h"

#include "runtime/src/tokenizer/ByteAlphabet.h"
#include "runtime/src/tokenizer/Utf8.h"
#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <algorithm>
#include <optional>

using namespace effc::rt;

/// `text` with each `pattern` replaced.
static std::string replaced(std::string_view text, std::string_view pattern,
                            std::string_view content) {
  std::string out;
  size_t at = 0;
  for (size_t found = text.find(pattern); found != std::string_view::npos;
       found = text.find(pattern, at)) {
    out += text.substr(at, found - at);
    out += content;
    at = found + pattern.size();
  }
  out += text.substr(at);
  return out;
}

namespace {

class Bytes : public DecodeStage {
public:
  explicit Bytes(bool readsCharacters) : readsCharacters(readsCharacters) {}

  void push(std::string_view text, bool) override {
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
    if (std::optional<char> byte = readByte(text)) {
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
  /// The library reads the two characters as Rust does: also "+A".
  static std::optional<char> readByte(std::string_view text) {
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
  Metaspace(std::string mark, bool dropsFirst)
      : mark(std::move(mark)), dropsFirst(dropsFirst) {}

  void push(std::string_view text, bool starts) override {
    tokens += starts;
    bool drops = tokens == 1 && dropsFirst;
    next->push(replaced(text, mark, drops ? "" : " "), starts);
  }
  void finish() override {
    tokens = 0;
    next->finish();
  }

private:
  std::string mark;
  bool dropsFirst;
  uint64_t tokens = 0;
};

class Fuse : public DecodeStage {
public:
  void push(std::string_view text, bool) override {
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
  Replace(std::string pattern, std::string content)
      : pattern(std::move(pattern)), content(std::move(content)) {}

  void push(std::string_view text, bool starts) override {
    if (starts)
      flush();
    held += text;
    isFresh |= starts;
    size_t at = 0;
    std::string out;
    for (size_t found = held.find(pattern); found != std::string::npos;
         found = held.find(pattern, at)) {
      out.append(held, at, found - at);
      out += content;
      at = found + pattern.size();
    }
    // The longest end that the pattern may start with has to wait.
    size_t waits = std::min(held.size() - at, pattern.size() - 1);
    while (waits > 0 && !pattern.starts_with(
                            std::string_view(held).substr(held.size() - waits)))
      --waits;
    out.append(held, at, held.size() - waits - at);
    held.erase(0, held.size() - waits);
    pass(out);
  }
  void finish() override {
    flush();
    next->finish();
  }

private:
  /// What waits was no start of the pattern.
  void flush() {
    if (!held.empty())
      pass(std::string(std::move(held)));
    held.clear();
    isFresh = false;
  }
  void pass(const std::string &text) {
    // A token of which all waits is passed on when more is known.
    if (text.empty() && !held.empty())
      return;
    next->push(text, isFresh);
    isFresh = false;
  }

  std::string pattern, content;
  std::string held;     // of the token so far
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
    while (left > 0 && text.starts_with(mark)) {
      text.remove_prefix(mark.size());
      --left;
    }
    if (!text.empty())
      left = 0;
    held += text;
    // The marks at the end may be stripped.
    size_t end = held.size();
    for (uint32_t i = 0; i < stop && end >= mark.size() &&
                         std::string_view(held).substr(0, end).ends_with(mark);
         ++i)
      end -= mark.size();
    std::string out = held.substr(0, end);
    held.erase(0, end);
    next->push(out, isFresh);
    isFresh = false;
  }
  void finish() override {
    endToken();
    next->finish();
  }

private:
  void endToken() { held.clear(); }

  std::string mark;
  uint32_t start, stop;
  uint32_t left = 0; // how many more the start may lose
  std::string held;  // at most `stop` marks
  bool isFresh = false;
};

class WordPiece : public DecodeStage {
public:
  WordPiece(std::string prefix, bool cleanup)
      : prefix(std::move(prefix)), cleanup(cleanup) {}

  void push(std::string_view text, bool starts) override {
    tokens += starts;
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
    constexpr std::pair<const char *, const char *> kMendings[] = {
        {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
        {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
        {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (auto [from, to] : kMendings)
      text = replaced(text, from, to);
    return text;
  }

  std::string prefix;
  bool cleanup;
  uint64_t tokens = 0;
};

class WordSuffix : public DecodeStage {
public:
  explicit WordSuffix(std::string suffix) : suffix(std::move(suffix)) {}

  void push(std::string_view text, bool) override {
    passLast(" ");
    last = text;
  }
  void finish() override {
    passLast("");
    next->finish();
  }

private:
  void passLast(std::string_view content) {
    if (last)
      next->push(replaced(*last, suffix, content), true);
    last.reset();
  }

  std::string suffix;
  std::optional<std::string> last;
};

class Spaces : public DecodeStage {
public:
  void push(std::string_view text, bool starts) override {
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
std::unique_ptr<DecodeStage> effc::rt::createMetaspaceStage(std::string mark,
                                                            bool dropsFirst) {
  return std::make_unique<Metaspace>(std::move(mark), dropsFirst);
}
std::unique_ptr<DecodeStage> effc::rt::createFuseStage() {
  return std::make_unique<Fuse>();
}
std::unique_ptr<DecodeStage> effc::rt::createReplaceStage(std::string pattern,
                                                          std::string content) {
  return std::make_unique<Replace>(std::move(pattern), std::move(content));
}
std::unique_ptr<DecodeStage>
effc::rt::createStripStage(std::string mark, uint32_t start, uint32_t stop) {
  return std::make_unique<Strip>(std::move(mark), start, stop);
}
std::unique_ptr<DecodeStage> effc::rt::createWordPieceStage(std::string prefix,
                                                            bool cleanup) {
  return std::make_unique<WordPiece>(std::move(prefix), cleanup);
}
std::unique_ptr<DecodeStage>
effc::rt::createWordSuffixStage(std::string suffix) {
  return std::make_unique<WordSuffix>(std::move(suffix));
}
std::unique_ptr<DecodeStage> effc::rt::createSpacesStage() {
  return std::make_unique<Spaces>();
}
