#include "runtime/src/grammar/Automaton.h"

#include "runtime/src/grammar/Utf8Ranges.h"

#include <algorithm>
#include <map>
#include <set>

using namespace effc::rt;
using namespace effc::rt::grammar;

class Automaton::Builder {
public:
  explicit Builder(const Rules &rules) : rules(rules) {}

  Result<Automaton> run() {
    for (size_t i = 0; i < rules.all.size(); ++i)
      starts.push_back(add());
    for (size_t i = 0; i < rules.all.size() && !isFull(); ++i)
      positions[build(rules.all[i].body, starts[i])].isEnd = true;
    if (isFull())
      return fail(EFFC_UNSUPPORTED, "the grammar takes more than ",
                  kMostPositions, " positions or ", kMostEdges,
                  " edges: expected fewer or smaller repetitions");
    Automaton made;
    made.first = starts[rules.root];
    flatten(made);
    markLast(made);
    classify(made);
    return made;
  }

private:
  struct Position {
    std::vector<ByteEdge> bytes;
    std::vector<CallEdge> calls;
    std::vector<PositionId> nothing;
    bool isEnd = false;
  };

  bool isFull() const {
    return positions.size() > kMostPositions || edges > kMostEdges;
  }
  PositionId add() {
    positions.emplace_back();
    return static_cast<PositionId>(positions.size() - 1);
  }
  void join(PositionId from, PositionId to) {
    ++edges;
    positions[from].nothing.push_back(to);
  }
  void addBytes(PositionId from, uint8_t low, uint8_t high, PositionId to) {
    ++edges;
    positions[from].bytes.push_back({low, high, to});
  }
  void addCall(PositionId from, PositionId start, PositionId to) {
    ++edges;
    positions[from].calls.push_back({start, to});
  }

  /// Builds what follows `from`; returns where it ends. `from` may have other
  /// edges, the end has none.
  PositionId build(const Expression &expression, PositionId from) {
    if (isFull())
      return from;
    switch (expression.kind) {
    case Expression::Kind::Text:
      for (char c : expression.text) {
        PositionId next = add();
        addBytes(from, static_cast<uint8_t>(c), static_cast<uint8_t>(c), next);
        from = next;
      }
      return from;
    case Expression::Kind::Characters:
      return buildCharacters(expression.characters, from);
    case Expression::Kind::Call: {
      PositionId next = add();
      addCall(from, starts[expression.rule], next);
      return next;
    }
    case Expression::Kind::Sequence:
      for (const Expression &part : expression.parts)
        from = build(part, from);
      return from;
    case Expression::Kind::Choice: {
      std::vector<PositionId> ends;
      buildTexts(expression, from, ends);
      for (const Expression &part : expression.parts) {
        if (part.kind == Expression::Kind::Text)
          continue;
        // A position of its own, since a loop may come back to it.
        PositionId begin = add();
        join(from, begin);
        ends.push_back(build(part, begin));
      }
      PositionId end = add();
      for (PositionId each : ends)
        join(each, end);
      return end;
    }
    case Expression::Kind::Repeat:
      return buildRepeat(expression, from);
    }
    return from;
  }

  /// The texts among choices, as a trie: there may be thousands, as of an `enum`.
  void buildTexts(const Expression &expression, PositionId from,
                  std::vector<PositionId> &ends) {
    PositionId root = add();
    std::map<std::pair<PositionId, char>, PositionId> children;
    std::set<PositionId> found;
    for (const Expression &part : expression.parts) {
      if (part.kind != Expression::Kind::Text || isFull())
        continue;
      PositionId at = root;
      for (char c : part.text) {
        auto [child, isNew] = children.try_emplace({at, c}, 0);
        if (isNew) {
          child->second = add();
          addBytes(at, static_cast<uint8_t>(c), static_cast<uint8_t>(c),
                   child->second);
        }
        at = child->second;
      }
      found.insert(at);
    }
    if (!found.empty())
      join(from, root);
    ends.insert(ends.end(), found.begin(), found.end());
  }

