#include "tools/effc/BenchReport.h"

#include "tools/effc/Chips.h"
#include "tools/terminal/Quantities.h"
#include "tools/terminal/Table.h"

using namespace effc::cli;
using Json = nlohmann::ordered_json;

/// The rates over all cases.
static Rates ratesOf(const BenchReport &report) {
  std::vector<Rates> rates;
  for (const Measurement &one : report.measurements)
    if (one.hasCeiling())
      rates.push_back(one.rates);
  return rates.empty() ? Rates() : medianOf(rates);
}

static std::string milliseconds(double seconds) {
  return formatNumber(1000 * seconds);
}

static bool runsOnCuda(const BenchReport &report) {
  return report.device.rfind("cuda", 0) == 0;
}

std::string effc::cli::nameOf(const BenchCase &one) {
  return one.decode ? "decode" : "prefill " + std::to_string(one.tokens);
}

/// A row for each measurement, and a heading.
static std::vector<std::vector<std::string>> rowsOf(const BenchReport &report) {
  std::vector<std::vector<std::string>> rows = {
      {"call", "batch", "depth", "tokens/s", "ms/call", "p10", "p90", "runs",
       "GFLOP/call", "MB/call", "ceiling", "of it"}};
  for (const Measurement &one : report.measurements) {
    bool byBandwidth;
    one.floorSeconds(&byBandwidth);
    bool inCache = one.hasCeiling() && one.isFromCache(report.cacheBytes);
    double calls = one.decode ? static_cast<double>(one.tokens) : 1;
    rows.push_back(
        {nameOf(one), std::to_string(one.batch), std::to_string(one.depth),
         formatNumber(one.tokensPerSecond()),
         milliseconds(one.seconds.median / calls),
         milliseconds(one.seconds.p10 / calls),
         milliseconds(one.seconds.p90 / calls), std::to_string(one.runs),
         formatNumber(static_cast<double>(one.work.flops) / 1e9),
         formatNumber(static_cast<double>(one.work.bytes) / 1e6),
         !one.hasCeiling() ? "-"
         : inCache         ? "reads, in cache"
         : byBandwidth     ? "reads"
                           : "products",
         one.hasCeiling() ? formatNumber(100 * one.fraction(), 3) + " %"
                          : "-"});
  }
  return rows;
}

/// What the machine or the chip could do.
static std::string ceilingLine(const BenchReport &report) {
  Rates machine = ratesOf(report);
  if (machine.readBytesPerSecond <= 0)
    return "  what this device could reach is not measured" +
           (report.whyNoCeiling.empty() ? "" : ": " + report.whyNoCeiling) +
           "\n";
  std::string reads =
      formatNumber(machine.readBytesPerSecond / 1e9) + " GB/s, ";
  std::string products = "products " +
                         formatNumber(machine.gemmFlopsPerSecond / 1e9) +
                         " GFLOP/s\n";
  if (!report.chip.empty() && runsOnCuda(report))
    return "  ceilings of " + report.chip + " (" +
           std::string(findChip(report.chip)->source) + "): " + reads +
           products;
  return "  measured with " + std::to_string(report.threads) +
         (report.threads == 1 ? " thread" : " threads") + ": reads " + reads +
         "f32 " + products;
}

static std::string leftOutLine(const BenchReport &report) {
  if (report.leftOut.empty())
    return "";
  std::string text = "  left out for want of time (--seconds): ";
  for (size_t i = 0; i < report.leftOut.size(); ++i) {
    const BenchCase &one = report.leftOut[i];
    text += (i ? ", " : "") + nameOf(one) + " x " + std::to_string(one.batch);
    if (one.depth)
      text += " behind " + std::to_string(one.depth);
  }
  return text + "\n";
}

/// Which file ran where, and by what code.
static std::string placeLine(const BenchReport &report) {
  return report.file + " on " + report.device +
         (report.isa.empty() ? "" : ", code of " + report.isa) + "\n";
}

/// For how many sequences there is memory, by depth.
static std::string roomLine(const BenchReport &report) {
  std::string text;
  for (const Room &room : report.room)
    text += (text.empty() ? "  memory for " : ", ") +
            formatCount(room.sequences) + " sequences of " +
            formatCount(room.tokens) + " tokens (" +
            formatBytes(room.bytesEach) + " each)";
  return text.empty() ? ""
                      : text + ", of " + formatBytes(report.freeBytes) +
                            " that are left beside the weights; not tried\n";
}

