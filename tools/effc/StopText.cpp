#include "tools/effc/StopText.h"

#include <algorithm>
#include <utility>

using namespace effc::cli;

StopText::StopText(std::vector<std::string> given) : stops(std::move(given)) {}

std::string StopText::push(std::string_view text) {
  if (found)
    return "";
  held += text;
  // The first that comes; of several at one place the first given.
  size_t first = std::string::npos;
  for (size_t i = 0; i < stops.size(); ++i)
    if (size_t at = held.find(stops[i]); at < first) {
      first = at;
      found = i;
    }
  if (found) {
    std::string shown = held.substr(0, first);
    held.clear();
    return shown;
  }
  // The longest end of `held` that some stop text starts with.
  size_t keep = 0;
  for (const std::string &stop : stops)
    for (size_t size = std::min(stop.size() - 1, held.size()); size > keep;
         --size)
      if (std::string_view(held).substr(held.size() - size) ==
          std::string_view(stop).substr(0, size))
        keep = size;
  std::string shown = held.substr(0, held.size() - keep);
  held.erase(0, shown.size());
  return shown;
}

std::string StopText::finish() { return std::exchange(held, ""); }
