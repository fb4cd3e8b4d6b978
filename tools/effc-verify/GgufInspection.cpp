#include "tools/effc-verify/GgufInspection.h"

#include "compiler/GgufSummary.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/Quantities.h"
#include "tools/terminal/Table.h"

#include <map>
#include <nlohmann/json.hpp>

using namespace effc;
using namespace effc::cli;
using Json = nlohmann::ordered_json;

/// Of an array as many are shown; vocabularies have hundreds of thousands.
static constexpr size_t kShownValues = 8;

static std::string shapeOf(const std::vector<uint64_t> &shape) {
  std::string text;
  for (uint64_t extent : shape)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

static uint64_t elementsOf(const GgufSummary::Tensor &tensor) {
  uint64_t elements = 1;
  for (uint64_t extent : tensor.shape)
    elements *= extent;
  return elements;
}

/// On one line, and not longer than anybody reads.
static std::string shorten(const std::string &text) {
  constexpr size_t kMost = 60;
  // Whatever is no UTF-8 becomes a mark, controls are spelled out.
  std::string shown =
      Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  if (shown.size() <= kMost)
    return shown;
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(shown[end]) & 0xc0) == 0x80)
    --end;
  return shown.substr(0, end) + "...";
}

static std::string valuesOf(const GgufSummary::Key &key) {
  std::string text;
  for (const std::string &value : key.values)
    text += (text.empty() ? "" : ", ") +
            (key.type == "string" ? shorten(value) : value);
  return key.values.size() < key.count ? text + ", ..." : text;
}

static std::string textOf(const GgufSummary &summary) {
  std::string text;
  uint64_t elements = 0;
  std::map<std::string, std::pair<uint64_t, uint64_t>> types; // number, bytes
  for (const GgufSummary::Tensor &tensor : summary.tensors) {
    elements += elementsOf(tensor);
    types[tensor.type].first += 1;
    types[tensor.type].second += tensor.bytes;
  }
  for (const GgufSummary::File &file : summary.files)
    text += file.name + ", " + formatBytes(file.bytes) + "\n";
  text += "  GGUF " + std::to_string(summary.version) + ", " +
          formatCount(summary.keys.size()) + " keys, " +
          formatCount(summary.tensors.size()) + " tensors, " +
          formatCount(elements) + " parameters\n";
  Table keys;
  for (const GgufSummary::Key &key : summary.keys)
    keys.add({key.name,
              key.isArray ? formatCount(key.count) + " " + key.type : key.type,
              valuesOf(key)});
  text += "\nkeys\n" + keys.text();
  Table counts;
  for (const auto &[type, count] : types)
    counts.add({type, formatCount(count.first), formatBytes(count.second)});
  text += "\ntypes of tensors\n" + counts.text();
  Table tensors;
  for (const GgufSummary::Tensor &tensor : summary.tensors)
    tensors.add({tensor.name, tensor.type, shapeOf(tensor.shape),
                 formatCount(tensor.bytes)});
  return text + "\ntensors\n" + tensors.text();
}

/// The number that a text of the summary stands for, where it is one.
static Json numberOf(const std::string &type, const std::string &text) {
  if (type == "string")
    return text;
  Json number = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return number.is_discarded() ? Json(text) : number;
}

static Json jsonOf(const GgufSummary &summary) {
  Json json = {{"version", summary.version}, {"alignment", summary.alignment}};
  for (const GgufSummary::File &file : summary.files)
    json["files"].push_back({{"name", file.name}, {"bytes", file.bytes}});
  json["keys"] = Json::array();
  for (const GgufSummary::Key &key : summary.keys) {
    Json values = Json::array();
    for (const std::string &value : key.values)
      values.push_back(numberOf(key.type, value));
    Json one = {{"name", key.name}, {"type", key.type}};
    if (key.isArray)
      one["count"] = key.count;
    one[key.isArray ? "first" : "value"] = key.isArray ? values : values.at(0);
    json["keys"].push_back(one);
  }
  json["tensors"] = Json::array();
  for (const GgufSummary::Tensor &tensor : summary.tensors)
    json["tensors"].push_back({{"name", tensor.name},
                               {"type", tensor.type},
                               {"shape", tensor.shape},
                               {"bytes", tensor.bytes},
                               {"file", tensor.file}});
  return json;
}

std::string effc::verify::describeGguf(const std::string &file, bool json) {
  auto summary = summariseGguf(file, kShownValues);
  if (!summary)
    throw Failure(llvm::toString(summary.takeError()));
  if (!json)
    return textOf(*summary);
  return jsonOf(*summary).dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}
