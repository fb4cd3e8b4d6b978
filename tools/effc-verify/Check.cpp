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

template <typename A, typename B>
double largestError(const std::vector<A> &found, const std::vector<B> &expected,
                    size_t columns) {
  if (found.size() != expected.size())
    return INFINITY;
  double worst = 0;
  for (size_t row = 0; row < found.size(); row += columns) {
    double difference = 0, magnitude = 0;
    for (size_t i = row; i < row + columns; ++i) {
      double distance = std::fabs(double(found[i]) - double(expected[i]));
      if (!(distance < INFINITY))
        return INFINITY;
      difference = std::max(difference, distance);
      magnitude = std::max(magnitude, std::fabs(double(expected[i])));
    }
    if (difference > 0)
      worst = std::max(worst, difference / magnitude);
  }
  return worst;
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

} // namespace effc::verify
