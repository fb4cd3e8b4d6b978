#include "tools/effc-verify/Check.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace effc::verify {

bool Check::passed() const { return error < INFINITY && error <= tolerance; }

void Report::skip(const std::string &name, const std::string &reason) {
  for (Skipped &known : skipped)
    if (known.reason == reason) {
      known.names += ", " + name;
      return;
    }
  skipped.push_back({name, reason});
}

std::vector<std::string> Report::skippedLines() const {
  std::vector<std::string> lines;
  for (const Skipped &line : skipped)
    lines.push_back(line.names + ": " + line.reason);
  return lines;
}

/// Of the row that begins at `row`; infinite where a number is missing.
template <typename A, typename B>
static double rowError(const std::vector<A> &found,
                       const std::vector<B> &expected, size_t row,
                       size_t columns) {
  double difference = 0, magnitude = 0;
  for (size_t i = row; i < row + columns; ++i) {
    double distance = std::fabs(double(found[i]) - double(expected[i]));
    if (!(distance < INFINITY))
      return INFINITY;
    difference = std::max(difference, distance);
    magnitude = std::max(magnitude, std::fabs(double(expected[i])));
  }
  return difference > 0 ? difference / magnitude : 0;
}

template <typename A, typename B>
double largestError(const std::vector<A> &found, const std::vector<B> &expected,
                    size_t columns) {
  if (found.size() != expected.size())
    return INFINITY;
  double worst = 0;
  for (size_t row = 0; row < found.size(); row += columns)
    worst = std::max(worst, rowError(found, expected, row, columns));
  return worst;
}

template <typename A, typename B>
std::optional<size_t> firstBeyond(const std::vector<A> &found,
                                  const std::vector<B> &expected,
                                  size_t columns, double tolerance) {
  if (found.size() != expected.size())
    return std::nullopt;
  for (size_t row = 0; row < found.size(); row += columns) {
    bool sameBits =
        std::equal(found.begin() + static_cast<ptrdiff_t>(row),
                   found.begin() + static_cast<ptrdiff_t>(row + columns),
                   expected.begin() + static_cast<ptrdiff_t>(row));
    if (tolerance == 0
            ? !sameBits
            : !(rowError(found, expected, row, columns) <= tolerance))
      return row / columns;
  }
  return std::nullopt;
}

double bitError(const std::vector<float> &found,
                const std::vector<float> &expected, size_t columns) {
  if (found.size() == expected.size() &&
      std::memcmp(found.data(), expected.data(),
                  found.size() * sizeof(float)) == 0)
    return 0;
  double error = largestError(found, expected, columns);
  return error > 0 ? error : INFINITY;
}

template double largestError(const std::vector<float> &,
                             const std::vector<float> &, size_t);
template double largestError(const std::vector<float> &,
                             const std::vector<double> &, size_t);
template double largestError(const std::vector<double> &,
                             const std::vector<double> &, size_t);

template std::optional<size_t> firstBeyond(const std::vector<float> &,
                                           const std::vector<float> &, size_t,
                                           double);
template std::optional<size_t> firstBeyond(const std::vector<float> &,
                                           const std::vector<double> &, size_t,
                                           double);
template std::optional<size_t> firstBeyond(const std::vector<double> &,
                                           const std::vector<double> &, size_t,
                                           double);

} // namespace effc::verify
