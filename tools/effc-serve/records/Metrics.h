//===- Metrics.h - What a server counts, and its page ---------------------===//
//
// Names follow Prometheus' convention; a counter ends in _total, times are seconds.
// Kept and read on the thread of the loop.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_RECORDS_METRICS_H
#define EFFC_TOOLS_EFFC_SERVE_RECORDS_METRICS_H

#include "tools/effc-serve/engine/ServedModel.h"
#include "tools/effc-serve/engine/Sessions.h"
#include "tools/effc-serve/http/HttpServer.h"
#include "tools/effc-serve/records/Log.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace effc::serve {

/// How often a time was at most so long.
class Histogram {
public:
  static constexpr std::array<double, 16> kBounds = {
      0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
      0.5,   1,      2.5,   5,    10,    30,   60,  300};

  void add(std::chrono::steady_clock::duration time);
  /// In the text format of Prometheus; `label` is a="b".
  void append(std::string &out, const char *name,
              const std::string &label) const;

private:
  std::array<uint64_t, kBounds.size() + 1> counts = {};
  double sum = 0;
};

/// How long what took, of the requests of one model.
struct Times {
  Histogram firstToken, interToken, request;
  Histogram queue, prefill, decode; // as the scheduler's events have them
};

struct Metrics {
  explicit Metrics(Log &log) : log(log) {}

  Log &log;
  std::map<std::string, Times> times;                      // by model
  std::map<std::pair<std::string, int>, uint64_t> answers; // by path and status

  /// The page.
  std::string page(std::span<const std::unique_ptr<ServedModel>> models,
                   const HttpServer &http, Sessions::Numbers sessions) const;

private:
  class Page;
  static void addProcess(Page &page);
  const Times &timesOf(const std::string &model) const;
  void addVllm(std::string &out, Page &page,
               std::span<const effc_scheduler_stats_t> stats,
               std::span<const std::unique_ptr<ServedModel>> models) const;
};

/// `text` as the value of a label.
std::string labelValue(std::string_view text);

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_RECORDS_METRICS_H
