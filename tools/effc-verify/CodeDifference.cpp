#include "tools/effc-verify/CodeDifference.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

using namespace effc;

std::vector<uint8_t> effc::verify::hostCode(const Model &model) {
  std::vector<uint8_t> code;
  for (const effc_segment_info_t &segment : model.segments())
    if (std::strcmp(segment.kind, "host_code") == 0)
      code.insert(code.end(), segment.data, segment.data + segment.bytes);
  return code;
}

std::vector<std::string> effc::verify::hostLevels(const Model &model) {
  std::vector<std::string> levels;
  for (const effc_segment_info_t &segment : model.segments())
    if (std::strcmp(segment.kind, "host_code") == 0)
      levels.push_back(segment.isa);
  return levels;
}

/// The kernel of a segment in which byte `first` of it lies.
static std::optional<std::string> kernelAt(const Model &model, size_t segment,
                                           size_t first) {
  std::map<size_t, std::string> starts;
  auto description = nlohmann::json::parse(model.describe());
  for (const auto &kernel : description.at("kernels"))
    for (const auto &code : kernel.at("code"))
      if (code.at("segment") == segment)
        starts[code.at("offset")] = kernel.at("name");
  auto next = starts.upper_bound(first);
  if (next == starts.begin() || next == starts.end())
    return std::nullopt;
  return std::prev(next)->second;
}

std::optional<std::string>
effc::verify::findFirstKernel(const Model &model,
                              const std::vector<uint8_t> &anew) {
  std::vector<effc_segment_info_t> segments = model.segments();
  bool hasLevels = hostLevels(model).size() > 1;
  size_t before = 0; // bytes of the levels before
  for (size_t i = 0; i < segments.size(); ++i) {
    const effc_segment_info_t &host = segments[i];
    if (std::strcmp(host.kind, "host_code") != 0)
      continue;
    size_t rest = anew.size() - std::min(before, anew.size());
    const uint8_t *last = host.data + std::min<size_t>(host.bytes, rest);
    size_t first = static_cast<size_t>(
        std::mismatch(host.data, last,
                      anew.begin() + static_cast<ptrdiff_t>(anew.size() - rest))
            .first -
        host.data);
    before += host.bytes;
    if (first == host.bytes)
      continue;
    std::optional<std::string> kernel = kernelAt(model, i, first);
    if (kernel && hasLevels)
      *kernel += std::string(" of ") + host.isa;
    return kernel;
  }
  return std::nullopt;
}
