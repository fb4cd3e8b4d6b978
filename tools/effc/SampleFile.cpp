#include "tools/effc/SampleFile.h"

#include "tools/effc/Inputs.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/Terminal.h"

#include <cstring>
#include <filesystem>

using namespace effc::cli;
using Json = nlohmann::ordered_json;

void SampleFile::fail(const std::string &what) const {
  throw Failure("'" + path + "': " + what);
}

SampleFile::SampleFile(std::string name, bool resume, uint64_t samples,
                       uint64_t seed)
    : path(std::move(name)) {
  if (path == "-")
    return;
  if (resume && std::filesystem::exists(path))
    readLines(samples, seed);
  file = std::fopen(path.c_str(), resume ? "ab" : "wb");
  if (!file)
    fail(std::strerror(errno));
}

SampleFile::~SampleFile() {
  if (file)
    std::fclose(file);
}

void SampleFile::readLines(uint64_t samples, uint64_t seed) {
  std::string bytes = readWholeFile(path);
  size_t end = 0;
  while (true) {
    size_t next = bytes.find('\n', end);
    if (next == std::string::npos)
      break;
    Json line = Json::parse(bytes.begin() + static_cast<ptrdiff_t>(end),
                            bytes.begin() + static_cast<ptrdiff_t>(next),
                            nullptr, false);
    size_t index = lines.size();
    if (!line.is_object() || line.value("index", Json()) != index ||
        !line.contains("samples") || !line["samples"].is_array() ||
        line["samples"].size() != samples ||
        line["samples"][0].value("seed", Json()) != seed + index * samples)
      fail("line " + std::to_string(index + 1) +
           " is not of these samples: expects index " + std::to_string(index) +
           " and " + std::to_string(samples) + " samples from seed " +
           std::to_string(seed + index * samples) +
           " on; without --resume the file is written anew");
    lines.push_back(std::move(line));
    end = next + 1;
  }
  if (end < bytes.size())
    std::filesystem::resize_file(path, end);
}

void SampleFile::add(const Json &line) {
  std::string text =
      line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (!file) {
    print(text);
    return flushOutput();
  }
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size() ||
      std::fflush(file) != 0)
    fail(std::strerror(errno));
}