std::string effc::cli::asTable(const BenchReport &report) {
  std::string text = placeLine(report);
  text += "  load " + milliseconds(report.start.load) + " ms, engine " +
          milliseconds(report.start.engine) + " ms, first token " +
          milliseconds(report.start.token) + " ms";
  if (report.peakBytes)
    text += "; peak memory " + formatBytes(report.peakBytes);
  text += "\n" + ceilingLine(report);
  text += "\n";
  Table table;
  for (std::vector<std::string> &row : rowsOf(report))
    table.add(std::move(row));
  text += table.text();
  text +=
      "  a call takes all sequences together, in decode by one token; depth "
      "is what each holds before\n";
  if (report.temperature)
    text += "  decode gives tokens, drawn at temperature " +
            formatNumber(*report.temperature) + ", in place of logits\n";
  bool cached = false;
  for (const Measurement &one : report.measurements)
    cached |= one.hasCeiling() && one.isFromCache(report.cacheBytes);
  if (cached)
    text += "  in cache: faster than memory, since what a call moves fits in "
            "the last cache (" +
            formatBytes(report.cacheBytes) + ")\n";
  return text + roomLine(report) + leftOutLine(report);
}

std::string effc::cli::asMarkdown(const BenchReport &report) {
  std::string text;
  std::vector<std::vector<std::string>> rows = rowsOf(report);
  for (size_t i = 0; i < rows.size(); ++i) {
    for (const std::string &cell : rows[i])
      text += "| " + cell + " ";
    text += "|\n";
    for (size_t k = 0; i == 0 && k < rows[0].size(); ++k)
      text += "|---";
    text += i == 0 ? "|\n" : "";
  }
  text += "\n" + placeLine(report);
  return text + roomLine(report) + leftOutLine(report);
}

/// One measurement as an object, whose numbers are in seconds, bytes and FLOPs.
static Json objectOf(const BenchReport &report, const Measurement &one) {
  bool byBandwidth;
  double floor = one.floorSeconds(&byBandwidth);
  auto known = [&](const Json &value) {
    return one.hasCeiling() ? value : Json();
  };
  return {{"call", one.decode ? "decode" : "prefill"},
          {"tokens", one.tokens},
          {"batch", one.batch},
          {"depth", one.depth},
          {"runs", one.runs},
          {"clock", one.byDevice ? "device" : "host"},
          {"host_seconds_median", one.hostSeconds.median},
          {"seconds_median", one.seconds.median},
          {"seconds_p10", one.seconds.p10},
          {"seconds_p90", one.seconds.p90},
          {"tokens_per_second", one.tokensPerSecond()},
          {"flops", one.work.flops},
          {"bytes", one.work.bytes},
          {"read_bytes_per_second", known(one.rates.readBytesPerSecond)},
          {"gemm_flops_per_second", known(one.rates.gemmFlopsPerSecond)},
          {"floor_seconds", known(floor)},
          {"bound_by", known(byBandwidth ? "bandwidth" : "arithmetic")},
          {"in_cache", known(one.isFromCache(report.cacheBytes))},
          {"fraction", known(one.fraction())}};
}

static std::string dump(const Json &json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string effc::cli::asCsv(const BenchReport &report) {
  std::string text;
  for (const Measurement &one : report.measurements) {
    Json object = objectOf(report, one);
    std::string names, values;
    for (const auto &[name, value] : object.items()) {
      names += (names.empty() ? "" : ",") + name;
      values += (values.empty() ? "" : ",") +
                (value.is_string() ? value.get<std::string>()
                 : value.is_null() ? ""
                                   : value.dump());
    }
    text += (text.empty() ? names + "\n" : "") + values + "\n";
  }
  return text;
}

std::string effc::cli::asJsonLines(const BenchReport &report) {
  std::string text;
  for (const Measurement &one : report.measurements) {
    Json object = {{"file", report.file},
                   {"device", report.device},
                   {"isa", report.isa},
                   {"threads", report.threads}};
    object.update(objectOf(report, one));
    text += dump(object, -1);
  }
  return text;
}

std::string effc::cli::asJson(const BenchReport &report) {
  Rates machine = ratesOf(report);
  Json json;
  json["file"] = report.file;
  json["device"] = report.device;
  json["isa"] = report.isa;
  json["threads"] = report.threads;
  json["load_seconds"] = report.start.load;
  json["engine_seconds"] = report.start.engine;
  json["first_token_seconds"] = report.start.token;
  json["peak_bytes"] = report.peakBytes;
  json["machine"] = {{"read_bytes_per_second", machine.readBytesPerSecond},
                     {"gemm_flops_per_second", machine.gemmFlopsPerSecond},
                     {"cache_bytes", report.cacheBytes},
                     {"not_measured", report.whyNoCeiling.empty()
                                          ? Json()
                                          : Json(report.whyNoCeiling)}};
  json["repeat"] = report.repeat;
  json["temperature"] = report.temperature ? Json(*report.temperature) : Json();
  json["room"] = Json::array();
  for (const Room &room : report.room)
    json["room"].push_back({{"tokens", room.tokens},
                            {"bytes", room.bytesEach},
                            {"sequences", room.sequences}});
  json["results"] = Json::array();
  for (const Measurement &one : report.measurements)
    json["results"].push_back(objectOf(report, one));
  json["left_out"] = Json::array();
  for (const BenchCase &one : report.leftOut)
    json["left_out"].push_back({{"call", one.decode ? "decode" : "prefill"},
                                {"tokens", one.tokens},
                                {"batch", one.batch},
                                {"depth", one.depth}});
  return dump(json, 2);
}
