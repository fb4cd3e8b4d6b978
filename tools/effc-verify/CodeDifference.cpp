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

std::optional<std::string>
effc::verify::findFirstKernel(const Model &model,
                              const std::vector<uint8_t> &anew) {
  std::vector<effc_segment_info_t> segments = model.segments();
  auto host = std::find_if(segments.begin(), segments.end(),
                           [](const effc_segment_info_t &segment) {
                             return std::strcmp(segment.kind, "host_code") == 0;
                           });
  if (host == segments.end())
    return std::nullopt;
  const uint8_t *last = host->data + std::min<size_t>(host->bytes, anew.size());
  size_t first = static_cast<size_t>(
      std::mismatch(host->data, last, anew.begin()).first - host->data);
  std::map<size_t, std::string> starts;
  auto description = nlohmann::json::parse(model.describe());
  for (const auto &kernel : description.at("kernels"))
    for (const auto &code : kernel.at("code"))
      if (code.at("segment") == host - segments.begin())
        starts[code.at("offset")] = kernel.at("name");
  auto next = starts.upper_bound(first);
  if (next == starts.begin() || next == starts.end())
    return std::nullopt;
  return std::prev(next)->second;
}
