#include "runtime/src/tokenizer/TokenTrie.h"

#include <algorithm>

using namespace effc::rt;

TokenTrie::TokenTrie(std::vector<Text> tokens, bool keepsLast) {
  std::sort(tokens.begin(), tokens.end());
  nodes.push_back({0, 0, 0, -1});
  struct Range {
    uint32_t node;
    size_t begin, end, depth;
  };
  std::vector<Range> ranges = {{kRoot, 0, tokens.size(), 0}}, deeper;
  // Each range of tokens that share `depth` bytes is a node.
  for (; !ranges.empty(); ranges.swap(deeper), deeper.clear())
    for (auto [node, begin, end, depth] : ranges) {
      size_t whole = begin; // those of exactly these bytes come first
      while (whole < end && tokens[whole].first.size() == depth)
        ++whole;
      if (whole > begin)
        nodes[node].token = tokens[keepsLast ? whole - 1 : begin].second;
      begin = whole;
      nodes[node].first = static_cast<uint32_t>(nodes.size());
      while (begin < end) {
        auto byte = static_cast<uint8_t>(tokens[begin].first[depth]);
        size_t stop = begin;
        while (stop < end &&
               static_cast<uint8_t>(tokens[stop].first[depth]) == byte)
          ++stop;
        deeper.push_back(
            {static_cast<uint32_t>(nodes.size()), begin, stop, depth + 1});
        nodes.push_back({0, 0, byte, -1});
        ++nodes[node].count;
        begin = stop;
      }
    }
}
