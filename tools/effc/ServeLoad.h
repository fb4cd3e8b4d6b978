//===- ServeLoad.h - How long many clients wait ---------------------------===//
//
// Clients of a scheduler, each with one request at a time: the next when the last has
// ended. No server is between: what that adds, test/e2e/serve measures.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVELOAD_H
#define EFFC_TOOLS_EFFC_SERVELOAD_H

#include "runtime/include/effc/effc.hpp"

#include <string>
#include <vector>

namespace effc::cli {

/// Of the times of one kind, seconds.
struct Percentiles {
  uint64_t count = 0;
  double mean = 0, p50 = 0, p90 = 0, p99 = 0, most = 0;

  /// By nearest rank; all 0 where there is none.
  static Percentiles of(std::vector<double> times);
};

struct ServeCase {
  uint32_t clients = 1;
  uint64_t promptTokens = 0, newTokens = 0; // of each request
  double seconds = 0; // in which requests begin; each client has one at least
};

struct ServeMeasurement {
  ServeCase asked;
  double seconds = 0; // from the first request to the last token
  uint64_t requests = 0, tokens = 0;
  Percentiles firstToken, // from a request to its first token
      betweenTokens, request;
};

/// Runs a case. Prompts are drawn, and no two begin alike. Throws effc::Error, and
/// Failure where a request fails.
ServeMeasurement measureServing(const Model &model, const Engine &engine,
                                const ServeCase &asked);

struct ServeReport {
  std::string file, device, isa;
  std::vector<ServeMeasurement> measurements;
};
std::string asTable(const ServeReport &report);
std::string asJson(const ServeReport &report);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_SERVELOAD_H
