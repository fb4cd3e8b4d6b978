#include "runtime/src/tokenizer/pattern/Pattern.h"

#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <algorithm>

namespace effc::rt {

// What may have to be tried otherwise, at 32 bytes each. A text of some megabytes
// without a break takes two for each character where a group is repeated.
static constexpr size_t kMaxFrames = 4'000'000;

/// One call of findAll().
class PatternSearch {
public:
  PatternSearch(const Pattern &pattern, std::string_view text, uint64_t steps)
      : pattern(pattern), program(pattern.program.data()), text(text),
        stepsLeft(steps), marks(pattern.slots) {}

  /// Where a match that starts at `at` ends.
  bool match(size_t at, size_t &end) {
    frames.clear();
    return run(0, at, end);
  }

  bool canStart(size_t at) const {
    return pattern.mayBeEmpty || mayStart(pattern.first, at);
  }

  bool isExhausted() const { return exhausted; }
  /// Whether it was not for steps, but for choices to come back to.
  bool hasTooManyFrames() const { return frames.size() >= kMaxFrames; }
  uint64_t steps() const { return stepsLeft; }

private:
  using Op = Pattern::Op;
  struct Frame {
    enum Kind : uint8_t { Resume, Shrink, Grow, Restore } kind;
    uint32_t pc; // or the slot to restore
    size_t at;
    size_t bound; // of Shrink: no shorter; of Grow: how often left
  };

  bool push(Frame frame) {
    if (frames.size() >= kMaxFrames)
      return !(exhausted = true);
    frames.push_back(frame);
    return true;
  }

  bool spend(uint64_t steps) {
    if (steps > stepsLeft)
      return !(exhausted = true);
    stepsLeft -= steps;
    return true;
  }

  /// The length of the character at `at` if `set` has it, else 0.
  uint32_t step(const CharacterSet &set, size_t at) const {
    if (at >= text.size())
      return 0;
    auto byte = static_cast<uint8_t>(text[at]);
    if (byte < 0x80)
      return set.hasAscii(byte);
    unicode::Decoded decoded = unicode::decode(text.substr(at));
    return set.has(decoded.character) ? decoded.bytes : 0;
  }

  /// Takes up to `most` characters; returns how many.
  uint32_t takeMany(const CharacterSet &set, uint32_t most, size_t &at) {
    uint32_t count = 0;
    while (count < most) {
      uint32_t bytes = step(set, at);
      if (bytes == 0)
        break;
      at += bytes;
      ++count;
    }
    return count;
  }

  /// Follows the program from `pc` on; true where it comes to a Match, and then
  /// what it could have done otherwise is forgotten.
  bool run(uint32_t pc, size_t at, size_t &end) {
    const size_t base = frames.size();
    while (spend(1)) {
      const Pattern::Instruction &now = program[pc];
      bool goesOn = true;
      switch (now.op) {
      case Op::Match:
        frames.resize(base);
        end = at;
        return true;
      case Op::Set: {
        uint32_t bytes = step(pattern.sets[now.set], at);
        at += bytes;
        goesOn = bytes != 0;
        ++pc;
        break;
      }
      case Op::Loop:
      case Op::TightLoop:
        goesOn = loop(now, pc, at);
        ++pc;
        break;
      case Op::LazyLoop:
        goesOn = lazyLoop(now, pc, at);
        ++pc;
        break;
      case Op::Try:
        if (!mayStart(pattern.firsts[now.set], at)) {
          pc = now.target;
          break;
        }
        [[fallthrough]];
      case Op::Fork:
        goesOn = push({Frame::Resume, now.target, at, 0});
        ++pc;
        break;
      case Op::LazyFork:
        goesOn = push({Frame::Resume, pc + 1, at, 0});
        pc = now.target;
        break;
      case Op::Jump:
        pc = now.target;
        break;
      case Op::Mark:
        goesOn = push({Frame::Restore, now.set, marks[now.set], 0});
        marks[now.set] = at;
        ++pc;
        break;
      case Op::Progress:
        pc = marks[now.set] == at ? pc + 1 : now.target;
        break;
      case Op::Back:
        goesOn = spend(now.least) && goBack(now.least, at);
        ++pc;
        break;
      case Op::Look: {
        size_t ignored;
        goesOn = run(pc + 1, at, ignored) != now.negative;
        pc = now.target;
        break;
      }
      case Op::Atomic:
        goesOn = run(pc + 1, at, at);
        pc = now.target;
        break;
      }
      if (exhausted || (!goesOn && !backtrack(base, pc, at)))
        return false;
    }
    return false;
  }

