#include "runtime/src/tokenizer/AddedTokens.h"

#include "runtime/src/tokenizer/Pattern.h"

#include <algorithm>

using namespace effc::rt;

void AddedTokens::Trie::add(std::string_view content, uint32_t token) {
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
    (tokens[i].normalized ? normalized : raw).add(tokens[i].content, i);
}

const AddedToken *AddedTokens::find(int32_t id) const {
  auto at = std::lower_bound(tokens.begin(), tokens.end(), id,
                             [](const AddedToken &token, int32_t wanted) {
                               return token.id < wanted;
                             });
  return at != tokens.end() && at->id == id ? &*at : nullptr;
}

void AddedTokens::splitPart(std::string_view text, const Trie &trie, bool plain,
                            std::vector<TextPart> &parts) const {
  size_t taken = 0; // up to here the text has been given to a part
  for (size_t at = 0; at < text.size();) {
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
    if (token.singleWord && (endsInWordCharacter(text.substr(0, begin)) ||
                             startsWithWordCharacter(text.substr(end))))
      continue;
    if (token.leftStrip)
      begin = std::max(begin - trailingSpace(text.substr(0, begin)), taken);
    if (token.rightStrip)
      end += leadingSpace(text.substr(end));
    if (begin > taken)
      parts.push_back({text.substr(taken, begin - taken)});
    parts.push_back({text.substr(begin, end - begin), token.id});
    taken = std::max(taken, end);
  }
  if (taken < text.size())
    parts.push_back({text.substr(taken)});
}

std::vector<TextPart> AddedTokens::split(std::string_view text,
                                         bool plain) const {
  std::vector<TextPart> first, parts;
  splitPart(text, raw, plain, first);
  for (const TextPart &part : first)
    if (part.id >= 0)
      parts.push_back(part);
    else
      splitPart(part.text, normalized, plain, parts);
  return parts;
}
