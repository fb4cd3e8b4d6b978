#include "runtime/src/StopText.h"

#include <algorithm>

using namespace effc::rt;

StopText::StopText(std::vector<std::string> given) : stops(std::move(given)) {}

std::string_view StopText::push(std::string_view text) {
  shown.clear();
  if (which)
    return shown;
  held += text;
  // The first that comes; of several at one place the first given.
  size_t first = std::string::npos;
  for (size_t i = 0; i < stops.size(); ++i)
    if (size_t at = held.find(stops[i]); at < first) {
      first = at;
      which = i;
    }
  if (which) {
    shown = held.substr(0, first);
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
  shown = held.substr(0, held.size() - keep);
  held.erase(0, shown.size());
  return shown;
}

std::string_view StopText::finish() {
  shown.swap(held);
  held.clear();
  which.reset();
  return shown;
}
