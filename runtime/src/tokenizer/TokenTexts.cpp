#include "runtime/src/tokenizer/TokenTexts.h"

#include <algorithm>

using namespace effc::rt;

TokenTexts::TokenTexts(std::span<const std::string> texts, bool dropsFirstSpace)
    : dropsSpace(dropsFirstSpace) {
  for (size_t id = 0; id < texts.size(); ++id) {
    bytes += texts[id];
    ends.push_back(bytes.size());
    if (!texts[id].empty())
      order.push_back(static_cast<int32_t>(id));
  }
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    std::string_view first = of(a), second = of(b);
    return first != second ? first < second : a < b;
  });
  std::vector<uint32_t> path; // the nodes of the token before
  std::string_view before;
  // Nodes down to `depth` stay open; those below end here.
  auto closeTo = [&](size_t depth) {
    for (; path.size() > depth; path.pop_back())
      all[path.back()].end = static_cast<uint32_t>(all.size());
  };
  for (size_t i = 0; i < order.size(); ++i) {
    std::string_view text = of(order[i]);
    size_t common = static_cast<size_t>(
        std::mismatch(before.begin(), before.end(), text.begin(), text.end())
            .first -
        before.begin());
    closeTo(std::min(common, path.size()));
    // Depths are counted in 16 bits; no published token has a thousand bytes.
    size_t most = std::min<size_t>(text.size(), UINT16_MAX);
    for (size_t at = path.size(); at < most; ++at) {
      path.push_back(static_cast<uint32_t>(all.size()));
      all.push_back({0, static_cast<uint32_t>(i), static_cast<uint16_t>(at + 1),
                     static_cast<uint8_t>(text[at])});
    }
    deepest = std::max(deepest, path.size());
    before = text.substr(0, most);
  }
  closeTo(0);
  all.push_back({static_cast<uint32_t>(all.size()),
                 static_cast<uint32_t>(order.size()), 0, 0});
  space = nodes().size();
  for (size_t at = 0; at < nodes().size(); at = all[at].end)
    if (all[at].byte == ' ')
      space = at;
}
