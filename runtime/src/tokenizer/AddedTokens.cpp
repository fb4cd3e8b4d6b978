#include "runtime/src/tokenizer/AddedTokens.h"

#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <algorithm>

using namespace effc::rt;
namespace unicode = effc::rt::unicode;

/// The texts backwards, with what keeps them.
static TokenTrie
backwards(const std::vector<std::pair<std::string_view, uint32_t>> &texts) {
  std::vector<std::string> kept;
  kept.reserve(texts.size()); // so that none moves
  std::vector<TokenTrie::Text> turned;
  for (auto [text, token] : texts) {
    kept.emplace_back(text.rbegin(), text.rend());
    turned.emplace_back(kept.back(), static_cast<int32_t>(token));
  }
  return TokenTrie(std::move(turned), /*keepsLast=*/false);
}

AddedTokens::Automaton::Automaton(
    const std::vector<std::pair<std::string_view, uint32_t>> &texts)
    : trie(backwards(texts)), shorter(trie.size()), longest(trie.size(), -1) {
  // Parents come before their children, and shorter texts before longer ones.
  for (uint32_t node = 0; node < trie.size(); ++node) {
    longest[node] =
        trie.tokenAt(node) >= 0 ? trie.tokenAt(node) : longest[shorter[node]];
    auto [first, count] = trie.childrenOf(node);
    for (uint32_t child = first; child < first + count; ++child) {
      uint8_t byte = trie.byteOf(child);
      if (node == TokenTrie::kRoot) {
        ends[byte] = true;
        continue; // nothing but the root is shorter
      }
      uint32_t at = shorter[node];
      uint32_t next = trie.child(at, byte);
      while (next == TokenTrie::kNone && at != TokenTrie::kRoot) {
        at = shorter[at];
        next = trie.child(at, byte);
      }
      shorter[child] = next == TokenTrie::kNone ? TokenTrie::kRoot : next;
    }
  }
}

std::vector<AddedTokens::Found>
AddedTokens::Automaton::findAll(std::string_view text) const {
  std::vector<Found> found;
  uint32_t node = TokenTrie::kRoot;
  for (size_t at = text.size(); at-- > 0;) {
    auto byte = static_cast<uint8_t>(text[at]);
    if (node == TokenTrie::kRoot && !ends[byte])
      continue;
    uint32_t next = trie.child(node, byte);
    while (next == TokenTrie::kNone && node != TokenTrie::kRoot) {
      node = shorter[node];
      next = trie.child(node, byte);
    }
    node = next == TokenTrie::kNone ? TokenTrie::kRoot : next;
    if (longest[node] >= 0)
      found.push_back(
          {static_cast<uint32_t>(at), static_cast<uint32_t>(longest[node])});
  }
  return found;
}

AddedTokens::AddedTokens(std::vector<AddedToken> given)
    : tokens(std::move(given)) {
  std::sort(tokens.begin(), tokens.end(),
            [](const AddedToken &a, const AddedToken &b) {
              return a.id != b.id ? a.id < b.id : a.content < b.content;
            });
  std::vector<std::pair<std::string_view, uint32_t>> rounds[2];
  for (uint32_t i = 0; i < tokens.size(); ++i)
    rounds[tokens[i].normalized].emplace_back(spellingOf(tokens[i]), i);
  raw = Automaton(rounds[0]);
  normalized = Automaton(rounds[1]);
}

static bool isWord(std::string_view character) {
  return unicode::lookUp(unicode::decode(character).character)
      .is(unicode::Word);
}

static bool endsInWord(std::string_view text) {
  return !text.empty() && isWord(text.substr(unicode::lastStart(text)));
}

static bool startsWithWord(std::string_view text) {
  return !text.empty() && isWord(text);
}

static bool isSpace(std::string_view character) {
  return unicode::lookUp(unicode::decode(character).character)
      .is(unicode::White);
}

/// Where the white space ends that `text` has from `from` on.
static size_t endOfSpace(std::string_view text, size_t from) {
  while (from < text.size() && isSpace(text.substr(from)))
    from += unicode::decode(text.substr(from)).bytes;
  return from;
}

/// Where the white space at the end of `text` starts, but not before `least`.
static size_t trailingSpace(std::string_view text, size_t least) {
  size_t left = text.size();
  while (left > least) {
    size_t at = unicode::lastStart(text.substr(0, left));
    if (!isSpace(text.substr(at)))
      break;
    left = at;
  }
  return std::max(left, least);
}

std::vector<TextPart> AddedTokens::split(std::string_view text,
                                         const Automaton &automaton,
                                         const PlainSpans &plain,
                                         Budget &budget) const {
  std::vector<TextPart> parts;
  if (!automaton.isEmpty()) {
    constexpr uint64_t kStepsEach = 2; // forth, and back to what is shorter
    if (!budget.spend(kStepsEach * text.size()))
      return parts;
    std::vector<Found> found = automaton.findAll(text);
    cut(text, found, plain, parts);
  } else if (!text.empty()) {
    parts.push_back({text});
  }
  return parts;
}

void AddedTokens::cut(std::string_view text, const std::vector<Found> &found,
                      const PlainSpans &plain,
                      std::vector<TextPart> &parts) const {
  size_t taken = 0; // up to here the text has been given to a part
  size_t at = 0;    // up to here it has been looked through
  // The white space that was last looked through: tokens may lie in it, each of
  // which takes what follows.
  size_t spaceBegin = 0, spaceEnd = 0;
  for (size_t i = found.size(); i-- > 0;) {
    if (found[i].begin < at)
      continue; // inside of the one before
    const AddedToken &token = tokens[found[i].token];
    size_t begin = found[i].begin, end = begin + spellingOf(token).size();
    at = end;
    if (token.special && plain.touch(begin, end)) {
      // One that is begun in a span hides none that begins behind the span.
      if (!plain.cover(begin, end))
        at = begin + 1;
      continue;
    }
    if (token.singleWord &&
        (endsInWord(text.substr(0, begin)) || startsWithWord(text.substr(end))))
      continue;
    if (token.leftStrip)
      begin = trailingSpace(text.substr(0, begin), taken);
    if (token.rightStrip) {
      if (end < spaceBegin || end > spaceEnd) {
        spaceBegin = end;
        spaceEnd = endOfSpace(text, end);
      }
      end = spaceEnd;
    }
    if (begin > taken)
      parts.push_back({text.substr(taken, begin - taken)});
    end = std::max(begin, end);
    parts.push_back({text.substr(begin, end - begin), token.id, token.special});
    taken = end; // back again, if the token before took this one's space
  }
  if (taken < text.size())
    parts.push_back({text.substr(taken)});
}
