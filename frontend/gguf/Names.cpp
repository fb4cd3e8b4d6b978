#include "frontend/gguf/Names.h"

#include "llvm/ADT/StringExtras.h"

using namespace effc::frontend;

/// Whether `text` is `pattern`, in which '*' and '#' stand for digits, the same
/// ones each time.
static bool fits(llvm::StringRef pattern, llvm::StringRef text,
                 std::string &star, std::string &hash) {
  while (!pattern.empty()) {
    char c = pattern.front();
    pattern = pattern.drop_front();
    if (c == '{') {
      auto [list, rest] = pattern.split('}');
      llvm::SmallVector<llvm::StringRef> parts;
      list.split(parts, '|');
      return llvm::any_of(parts, [&, rest = rest](llvm::StringRef part) {
        std::string starThere = star, hashThere = hash;
        llvm::StringRef left = text;
        if (!left.consume_front(part) ||
            !fits(rest, left, starThere, hashThere))
          return false;
        star = starThere;
        hash = hashThere;
        return true;
      });
    }
    if (c != '*' && c != '#') {
      if (!text.consume_front(llvm::StringRef(&c, 1)))
        return false;
      continue;
    }
    llvm::StringRef digits = text.take_while(llvm::isDigit);
    std::string &seen = c == '*' ? star : hash;
    if (digits.empty() || (!seen.empty() && digits != seen))
      return false;
    seen = digits.str();
    text = text.drop_front(digits.size());
  }
  return text.empty();
}

/// The pattern with what its marks stand for.
static std::string fill(llvm::StringRef pattern, llvm::StringRef star,
                        llvm::StringRef hash) {
  std::string text;
  for (char c : pattern) {
    if (c == '*')
      text += star;
    else if (c == '#')
      text += hash;
    else
      text += c;
  }
  return text;
}

static constexpr llvm::StringLiteral kSuffixes[] = {"", ".weight", ".bias"};

std::string GgufNameMatch::nameOf(std::optional<uint64_t> expert) const {
  return fill(row->name, layer, expert ? std::to_string(*expert) : "") + suffix;
}

std::vector<std::string> GgufNameMatch::nameParts() const {
  std::string whole = nameOf();
  auto [before, rest] = llvm::StringRef(whole).split('{');
  auto [list, after] = rest.split('}');
  llvm::SmallVector<llvm::StringRef> parts;
  list.split(parts, '|');
  std::vector<std::string> names;
  for (llvm::StringRef part : parts)
    names.push_back((before + part + after).str());
  return names;
}

std::optional<GgufNameMatch>
effc::frontend::matchGgufName(const GgufArchitecture &architecture,
                              llvm::StringRef given,
                              GgufTensorIsThere isThere) {
  for (llvm::ArrayRef<GgufTensorRow> rows : architecture.tensors)
    for (const GgufTensorRow &row : rows)
      for (llvm::StringRef suffix : kSuffixes) {
        std::string star, hash;
        llvm::StringRef stem = given;
        if (stem.consume_back(suffix) && fits(row.given, stem, star, hash) &&
            (row.beside.empty() || isThere(fill(row.beside, star, hash))))
          return GgufNameMatch{&row, star, suffix.str()};
      }
  return std::nullopt;
}

GgufGivenName
effc::frontend::findGivenName(const GgufArchitecture &architecture,
                              llvm::StringRef name, GgufTensorIsThere isThere) {
  // What a layer has is called differently in files of one architecture, even in
  // layers of one file.
  GgufGivenName first;
  for (llvm::ArrayRef<GgufTensorRow> rows : architecture.tensors)
    for (const GgufTensorRow &row : rows)
      for (llvm::StringRef suffix : kSuffixes) {
        std::string star, hash;
        llvm::StringRef stem = name;
        if (!stem.consume_back(suffix) || !fits(row.name, stem, star, hash))
          continue;
        GgufGivenName given;
        given.name = fill(row.given, star, hash) + suffix.str();
        if (uint64_t expert; !llvm::StringRef(hash).getAsInteger(10, expert))
          given.expert = expert;
        given.hasOtherColumns = row.given == architecture.otherColumns;
        if (isThere(given.name) &&
            (row.beside.empty() || isThere(fill(row.beside, star, hash))))
          return given;
        if (first.name.empty())
          first = std::move(given);
      }
  return first;
}

std::string effc::frontend::givenNameOf(const GgufArchitecture &architecture,
                                        llvm::StringRef name,
                                        GgufTensorIsThere isThere) {
  return findGivenName(architecture, name, isThere).name;
}

std::string effc::frontend::sayInGgufNames(
    llvm::StringRef message, const GgufArchitecture &architecture,
    const llvm::StringMap<std::string> &fields, GgufTensorIsThere isThere,
    llvm::StringRef file) {
  std::string text;
  // Names have no quotes in them.
  llvm::SmallVector<llvm::StringRef> parts;
  message.split(parts, '\'');
  for (const auto &[index, part] : llvm::enumerate(parts)) {
    bool isQuoted = index % 2 == 1 && index + 1 < parts.size();
    std::string said = part.str();
    if (isQuoted) {
      if (auto at = fields.find(part); at != fields.end())
        said = at->second;
      else if (std::string given = givenNameOf(architecture, part, isThere);
               !given.empty())
        said = given;
    }
    text += (index == 0 ? "" : "'") + said;
  }
  constexpr llvm::StringLiteral kConfig = "config.json";
  for (size_t at = 0; (at = text.find(kConfig, at)) != std::string::npos;
       at += file.size())
    text.replace(at, kConfig.size(), file.str());
  return text;
}
