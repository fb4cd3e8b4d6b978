// Units and separators.
#include "tools/terminal/Quantities.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

std::string effc::cli::formatBytes(uint64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024)
    return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", value, units[unit]);
  return text;
}

std::string effc::cli::formatCount(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string effc::cli::formatNumber(double number, int digits) {
  char text[48];
  // As many decimals as leave `digits` significant ones.
  int whole = std::isfinite(number) && std::fabs(number) >= 1
                  ? static_cast<int>(std::log10(std::fabs(number))) + 1
                  : 1;
  std::snprintf(text, sizeof text, "%.*f", std::max(digits - whole, 0), number);
  return text;
}
