#include "tools/terminal/Nearest.h"

#include <algorithm>
#include <cctype>
#include <string>

using namespace effc::cli;

/// What is longer is no slip of the fingers.
static constexpr size_t kLongest = 64;

/// The restricted Damerau-Levenshtein distance.
static size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min(
          {last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last.back();
}

static std::string lowerCase(std::string_view text) {
  std::string lower(text);
  for (char &letter : lower)
    letter =
        static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return lower;
}

std::optional<std::string>
effc::cli::nearest(std::string_view given,
                   const std::vector<std::string> &known) {
  const std::string typed = lowerCase(given);
  std::string bare =
      typed.substr(std::min(typed.find_first_not_of('-'), typed.size()));
  if (bare.empty() || typed.size() > kLongest)
    return std::nullopt;
  std::optional<std::string> best;
  size_t fewest = bare.size() / 3 + 1;
  for (const std::string &name : known)
    if (size_t steps = distance(typed, lowerCase(name)); steps < fewest) {
      fewest = steps;
      best = name;
    }
  if (!best && bare.size() >= 3)
    for (const std::string &name : known)
      if (lowerCase(name).starts_with(typed))
        return name;
  return best;
}
