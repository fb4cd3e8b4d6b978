// Pattern::compile: from a tree to the instructions of the matcher.

#include "runtime/schema/TokenizerLimits.h"
#include "runtime/src/tokenizer/Utf8.h"
#include "runtime/src/tokenizer/pattern/Pattern.h"
#include "runtime/src/tokenizer/pattern/PatternParser.h"
#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <optional>
#include <span>

namespace effc::rt {

static constexpr size_t kMaxInstructions = 1 << 18;
/// How often the compiler may look at a node of the tree. Counts within counts
/// multiply, also where what they repeat is nothing.
static constexpr uint64_t kMaxVisits = 1 << 22;

class PatternCompiler {
public:
  PatternCompiler(Pattern &pattern, ParsedPattern parsed)
      : pattern(pattern), root(std::move(parsed.root)) {
    pattern.sets = std::move(parsed.sets);
  }

  Check run() {
    if (std::optional<std::string> exact = textOf(root)) {
      pattern.exact.emplace(std::move(*exact));
      pattern.sets.clear();
      return {};
    }
    First first = firstOf(root);
    pattern.first = first.bytes;
    pattern.mayBeEmpty = first.mayBeEmpty;
    write(root);
    emit({Op::Match});
    if (!problem.empty())
      return badData(problem);
    return {};
  }

  /// How often a node has been looked at.
  uint64_t getVisits() const { return visits; }

private:
  using Op = Pattern::Op;
  using Node = PatternNode;

  /// The one text that matches, where there is only one.
  std::optional<std::string> textOf(const Node &node) const {
    std::string text;
    if (node.kind == Node::Set) {
      std::optional<char32_t> only = pattern.sets[node.set].getOnly();
      if (!only)
        return std::nullopt;
      unicode::append(*only, text);
      return text;
    }
    if (node.kind != Node::Sequence || node.children.empty())
      return std::nullopt;
    for (const Node &child : node.children) {
      std::optional<std::string> part = textOf(child);
      if (!part)
        return std::nullopt;
      text += *part;
    }
    return text;
  }

  /// What a match may start with: bytes of ASCII, and always all others.
  struct First {
    Pattern::Ascii bytes = {};
    bool mayBeEmpty = false;
    void add(const Pattern::Ascii &more) {
      bytes[0] |= more[0];
      bytes[1] |= more[1];
    }
  };

  First firstOf(const Node &node) {
    First first;
    if (!visit())
      return first;
    switch (node.kind) {
    case Node::Set:
      first.bytes = pattern.sets[node.set].getAscii();
      return first;
    case Node::Sequence:
      first.mayBeEmpty = true;
      for (const Node &child : node.children) {
        First next = firstOf(child);
        first.add(next.bytes);
        if (!next.mayBeEmpty) {
          first.mayBeEmpty = false;
          break;
        }
      }
      return first;
    case Node::Alternation:
      for (const Node &child : node.children) {
        First next = firstOf(child);
        first.add(next.bytes);
        first.mayBeEmpty |= next.mayBeEmpty;
      }
      return first;
    case Node::Repeat:
      first = firstOf(node.children[0]);
      first.mayBeEmpty |= node.least == 0;
      return first;
    case Node::Look:
      first.mayBeEmpty = true;
      return first;
    case Node::Atomic:
      return firstOf(node.children[0]);
    }
    return first;
  }

  /// How many characters a match has, if always the same.
  std::optional<uint32_t> lengthOf(const Node &node) {
    if (!visit())
      return std::nullopt;
    switch (node.kind) {
    case Node::Set:
      return 1;
    case Node::Sequence: {
      uint64_t sum = 0;
      for (const Node &child : node.children) {
        std::optional<uint32_t> length = lengthOf(child);
        if (!length)
          return std::nullopt;
        sum += *length;
      }
      return sum <= UINT16_MAX ? std::optional<uint32_t>(sum) : std::nullopt;
    }
    case Node::Alternation: {
      std::optional<uint32_t> common = lengthOf(node.children[0]);
      for (const Node &child : node.children)
        if (lengthOf(child) != common)
          return std::nullopt;
      return common;
    }
    case Node::Repeat: {
      std::optional<uint32_t> length = lengthOf(node.children[0]);
      uint64_t product = length ? uint64_t(*length) * node.least : 0;
      if (!length || node.least != node.most || product > UINT16_MAX)
        return std::nullopt;
      return product;
    }
    case Node::Look:
      return 0;
    case Node::Atomic:
      return lengthOf(node.children[0]);
    }
    return std::nullopt;
  }

  uint32_t emit(Pattern::Instruction instruction) {
    if (pattern.program.size() >= kMaxInstructions)
      problem = kTooMuch;
    else
      pattern.program.push_back(instruction);
    return static_cast<uint32_t>(pattern.program.size() - 1);
  }
  uint32_t here() const {
    return static_cast<uint32_t>(pattern.program.size());
  }
  void land(uint32_t instruction) {
    pattern.program[instruction].target = here();
  }

  /// Whether there may be one more.
  bool visit() {
    if (visits == kMaxVisits)
      problem = kTooMuch;
    else
      ++visits;
    return problem.empty();
  }