  /// A Loop or TightLoop that stands at `pc`.
  bool loop(const Pattern::Instruction &now, uint32_t pc, size_t &at) {
    const CharacterSet &set = pattern.sets[now.set];
    size_t begin = at;
    bool hasLeast = takeMany(set, now.least, at) == now.least;
    size_t low = at;
    if (hasLeast)
      takeMany(set, now.most - now.least, at);
    return spend(at - begin) && hasLeast &&
           (at == low || now.op == Op::TightLoop ||
            push({Frame::Shrink, pc + 1, at, low}));
  }

  bool lazyLoop(const Pattern::Instruction &now, uint32_t pc, size_t &at) {
    size_t begin = at;
    bool hasLeast = takeMany(pattern.sets[now.set], now.least, at) == now.least;
    return spend(at - begin) && hasLeast &&
           (now.most == now.least ||
            push({Frame::Grow, pc, at, now.most - now.least}));
  }

  /// Whether the text goes on at `at` with one of these bytes, or with any that
  /// is no ASCII.
  bool mayStart(const Pattern::Ascii &first, size_t at) const {
    if (at >= text.size())
      return false;
    auto byte = static_cast<uint8_t>(text[at]);
    return byte >= 0x80 || first[byte >> 6] >> (byte & 63) & 1;
  }

  bool goBack(uint32_t characters, size_t &at) const {
    for (; characters > 0 && at > 0; --characters)
      at = unicode::lastStart(text.substr(0, at));
    return characters == 0;
  }

  /// To the last choice above `base` that has another way.
  bool backtrack(size_t base, uint32_t &pc, size_t &at) {
    while (frames.size() > base) {
      Frame &frame = frames.back();
      switch (frame.kind) {
      case Frame::Resume:
        pc = frame.pc;
        at = frame.at;
        frames.pop_back();
        return true;
      case Frame::Shrink:
        pc = frame.pc;
        at = frame.at = unicode::lastStart(text.substr(0, frame.at));
        if (frame.at == frame.bound)
          frames.pop_back();
        return true;
      case Frame::Grow: {
        uint32_t bytes = step(pattern.sets[program[frame.pc].set], frame.at);
        if (bytes == 0) {
          frames.pop_back();
          break;
        }
        pc = frame.pc + 1;
        at = frame.at += bytes;
        if (--frame.bound == 0)
          frames.pop_back();
        return true;
      }
      case Frame::Restore:
        marks[frame.pc] = frame.at;
        frames.pop_back();
        break;
      }
    }
    return false;
  }

  const Pattern &pattern;
  const Pattern::Instruction *program;
  std::string_view text;
  uint64_t stepsLeft;
  bool exhausted = false;
  std::vector<Frame> frames;
  std::vector<size_t> marks;
};

static std::vector<Pattern::Match> findExact(const TextSearch &exact,
                                             std::string_view text) {
  std::vector<Pattern::Match> matches;
  size_t size = exact.text().size();
  for (size_t at = exact.find(text); at != std::string_view::npos;
       at = exact.find(text, at + size))
    matches.push_back({at, at + size});
  return matches;
}

size_t Pattern::bytes() const {
  size_t size = program.size() * sizeof(Instruction) +
                firsts.size() * sizeof(Ascii) +
                (exact ? exact->text().size() * 5 : 0);
  for (const CharacterSet &set : sets)
    size += set.bytes();
  return size;
}

Result<std::vector<Pattern::Match>> Pattern::findAll(std::string_view text,
                                                     Budget &budget) const {
  // Each place is looked at once whatever comes of it.
  if (!budget.spend(text.size() + 1))
    return budget.error();
  if (exact)
    return findExact(*exact, text);
  PatternSearch search(*this, text, budget.stepsLeft());
  std::vector<Match> matches;
  size_t from = 0;
  while (from <= text.size()) {
    size_t end;
    bool found = search.canStart(from) && search.match(from, end);
    if (search.isExhausted() && search.hasTooManyFrames())
      return badData("a pattern has more than ", kMaxFrames,
                     " choices to come back to on a text of ", text.size(),
                     " bytes");
    if (search.isExhausted()) {
      budget.spend(budget.stepsLeft() + 1);
      return budget.error();
    }
    // As in the library, nothing is found right behind a match.
    bool isEmptyBehind =
        found && end == from && !matches.empty() && matches.back().end == from;
    if (found && !isEmptyBehind)
      matches.push_back({from, end});
    if (found && end > from)
      from = end;
    else
      from += from < text.size() ? unicode::decode(text.substr(from)).bytes : 1;
  }
  budget.spend(budget.stepsLeft() - search.steps());
  return matches;
}

} // namespace effc::rt
