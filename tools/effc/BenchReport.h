// What `effc bench` found, and the formats in which it says so.
#ifndef EFFC_TOOLS_EFFC_BENCHREPORT_H
#define EFFC_TOOLS_EFFC_BENCHREPORT_H

#include "tools/effc/Benchmark.h"

#include <optional>
#include <string>
#include <vector>

namespace effc::cli {

/// How long it takes until there is an answer.
struct Start {
  double load = 0;   // the file checked, its program read
  double engine = 0; // memory reserved, code mapped
  double token = 0;  // the first token fed, weights read for the first time
};

/// How many sequences of so many tokens the host's memory has room for, by what their
/// states take: nobody has tried.
struct Room {
  uint64_t tokens, bytesEach, sequences;
};

struct BenchReport {
  std::string file, device;
  std::string isa;  // of the code that ran: "x86-64-v4"
  std::string chip; // whose ceilings; empty: none are known
  std::optional<float> temperature;
  Start start;
  uint64_t peakBytes = 0; // 0: the system does not say
  uint32_t threads = 0;
  uint64_t cacheBytes = 0;  // 0: the system does not say
  std::string whyNoCeiling; // why the machine was not measured; empty: it was
  uint32_t repeat = 0;      // runs of a case at most
  uint64_t freeBytes = 0;   // of the host's memory, beside the weights
  std::vector<Room> room;   // of the host, for each depth
  std::vector<Measurement> measurements;
  std::vector<BenchCase> leftOut; // for want of time
};

/// "prefill 512", "decode".
std::string nameOf(const BenchCase &one);

/// Each ends in a line break. The table is for people; the others have a line
/// or an object for each measurement: Markdown, CSV with a heading, one JSON
/// document, JSON lines.
std::string asTable(const BenchReport &report);
std::string asMarkdown(const BenchReport &report);
std::string asCsv(const BenchReport &report);
std::string asJson(const BenchReport &report);
std::string asJsonLines(const BenchReport &report);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_BENCHREPORT_H
