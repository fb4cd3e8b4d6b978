#include "runtime/src/tokenizer/models/BytePairMerger.h"

#include "runtime/src/tokenizer/TakenRow.h"

#include <algorithm>
#include <bit>

using namespace effc::rt;

BytePairMerger::BytePairMerger(std::span<const Merge> merges)
    : table(std::bit_ceil(std::max<size_t>(2 * merges.size(), 2))) {
  for (uint32_t rank = 0; rank < merges.size(); ++rank) {
    const Merge &merge = merges[rank];
    size_t at = slotOf(merge.left, merge.right);
    if (table[at].left < 0)
      table[at] = {merge.left, merge.right, merge.merged, rank};
  }
}

size_t BytePairMerger::longestRow() const {
  return longestTakenRow(table,
                         [](const Slot &slot) { return slot.left >= 0; });
}

/// Where the pair is, or the empty slot where it would be.
size_t BytePairMerger::slotOf(int32_t left, int32_t right) const {
  uint64_t pair = uint64_t(uint32_t(left)) << 32 | uint32_t(right);
  pair = (pair ^ (pair >> 29)) * 0xBF58476D1CE4E5B9u;
  size_t mask = table.size() - 1;
  size_t at = (pair ^ (pair >> 32)) & mask;
  while (table[at].left >= 0 &&
         (table[at].left != left || table[at].right != right))
    at = (at + 1) & mask;
  return at;
}

const BytePairMerger::Slot *BytePairMerger::find(int32_t left,
                                                 int32_t right) const {
  const Slot &slot = table[slotOf(left, right)];
  return slot.left >= 0 ? &slot : nullptr;
}

/// A heap's greatest comes first: the best rank, the leftmost.
static bool comesLater(const BytePairMerger::Workspace::Candidate &a,
                       const BytePairMerger::Workspace::Candidate &b) {
  return a.rank != b.rank ? a.rank > b.rank : a.position > b.position;
}

/// Queues the pair of the symbol at `position` and the next one, if it merges.
void BytePairMerger::push(Workspace &workspace, uint32_t position) const {
  const auto &symbols = workspace.symbols;
  if (position == kNone || symbols[position].next == kNone)
    return;
  int32_t left = symbols[position].token;
  int32_t right = symbols[symbols[position].next].token;
  if (const Slot *slot = find(left, right)) {
    workspace.heap.push_back({slot->rank, position, left, right});
    std::push_heap(workspace.heap.begin(), workspace.heap.end(), comesLater);
  }
}

void BytePairMerger::merge(std::vector<int32_t> &tokens,
                           Workspace &workspace) const {
  auto &symbols = workspace.symbols;
  auto &heap = workspace.heap;
  symbols.clear();
  heap.clear();
  uint32_t count = static_cast<uint32_t>(tokens.size());
  for (uint32_t i = 0; i < count; ++i)
    symbols.push_back(
        {tokens[i], i == 0 ? kNone : i - 1, i + 1 == count ? kNone : i + 1});
  for (uint32_t i = 0; i < count; ++i)
    push(workspace, i);

  constexpr int32_t kGone = -1;
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), comesLater);
    Workspace::Candidate candidate = heap.back();
    heap.pop_back();
    Workspace::Symbol &left = symbols[candidate.position];
    // Either side may have been merged since.
    if (left.token != candidate.left || left.next == kNone ||
        symbols[left.next].token != candidate.right)
      continue;
    Workspace::Symbol &right = symbols[left.next];
    left.token = find(candidate.left, candidate.right)->merged;
    right.token = kGone;
    left.next = right.next;
    if (left.next != kNone)
      symbols[left.next].previous = candidate.position;
    push(workspace, left.previous);
    push(workspace, candidate.position);
  }

  tokens.clear();
  for (const Workspace::Symbol &symbol : symbols)
    if (symbol.token != kGone)
      tokens.push_back(symbol.token);
}