  void write(const Node &node) {
    if (!problem.empty() || !visit())
      return;
    switch (node.kind) {
    case Node::Set:
      emit({.op = Op::Set, .set = node.set});
      return;
    case Node::Sequence:
      for (const Node &child : node.children)
        write(child);
      return;
    case Node::Alternation:
      return writeAlternatives(node.children, /*isBehind=*/false);
    case Node::Repeat:
      return writeRepeat(node, node.repetition);
    case Node::Look:
      return writeLook(node);
    case Node::Atomic:
      return writeInside({.op = Op::Atomic}, node.children[0]);
    }
  }

  /// With `isBehind`, each alternative first goes back by its length.
  void writeAlternatives(std::span<const Node> alternatives, bool isBehind) {
    std::vector<uint32_t> ends;
    for (size_t i = 0; i < alternatives.size(); ++i) {
      bool isLast = i + 1 == alternatives.size();
      uint32_t fork = 0;
      if (!isLast && isBehind)
        fork = emit({.op = Op::Fork});
      else if (!isLast)
        fork = writeTry(alternatives[i]);
      if (isBehind)
        writeBack(alternatives[i]);
      write(alternatives[i]);
      if (!problem.empty())
        return;
      if (isLast)
        break;
      ends.push_back(emit({.op = Op::Jump}));
      land(fork);
    }
    for (uint32_t end : ends)
      land(end);
  }

  uint32_t writeTry(const Node &alternative) {
    First first = firstOf(alternative);
    if (first.mayBeEmpty)
      return emit({.op = Op::Fork});
    pattern.firsts.push_back(first.bytes);
    return emit({.op = Op::Try,
                 .set = static_cast<uint32_t>(pattern.firsts.size() - 1)});
  }

  void writeBack(const Node &alternative) {
    if (std::optional<uint32_t> length = lengthOf(alternative))
      emit({.op = Op::Back, .least = *length});
    else
      problem = "a look behind at something of no fixed length";
  }

  void writeInside(Pattern::Instruction opening, const Node &inside) {
    uint32_t begin = emit(opening);
    write(inside);
    endInside(begin);
  }

  void endInside(uint32_t begin) {
    emit({Op::Match});
    if (problem.empty())
      land(begin);
  }

  void writeLook(const Node &node) {
    uint32_t begin = emit({.op = Op::Look, .negative = node.negative});
    const Node &inside = node.children[0];
    if (!node.behind)
      write(inside);
    else if (inside.kind == Node::Alternation)
      writeAlternatives(inside.children, /*isBehind=*/true);
    else
      writeAlternatives(std::span(&inside, 1), /*isBehind=*/true);
    endInside(begin);
  }

  void writeRepeat(const Node &node, Repetition repetition) {
    const Node &child = node.children[0];
    if (child.kind == Node::Set) {
      Op op = repetition == Repetition::Greedy ? Op::Loop
              : repetition == Repetition::Lazy ? Op::LazyLoop
                                               : Op::TightLoop;
      emit(
          {.op = op, .set = child.set, .least = node.least, .most = node.most});
      return;
    }
    if (repetition == Repetition::Possessive) {
      uint32_t begin = emit({.op = Op::Atomic});
      writeRepeat(node, Repetition::Greedy);
      return endInside(begin);
    }
    Op fork = repetition == Repetition::Lazy ? Op::LazyFork : Op::Fork;
    for (uint32_t i = 0; i < node.least && problem.empty(); ++i)
      write(child);
    if (node.most == Node::kNoLimit)
      return writeRounds(child, fork);
    std::vector<uint32_t> exits;
    for (uint32_t i = node.least; i < node.most && problem.empty(); ++i) {
      exits.push_back(emit({.op = fork}));
      write(child);
    }
    if (problem.empty())
      for (uint32_t exit : exits)
        land(exit);
  }

  void writeRounds(const Node &child, Op fork) {
    uint32_t begin = emit({.op = fork});
    bool mayBeEmpty = firstOf(child).mayBeEmpty;
    uint32_t slot = mayBeEmpty ? pattern.slots++ : 0;
    if (mayBeEmpty)
      emit({.op = Op::Mark, .set = slot});
    write(child);
    if (mayBeEmpty)
      emit({.op = Op::Progress, .set = slot, .target = begin});
    else
      emit({.op = Op::Jump, .target = begin});
    if (problem.empty())
      land(begin);
  }

  static constexpr const char *kTooMuch =
      "a pattern whose counts multiply to too much";
  Pattern &pattern;
  Node root;
  uint64_t visits = 0;
  std::string problem;
};

Result<Pattern> Pattern::compile(std::string_view text, Budget &budget) {
  if (text.size() > artifact::kMostPatternBytes)
    return badData("a pattern of ", text.size(), " bytes is longer than ",
                   artifact::kMostPatternBytes);
  if (makeValidUtf8(text) != text)
    return badData("a pattern is not UTF-8");
  Result<ParsedPattern> parsed = parsePattern(text);
  if (!parsed)
    return parsed.error();
  Pattern pattern;
  PatternCompiler compiler(pattern, std::move(*parsed));
  Check error = compiler.run();
  if (error)
    return badData("pattern \"", startOfPattern(text), "\": ", error->message);
  // A character of the text may become a node and a set.
  constexpr uint64_t kStepsEach = 16;
  if (!budget.spend(kStepsEach * text.size() + compiler.getVisits()))
    return budget.error();
  return pattern;
}

} // namespace effc::rt
