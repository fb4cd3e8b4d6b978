// A line on standard error for each request.
#ifndef EFFC_TOOLS_EFFC_SERVE_RECORDS_LOG_H
#define EFFC_TOOLS_EFFC_SERVE_RECORDS_LOG_H

#include <chrono>
#include <cstdint>
#include <string>

namespace effc::serve {

enum class LogFormat { None, Text, Json };

/// A request that generated, and has ended. No text of anybody is in it.
struct LoggedRequest {
  std::string path, model;
  const char *end; // "done", "cancelled", "failed"
  uint64_t promptTokens, newTokens;
  std::chrono::steady_clock::duration time;
  bool isStream;
};

/// For the thread of the loop.
class Log {
public:
  explicit Log(LogFormat format) : format(format) {}
  void request(const LoggedRequest &request);

private:
  LogFormat format;
};

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_RECORDS_LOG_H
