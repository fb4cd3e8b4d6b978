#include "tools/effc-serve/records/Log.h"

#include "tools/effc-serve/wire/JsonText.h"
#include "tools/terminal/SafeText.h"

#include <cstdio>
#include <ctime>

using namespace effc;
using namespace effc::serve;

void Log::request(const LoggedRequest &request) {
  if (format == LogFormat::None)
    return;
  char time[32], seconds[32];
  std::time_t now = std::time(nullptr);
  std::tm parts = {};
  std::strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%SZ",
                gmtime_r(&now, &parts));
  std::snprintf(seconds, sizeof seconds, "%.3f",
                std::chrono::duration<double>(request.time).count());
  std::string line;
  if (format == LogFormat::Json) {
    line = "{\"time\":\"" + std::string(time) + "\",\"path\":";
    appendQuoted(line, request.path);
    line += ",\"model\":";
    appendQuoted(line, request.model);
    line += ",\"end\":\"" + std::string(request.end) +
            "\",\"prompt_tokens\":" + std::to_string(request.promptTokens) +
            ",\"new_tokens\":" + std::to_string(request.newTokens) +
            ",\"seconds\":" + seconds +
            ",\"stream\":" + (request.isStream ? "true" : "false") + "}\n";
  } else {
    line = std::string(time) + " " + request.path + " " +
           cli::withoutControls(request.model) + " " + request.end + " " +
           std::to_string(request.promptTokens) + " + " +
           std::to_string(request.newTokens) + " tokens, " + seconds + " s\n";
  }
  std::fputs(line.c_str(), stderr);
}
