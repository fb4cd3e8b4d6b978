//===- Automaton.h - Rules as edges over bytes ----------------------------===//
//
// Each rule becomes positions with three kinds of edges: over a range of bytes, by
// nothing, and over a text of another rule (a call, which returns to the edge's
// target). A character is the bytes of its UTF-8. What is repeated several times
// and takes more than a byte is called like a rule, so that it is there once.
//
//   digits ::= [0-9]{1,2}     ─0-9─> p1 ─0-9─> p2 (end)
//                                    └─nothing──^
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_GRAMMAR_AUTOMATON_H
#define EFFC_RUNTIME_SRC_GRAMMAR_AUTOMATON_H

#include "runtime/src/grammar/Rules.h"

#include <array>
#include <span>

namespace effc::rt::grammar {

using PositionId = uint32_t;

class Automaton {
public:
  /// Positions of all rules together: 30 MiB.
  static constexpr size_t kMostPositions = size_t(1) << 18;
  static constexpr size_t kMostEdges = size_t(1) << 20;

  struct ByteEdge {
    uint8_t first, last;
    PositionId target;
  };
  struct CallEdge {
    PositionId start;  // of what is called
    PositionId target; // where the caller goes on
  };

  /// `rules` have passed checkRules(). EFFC_UNSUPPORTED: they take more positions.
  static Result<Automaton> create(const Rules &rules);

  PositionId start() const { return first; }
  std::span<const ByteEdge> byteEdges(PositionId at) const {
    return spanOf(bytes, byteBegins, at);
  }
  std::span<const CallEdge> callEdges(PositionId at) const {
    return spanOf(calls, callBegins, at);
  }
  std::span<const PositionId> jumps(PositionId at) const {
    return spanOf(nothing, nothingBegins, at);
  }
  /// Whether a rule's text may end here.
  bool isEnd(PositionId at) const { return ends[at]; }
  /// Whether nothing but the end can follow, so that who calls from before here
  /// need not be returned to.
  bool isLast(PositionId at) const { return lasts[at]; }

  /// Bytes that no edge tells apart have one class.
  uint8_t classOf(uint8_t byte) const { return classes[byte]; }
  size_t classCount() const { return examples.size(); }
  /// A byte of that class.
  uint8_t exampleOf(size_t byteClass) const { return examples[byteClass]; }

private:
  class Builder;

  template <typename Edge>
  static std::span<const Edge> spanOf(const std::vector<Edge> &edges,
                                      const std::vector<uint32_t> &begins,
                                      PositionId at) {
    return std::span(edges).subspan(begins[at], begins[at + 1] - begins[at]);
  }

  PositionId first = 0;
  std::vector<ByteEdge> bytes;
  std::vector<CallEdge> calls;
  std::vector<PositionId> nothing;
  std::vector<uint32_t> byteBegins, callBegins, nothingBegins;
  std::vector<bool> ends, lasts;
  std::array<uint8_t, 256> classes = {};
  std::vector<uint8_t> examples;
};

} // namespace effc::rt::grammar

#endif // EFFC_RUNTIME_SRC_GRAMMAR_AUTOMATON_H
