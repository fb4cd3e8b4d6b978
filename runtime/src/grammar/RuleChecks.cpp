// What a text can be written by: checkRules().
#include "runtime/src/grammar/Rules.h"

#include <algorithm>

using namespace effc::rt;
using namespace effc::rt::grammar;

using Kind = Expression::Kind;

namespace {
class Checker {
public:
  explicit Checker(const Rules &rules)
      : rules(rules), fits(rules.all.size()), isNullable(rules.all.size()),
        callers(rules.all.size()) {}

  Check run() {
    for (const Rule &rule : rules.all)
      if (Check error = checkSets(rule, rule.body))
        return error;
    for (uint32_t i = 0; i < rules.all.size(); ++i)
      noteCallers(rules.all[i].body, i);
    settle(fits, [&](const Expression &body) { return canFit(body); });
    settle(isNullable, [&](const Expression &body) { return canBeNone(body); });
    if (steps > kMostSteps)
      return effc::rt::fail(EFFC_UNSUPPORTED,
                            "the rules are too many that depend on too many "
                            "others: expected fewer or shorter rules");
    for (size_t i = 0; i < rules.all.size(); ++i)
      if (!fits[i])
        return fail(rules.all[i], " comes to itself again whatever is written, "
                                  "so that no text of an end fits it");
    return checkLeftRecursion();
  }

private:
  template <typename... Parts>
  static Error fail(const Rule &rule, const Parts &...parts) {
    return invalidArgument(rule.place, rule.place.empty() ? "" : ": ", "rule '",
                           rule.name, "'", parts...);
  }

  static Check checkSets(const Rule &rule, const Expression &expression) {
    if (expression.kind == Kind::Characters &&
        expression.characters.ranges().empty())
      return fail(rule, " has a set without characters, which nothing fits");
    for (const Expression &part : expression.parts)
      if (Check error = checkSets(rule, part))
        return error;
    return {};
  }

  void noteCallers(const Expression &expression, uint32_t caller) {
    if (expression.kind == Kind::Call)
      callers[expression.rule].push_back(caller);
    for (const Expression &part : expression.parts)
      noteCallers(part, caller);
  }

  /// Finds what holds of rules, each of which depends on those that it calls.
  template <typename Test> void settle(std::vector<bool> &holds, Test test) {
    std::vector<uint32_t> open(rules.all.size());
    for (uint32_t i = 0; i < open.size(); ++i)
      open[i] = i;
    while (!open.empty() && steps <= kMostSteps) {
      uint32_t i = open.back();
      open.pop_back();
      if (holds[i] || !test(rules.all[i].body))
        continue;
      holds[i] = true;
      open.insert(open.end(), callers[i].begin(), callers[i].end());
    }
  }

  /// Whether some text of an end fits, as far as is known.
  bool canFit(const Expression &expression) const {
    auto fit = [&](const Expression &part) { return canFit(part); };
    ++steps;
    switch (expression.kind) {
    case Kind::Text:
    case Kind::Characters:
      return true;
    case Kind::Call:
      return fits[expression.rule];
    case Kind::Sequence:
      return std::all_of(expression.parts.begin(), expression.parts.end(), fit);
    case Kind::Choice:
      return std::any_of(expression.parts.begin(), expression.parts.end(), fit);
    case Kind::Repeat:
      return expression.least == 0 || canFit(expression.parts[0]);
    }
    return false;
  }

  /// Whether the empty text fits, as far as is known.
  bool canBeNone(const Expression &expression) const {
    auto none = [&](const Expression &part) { return canBeNone(part); };
    ++steps;
    switch (expression.kind) {
    case Kind::Text:
      return expression.text.empty();
    case Kind::Characters:
      return false;
    case Kind::Call:
      return isNullable[expression.rule];
    case Kind::Sequence:
      return std::all_of(expression.parts.begin(), expression.parts.end(),
                         none);
    case Kind::Choice:
      return std::any_of(expression.parts.begin(), expression.parts.end(),
                         none);
    case Kind::Repeat:
      return expression.least == 0 || canBeNone(expression.parts[0]);
    }
    return false;
  }

  /// The rules that an expression may begin with.
  void listFirst(const Expression &expression,
                 std::vector<uint32_t> &out) const {
    if (expression.kind == Kind::Call)
      out.push_back(expression.rule);
    if (expression.kind == Kind::Repeat && expression.most == 0)
      return;
    for (const Expression &part : expression.parts) {
      listFirst(part, out);
      if (expression.kind == Kind::Sequence && !canBeNone(part))
        return;
    }
  }

  /// A walk in depth over what rules begin with, without recursion.
  Check checkLeftRecursion() const {
    enum class Seen : uint8_t { Not, Open, Done };
    std::vector<Seen> seen(rules.all.size(), Seen::Not);
    struct Visit {
      uint32_t rule;
      std::vector<uint32_t> first;
      size_t next = 0;
    };
    for (uint32_t start = 0; start < rules.all.size(); ++start) {
      std::vector<Visit> path;
      auto enter = [&](uint32_t rule) {
        seen[rule] = Seen::Open;
        path.push_back({rule, {}, 0});
        listFirst(rules.all[rule].body, path.back().first);
      };
      if (seen[start] == Seen::Not)
        enter(start);
      while (!path.empty()) {
        Visit &visit = path.back();
        if (visit.next == visit.first.size()) {
          seen[visit.rule] = Seen::Done;
          path.pop_back();
          continue;
        }
        uint32_t rule = visit.first[visit.next++];
        if (seen[rule] == Seen::Open)
          return leftRecursion(rule, path);
        if (seen[rule] == Seen::Not)
          enter(rule);
      }
    }
    return {};
  }

  template <typename Path>
  Error leftRecursion(uint32_t rule, const Path &path) const {
    auto from = std::find_if(path.begin(), path.end(), [&](const auto &visit) {
      return visit.rule == rule;
    });
    std::string by;
    for (auto at = from + 1; at != path.end() && at < from + 6; ++at)
      by += (by.empty() ? " by '" : "', '") + rules.all[at->rule].name;
    return fail(rules.all[rule], " begins with itself", by,
                by.empty() ? "" : "'",
                ": left recursion is not possible; write the repetition behind "
                "what comes first, as in \"x ::= y (op y)*\"");
  }

  /// Honest rules take some for each part; text of a megabyte could ask for 10^10.
  static constexpr uint64_t kMostSteps = uint64_t(1) << 26;

  const Rules &rules;
  mutable uint64_t steps = 0;
  std::vector<bool> fits, isNullable;
  std::vector<std::vector<uint32_t>> callers;
};
} // namespace

Check grammar::checkRules(const Rules &rules) { return Checker(rules).run(); }