  PositionId buildCharacters(const CharacterSet &set, PositionId from) {
    PositionId end = add();
    std::vector<Utf8Range> sequences = utf8RangesOf(set.ranges());
    // Sequences that share their first bytes lie next to each other, but it is the
    // last ones that most have in common: "any continuation".
    PositionId any[Utf8Range::kMost] = {};
    any[0] = end;
    auto rest = [&](const Utf8Range &range, size_t at) {
      PositionId to = end;
      for (size_t i = range.size; i-- > at;) {
        size_t left = range.size - i;
        bool isAny = range.low[i] == 0x80 && range.high[i] == 0xBF &&
                     (i + 1 == range.size || to == any[left - 1]);
        if (isAny && any[left] != 0) {
          to = any[left];
          continue;
        }
        PositionId before = add();
        addBytes(before, range.low[i], range.high[i], to);
        to = before;
        if (isAny)
          any[left] = before;
      }
      return to;
    };
    for (const Utf8Range &range : sequences) {
      if (isFull())
        break;
      addBytes(from, range.low[0], range.high[0], rest(range, 1));
    }
    return end;
  }

  PositionId buildRepeat(const Expression &expression, PositionId from) {
    uint32_t least = expression.least, most = expression.most;
    const Expression &part = expression.parts[0];
    uint32_t copies = most == kNoLimit ? least + 1 : most;
    // What is there several times and takes more than an edge, is called.
    PositionId called = 0;
    if (copies > 1 && !isOneEdge(part)) {
      called = add();
      positions[build(part, called)].isEnd = true;
    }
    auto once = [&](PositionId begin) {
      if (called == 0)
        return build(part, begin);
      PositionId next = add();
      addCall(begin, called, next);
      return next;
    };
    for (uint32_t i = 0; i < least && !isFull(); ++i)
      from = once(from);
    if (most == kNoLimit) {
      PositionId loop = add();
      join(from, loop);
      join(once(loop), loop);
      PositionId end = add();
      join(loop, end);
      return end;
    }
    std::vector<PositionId> ends = {from};
    for (uint32_t i = least; i < most && !isFull(); ++i) {
      PositionId begin = add(); // the part may be a loop
      join(from, begin);
      from = once(begin);
      ends.push_back(from);
    }
    PositionId end = add();
    for (PositionId each : ends)
      join(each, end);
    return end;
  }

  static bool isOneEdge(const Expression &part) {
    using Kind = Expression::Kind;
    if (part.kind == Kind::Text)
      return part.text.size() <= 1;
    if (part.kind == Kind::Characters) {
      std::vector<CodeRange> ranges = part.characters.ranges();
      return ranges.size() <= 4 && ranges.back().last < 0x80;
    }
    return part.kind == Kind::Call;
  }

  void flatten(Automaton &made) const {
    for (const Position &position : positions) {
      auto append = [](auto &all, auto &begins, const auto &own) {
        begins.push_back(static_cast<uint32_t>(all.size()));
        all.insert(all.end(), own.begin(), own.end());
      };
      append(made.bytes, made.byteBegins, position.bytes);
      append(made.calls, made.callBegins, position.calls);
      append(made.nothing, made.nothingBegins, position.nothing);
      made.ends.push_back(position.isEnd);
    }
    made.byteBegins.push_back(static_cast<uint32_t>(made.bytes.size()));
    made.callBegins.push_back(static_cast<uint32_t>(made.calls.size()));
    made.nothingBegins.push_back(static_cast<uint32_t>(made.nothing.size()));
  }

  /// Positions from which nothing but ends can be reached, by nothing.
  void markLast(Automaton &made) const {
    made.lasts = made.ends;
    for (PositionId at = 0; at < positions.size(); ++at)
      if (!positions[at].bytes.empty() || !positions[at].calls.empty() ||
          positions[at].nothing.size() > 0)
        made.lasts[at] = false;
    // Ends come after what leads to them, mostly: two rounds find them.
    for (int round = 0; round < 2; ++round)
      for (PositionId at = static_cast<PositionId>(positions.size());
           at-- > 0;) {
        const Position &position = positions[at];
        if (made.lasts[at] || !position.bytes.empty() ||
            !position.calls.empty() || position.nothing.empty())
          continue;
        made.lasts[at] = std::all_of(
            position.nothing.begin(), position.nothing.end(),
            [&](PositionId next) { return bool(made.lasts[next]); });
      }
  }

  static void classify(Automaton &made) {
    std::array<bool, 257> begins = {};
    begins[0] = true;
    for (const ByteEdge &edge : made.bytes)
      begins[edge.first] = begins[edge.last + 1] = true;
    for (size_t byte = 0; byte < 256; ++byte) {
      if (begins[byte])
        made.examples.push_back(static_cast<uint8_t>(byte));
      made.classes[byte] = static_cast<uint8_t>(made.examples.size() - 1);
    }
  }

  const Rules &rules;
  std::vector<Position> positions;
  std::vector<PositionId> starts; // of rules
  size_t edges = 0;
};

Result<Automaton> Automaton::create(const Rules &rules) {
  return Builder(rules).run();
}
