#include "compiler/RemarkList.h"

#include "dialects/seq/Remarks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <optional>

using namespace effc;
using llvm::StringRef;

void RemarkList::add(StringRef where, StringRef text) {
  auto [place, isNew] =
      known.try_emplace((where + "\n" + text).str(), remarks.size());
  if (isNew)
    remarks.push_back({where.str(), text.str(), {}});
  std::vector<std::string> &of = remarks[place->second].targets;
  if (!llvm::is_contained(of, current))
    of.push_back(current);
}

std::vector<std::string> RemarkList::lines() const {
  std::vector<std::string> lines;
  for (const Remark &remark : remarks) {
    std::string line = remark.where;
    bool ofSome = remark.targets.size() < targets.size() &&
                  !llvm::is_contained(remark.targets, "");
    if (ofSome)
      line +=
          (line.empty() ? "(" : " (") + llvm::join(remark.targets, ", ") + ")";
    lines.push_back(line + (line.empty() ? "" : ": ") + remark.text);
  }
  return lines;
}

std::string effc::describeNumbers(const std::vector<unsigned> &numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
      ++last;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (last > i)
      text += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

namespace {
/// A line and the layer that it names: the first number of its own between two
/// points, "layers.3.norm", wherever the same word stands before it.
struct Layered {
  std::vector<std::string> pieces; // around the number
  unsigned layer = 0;

  /// Unique for the line without the number.
  std::string key() const { return llvm::join(pieces, "\n"); }
};

/// Lines that differ in nothing but the layer.
struct Group {
  std::vector<std::string> pieces;
  std::vector<unsigned> layers;
};

/// A kind of remark, by how its text begins.
struct Kind {
  StringRef begins, one, plural;
};
} // namespace

static bool isPartOfWord(char c) { return llvm::isAlnum(c) || c == '_'; }

static std::optional<Layered> findLayer(StringRef line) {
  for (size_t at = line.find('.'); at != StringRef::npos;
       at = line.find('.', at + 1)) {
    StringRef digits = line.substr(at + 1).take_while(llvm::isDigit);
    size_t end = at + 1 + digits.size();
    Layered found;
    if (digits.empty() || end >= line.size() || line[end] != '.' ||
        digits.getAsInteger(10, found.layer) || at == 0 ||
        !llvm::isAlpha(line[at - 1]))
      continue;
    size_t begin = at;
    while (begin > 0 && isPartOfWord(line[begin - 1]))
      --begin;
    // "layers.3.": all of its places.
    StringRef name = line.slice(begin, end + 1);
    size_t rest = 0, next = 0;
    while ((next = line.find(name, next)) != StringRef::npos) {
      if (next > 0 && isPartOfWord(line[next - 1])) {
        ++next;
        continue;
      }
      size_t number = next + (at + 1 - begin);
      found.pieces.push_back(line.slice(rest, number).str());
      rest = number + digits.size();
      next = rest;
    }
    found.pieces.push_back(line.substr(rest).str());
    return found;
  }
  return std::nullopt;
}

std::vector<std::string> RemarkList::groupedLines() const {
  std::vector<Group> groups;
  llvm::StringMap<size_t> places; // of what names a layer
  for (const std::string &line : lines()) {
    std::optional<Layered> layered = findLayer(line);
    if (!layered) {
      groups.push_back({{line}, {}});
      continue;
    }
    auto [place, isNew] = places.try_emplace(layered->key(), groups.size());
    if (isNew)
      groups.push_back({layered->pieces, {}});
    groups[place->second].layers.push_back(layered->layer);
  }
  std::vector<std::string> result;
  for (Group &group : groups) {
    llvm::sort(group.layers);
    result.push_back(llvm::join(group.pieces, describeNumbers(group.layers)));
  }
  if (remarks.empty())
    return result;

  static const Kind kKinds[] = {{seq::kFallbackRemark, "fallback", "fallbacks"},
                                {seq::kWarningRemark, "warning", "warnings"},
                                {"form in ", "form", "forms"},
                                {"fused into ", "fusion", "fusions"},
                                {"tensor ", "tensor", "tensors"},
                                {"", "other", "others"}};
  size_t counts[std::size(kKinds)] = {};
  for (const Remark &remark : remarks) {
    size_t kind = 0;
    while (!StringRef(remark.text).starts_with(kKinds[kind].begins))
      ++kind;
    ++counts[kind];
  }
  std::string list;
  for (size_t kind = 0; kind < std::size(kKinds); ++kind)
    if (counts[kind] > 0)
      list +=
          (list.empty() ? "" : ", ") + std::to_string(counts[kind]) + " " +
          (counts[kind] == 1 ? kKinds[kind].one : kKinds[kind].plural).str();
  result.push_back("in all " + std::to_string(remarks.size()) + ": " + list);
  return result;
}
