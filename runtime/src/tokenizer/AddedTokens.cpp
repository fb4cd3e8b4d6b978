#include "runtime/src/tokenizer/AddedTokens.h"

#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <algorithm>

using namespace effc::rt;
namespace unicode = effc::rt::unicode;

void AddedTokens::Trie::add(std::string_view content, uint32_t token) {
  starts[static_cast<uint8_t>(content[0])] = true;
  uint32_t node = 0;
  for (char c : content) {
    auto byte = static_cast<uint8_t>(c);
    auto &children = nodes[node].children;
    auto at = std::lower_bound(children.begin(), children.end(),
                               std::pair<uint8_t, uint32_t>(byte, 0));
    if (at == children.end() || at->first != byte) {
      uint32_t fresh = static_cast<uint32_t>(nodes.size());
      children.insert(at, {byte, fresh});
      nodes.emplace_back(); // invalidates `children`
      node = fresh;
    } else {
      node = at->second;
    }
  }
  if (nodes[node].token == kNone)
    nodes[node].token = token;
}

std::pair<uint32_t, size_t>
AddedTokens::Trie::longest(std::string_view text) const {
  std::pair<uint32_t, size_t> found = {kNone, 0};
  uint32_t node = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto &children = nodes[node].children;
    auto byte = static_cast<uint8_t>(text[i]);
    auto at = std::lower_bound(children.begin(), children.end(),
                               std::pair<uint8_t, uint32_t>(byte, 0));
    if (at == children.end() || at->first != byte)
      break;
    node = at->second;
    if (nodes[node].token != kNone)
      found = {nodes[node].token, i + 1};
  }
  return found;
}

AddedTokens::AddedTokens(std::vector<AddedToken> given)
    : tokens(std::move(given)) {
  std::sort(tokens.begin(), tokens.end(),
            [](const AddedToken &a, const AddedToken &b) {
              return a.id != b.id ? a.id < b.id : a.content < b.content;
            });
  for (uint32_t i = 0; i < tokens.size(); ++i)
    (tokens[i].normalized ? normalized : raw)
        .add(tokens[i].spelling.empty() ? tokens[i].content
                                        : tokens[i].spelling,
             i);
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

/// How many bytes of white space `text` starts with.
static size_t leadingSpace(std::string_view text) {
  size_t count = 0;
  while (count < text.size() && isSpace(text.substr(count)))
    count += unicode::decode(text.substr(count)).bytes;
  return count;
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
                                         const Trie &trie, bool plain) const {
  std::vector<TextPart> parts;
  size_t taken = 0; // up to here the text has been given to a part
  for (size_t at = 0; at < text.size();) {
    if (!trie.mayStart(text[at])) {
      ++at;
      continue;
    }
    auto [index, length] = trie.longest(text.substr(at));
    if (length == 0) {
      ++at;
      continue;
    }
    const AddedToken &token = tokens[index];
    size_t begin = at, end = at + length;
    at = end;
    if (plain && token.special)
      continue;
    if (token.singleWord &&
        (endsInWord(text.substr(0, begin)) || startsWithWord(text.substr(end))))
      continue;
    if (token.leftStrip)
      begin = trailingSpace(text.substr(0, begin), taken);
    if (token.rightStrip)
      end += leadingSpace(text.substr(end));
    if (begin > taken)
      parts.push_back({text.substr(taken, begin - taken)});
    end = std::max(begin, end);
    parts.push_back({text.substr(begin, end - begin), token.id});
    taken = end; // back again, if the token before took this one's space
  }
  if (taken < text.size())
    parts.push_back({text.substr(taken)});
  return parts;
}
