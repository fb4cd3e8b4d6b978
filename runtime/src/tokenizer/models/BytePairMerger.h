//===- BytePairMerger.h - Byte-pair encoding by rank ----------------------===//
//
// A piece starts as one token per byte; the pair of neighbours with the best
// rank is replaced by its merge, the leftmost of several, until no pair has
// one. Pairs wait in a heap over a linked list, so a piece of n bytes takes O(n
// log n) whatever it holds.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_MODELS_BYTEPAIRMERGER_H
#define EFFC_RUNTIME_SRC_TOKENIZER_MODELS_BYTEPAIRMERGER_H

#include <cstdint>
#include <span>
#include <vector>

namespace effc::rt {

class BytePairMerger {
public:
  struct Merge {
    int32_t left, right, merged;
  };

  /// `merges` by rank, best first; ids are not negative. Of two merges of one
  /// pair the better counts.
  explicit BytePairMerger(std::span<const Merge> merges);

  /// Memory that calls reuse; one per thread.
  struct Workspace {
    struct Symbol {
      int32_t token;
      uint32_t previous, next; // positions in the list; kNone at its ends
    };
    struct Candidate {
      uint32_t rank;
      uint32_t position;   // of the left symbol
      int32_t left, right; // what stood there when it was found
    };
    std::vector<Symbol> symbols;
    std::vector<Candidate> heap;
  };

  /// Of the table, places that are taken in a row: what a pair may be compared
  /// with.
  size_t longestRow() const;

  /// Merges `tokens` in place as far as it goes.
  void merge(std::vector<int32_t> &tokens, Workspace &workspace) const;

private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Slot { // of an open-addressed table of pairs
    int32_t left = -1, right = -1;
    int32_t merged = 0;
    uint32_t rank = 0;
  };
  const Slot *find(int32_t left, int32_t right) const;
  size_t slotOf(int32_t left, int32_t right) const;
  void push(Workspace &workspace, uint32_t position) const;

  std::vector<Slot> table; // a power of two, at most half full
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_MODELS_BYTEPAIRMERGER_H
