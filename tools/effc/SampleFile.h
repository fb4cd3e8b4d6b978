// The file of samples: a line of JSON for each prompt, in order.
#ifndef EFFC_TOOLS_EFFC_SAMPLEFILE_H
#define EFFC_TOOLS_EFFC_SAMPLEFILE_H

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace effc::cli {

class SampleFile {
public:
  /// Begins `path` anew; with `resume` goes on behind the lines that it has, each of
  /// which a prompt's "index" and "samples" of that many with the seeds from `seed` on.
  /// A last line that was cut is dropped. Throws Failure where the file has others, or
  /// can be neither read nor written. "-" is standard output.
  SampleFile(std::string path, bool resume, uint64_t samples, uint64_t seed);
  ~SampleFile();
  SampleFile(const SampleFile &) = delete;
  SampleFile &operator=(const SampleFile &) = delete;

  /// Lines that were there before, each as it was read.
  const std::vector<nlohmann::ordered_json> &before() const { return lines; }
  /// Writes a line at once, so that what is killed has lost no prompt that was done.
  void add(const nlohmann::ordered_json &line);

private:
  void readLines(uint64_t samples, uint64_t seed);
  [[noreturn]] void fail(const std::string &what) const;

  std::string path;
  std::FILE *file = nullptr; // null: standard output
  std::vector<nlohmann::ordered_json> lines;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_SAMPLEFILE_H
