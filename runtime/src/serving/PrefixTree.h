//===- PrefixTree.h - States of prefixes, by their tokens -----------------===//
//
// A tree whose edges are runs of tokens, so that a node stands for the text from
// its root to it. Edges have the rows of their tokens in growing states, nodes the
// states of a fixed size:
//
//   root ──"You are a helpful"──> n1 ──" bot. Hi"──> n2 (states of 9 tokens)
//                                  └───" cat. Who"──> n3 (states of 9 tokens)
//
// A sequence can go on from n2: its states are those of n2 and the rows of both
// edges. n1 has none, as nobody has copied a sequence there. Of a model in which
// nothing is fixed, any position of any edge will do.
//
// Every salt has a root of its own. The sum of all that is kept stays within a
// budget: what is worth least is given up (Greedy-Dual-Size-Frequency).
//
// Pure data: knows no engine and no clock, and the same calls give the same tree.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SERVING_PREFIXTREE_H
#define EFFC_RUNTIME_SRC_SERVING_PREFIXTREE_H

#include "runtime/src/Exactness.h"
#include "runtime/src/StateCopies.h"
#include "runtime/src/serving/EvictedPrefixes.h"

#include <map>
#include <string>

namespace effc::rt {

/// What a tree has of a text.
struct PrefixMatch {
  uint64_t matched = 0;  // its first tokens that the tree has, too
  uint64_t position = 0; // the last place to go on from, not above `matched`
  uint64_t inexact = 0;  // one behind it where other bits would follow; 0: none
  uint64_t evicted = 0;  // until where the tree once had states; 0: not beyond
  bool isExact =
      true; // that going on from `position` has the bits of a cold run
  bool isNewSalt = false; // there is nothing under this salt, but under others
  CopiedStates states;    // at `position`; without code names
};

class PrefixTree {
public:
  /// What a node takes besides tokens and states.
  static constexpr uint64_t kNodeBytes = 256;

  PrefixTree(const CopyLayout &layout, uint64_t budget)
      : layout(layout), budget(budget) {}
  PrefixTree(const PrefixTree &) = delete;
  PrefixTree &operator=(const PrefixTree &) = delete;
  ~PrefixTree();

  /// What there is for `tokens` up to position `most`. `takesInexact`: the last
  /// place at all; else the last one that is exact.
  PrefixMatch find(std::string_view salt, std::span<const int32_t> tokens,
                   uint64_t most, const Exactness &exactness,
                   bool takesInexact = false) const;
  /// Counts a use of what find() has found.
  void use(std::string_view salt, std::span<const int32_t> tokens,
           uint64_t position);

  /// What a copy of a sequence that has taken `tokens` needs for the tree.
  struct Gap {
    bool isKept = false;   // nothing: its states are there
    uint64_t firstRow = 0; // the first token whose rows are missing
    uint64_t bytes = 0;    // that it would add
  };
  Gap gapOf(std::string_view salt, std::span<const int32_t> tokens) const;
  /// Gives up what is worth least until `more` bytes fit, but nothing that a gap of
  /// `tokens` relies on. False where they cannot.
  bool makeRoom(std::string_view salt, std::span<const int32_t> tokens,
                uint64_t more);
  /// Takes a copy that fills the gap of `tokens`. `byPrefill`: that is how all of
  /// them were taken. `uses`: how often it counts as used.
  void put(std::string_view salt, std::span<const int32_t> tokens,
           const CopiedStates &copy, bool byPrefill, uint64_t uses = 1);

  uint64_t bytes() const { return total; }
  uint64_t places() const { return kept; }
  uint64_t evictions() const { return evicted.count(); }

  /// Whether everything adds up; for tests.
  bool isSound() const;

private:
  struct Node {
    Node *parent = nullptr;
    std::vector<int32_t> tokens; // of the edge that leads here
    uint64_t depth = 0;          // tokens from the root
    uint64_t hash = 0;           // of salt and tokens
    std::map<int32_t, std::unique_ptr<Node>> children; // by their first token
    std::vector<SharedRows> rows;                      // of the edge's tokens
    std::shared_ptr<const CopiedBytes> fixed;
    bool isPlace = false; // sequences go on from here
    // How the edge's tokens were taken, and those of the sequence whose fixed
    // states these are.
    bool byPrefill = false, fixedByPrefill = true;
    uint64_t uses = 0;
    uint64_t clock = 0;  // of the tree when it was used last
    uint64_t number = 0; // by age
  };
  using Roots = std::map<std::string, std::unique_ptr<Node>, std::less<>>;

  /// Nodes from below the root, each edge of which begins with tokens of a text;
  /// the last one may share but a part of its edge.
  struct Path {
    std::vector<Node *> nodes;
    uint64_t matched = 0;
  };
  Path pathOf(std::string_view salt, std::span<const int32_t> tokens) const;
  std::vector<SharedRows> rowsUntil(const Path &path, uint64_t position) const;
  bool isPlace(const Path &path, size_t index, uint64_t position,
               std::vector<SharedRows> &rows) const;
  uint64_t firstRowMissing(const Path &path, uint64_t position) const;
  Node *cutEdge(Node &node, uint64_t depth);
  Node *addLeaf(Node &parent, std::span<const int32_t> tokens);
  void giveRows(Node &node, std::vector<SharedRows> rows);
  void giveFixed(Node &node, std::shared_ptr<const CopiedBytes> fixed);
  static uint64_t bytesOf(const std::vector<SharedRows> &rows);
  static uint64_t costOf(const Node &node);
  bool isCandidate(const Node &node) const;
  uint64_t freedBy(const Node &node) const;
  uint64_t worthOf(const Node &node) const;
  void makePlace(Node &node);
  std::vector<Node *> allNodes() const;
  void evict(Node &node);
  void prune(Node *node);

  const CopyLayout &layout;
  const uint64_t budget;
  Roots roots;
  EvictedPrefixes evicted;
  uint64_t total = 0, kept = 0, clock = 0, numbers = 0;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SERVING_PREFIXTREE_H
