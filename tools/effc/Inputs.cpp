#include "tools/effc/Inputs.h"

#include "tools/terminal/Failure.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

using namespace effc::cli;

/// Prompts and token lists are read into memory; an endless file is refused.
static constexpr size_t kMaxInputBytes = size_t(1) << 30;

std::string effc::cli::readWholeFile(const std::string &path) {
  std::FILE *file = path == "-" ? stdin : std::fopen(path.c_str(), "rbe");
  if (!file)
    throw Failure("cannot open '" + path + "': " + std::strerror(errno));
  std::string contents;
  char buffer[65536];
  size_t count;
  while (contents.size() <= kMaxInputBytes &&
         (count = std::fread(buffer, 1, sizeof buffer, file)) > 0)
    contents.append(buffer, count);
  int failure = std::ferror(file) ? errno : 0;
  if (file != stdin)
    std::fclose(file);
  if (contents.size() > kMaxInputBytes)
    throw Failure("'" + path + "' has more than " +
                  std::to_string(kMaxInputBytes) + " bytes");
  if (failure)
    throw Failure("cannot read '" + path + "': " + std::strerror(failure));
  return contents;
}

Tokens effc::cli::parseTokenList(std::string_view text) {
  Tokens tokens;
  const char *at = text.data(), *end = at + text.size();
  while (true) {
    int32_t token = 0;
    auto [next, failure] = std::from_chars(at, end, token);
    if (failure != std::errc() || token < 0)
      throw UsageError("'" + std::string(text) +
                       "' is no list of token ids such as 1,2,3");
    tokens.push_back(token);
    if (next == end)
      return tokens;
    if (*next != ',')
      throw UsageError("'" + std::string(text) +
                       "' is no list of token ids such as 1,2,3");
    at = next + 1;
  }
}

/// `value` as it stands in the file, if it is short and flat.
static std::string show(const nlohmann::json &value) {
  if (value.is_structured()) // printing could recurse too deep
    return value.is_array() ? "an array" : "an object";
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The document of a file.
static nlohmann::json readJson(const std::string &path) {
  std::string text = readWholeFile(path);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error &error) {
    // `byte` counts from 1 and is one past the end where the text ends early.
    size_t at = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
    auto end = text.begin() + static_cast<ptrdiff_t>(at);
    size_t line = 1 + static_cast<size_t>(std::count(text.begin(), end, '\n'));
    size_t before = at > 0 ? text.rfind('\n', at - 1) : std::string::npos;
    size_t column = before == std::string::npos ? at + 1 : at - before;
    throw Failure("'" + path + "' is not JSON: " +
                  (at == text.size() ? "it ends at" : "it goes wrong at") +
                  " line " + std::to_string(line) + ", column " +
                  std::to_string(column));
  } catch (const nlohmann::json::out_of_range &) {
    throw Failure("'" + path + "' has a number beyond the range of f64");
  }
}

std::vector<Tokens> effc::cli::readTokenFile(const std::string &path,
                                             uint32_t vocabularySize) {
  nlohmann::json json = readJson(path);
  if (!json.is_array())
    throw Failure("'" + path + "' is not an array of arrays of token ids");
  std::vector<Tokens> sequences;
  for (size_t i = 0; i < json.size(); ++i) {
    if (!json[i].is_array())
      throw Failure("sequence " + std::to_string(i) + " of '" + path +
                    "' is not an array of token ids");
    Tokens tokens;
    for (size_t k = 0; k < json[i].size(); ++k) {
      const nlohmann::json &token = json[i][k];
      bool good =
          token.is_number_unsigned() && token.get<uint64_t>() < vocabularySize;
      if (!good)
        throw Failure("element " + std::to_string(k) + " of sequence " +
                      std::to_string(i) + " of '" + path + "' is " +
                      show(token) + ", not a token of the vocabulary of " +
                      std::to_string(vocabularySize));
      tokens.push_back(token.get<int32_t>());
    }
    sequences.push_back(std::move(tokens));
  }
  return sequences;
}

/// The numbers of `key`, each below `limit`.
static std::vector<uint64_t> readTargets(const nlohmann::json &object,
                                         const char *key, uint64_t limit,
                                         const std::string &where) {
  auto array = object.find(key);
  if (array == object.end() || !array->is_array())
    throw Failure(where + " has no array '" + key + "'");
  std::vector<uint64_t> numbers;
  for (const nlohmann::json &number : *array) {
    if (!number.is_number_unsigned() || number.get<uint64_t>() >= limit)
      throw Failure("element " + std::to_string(numbers.size()) + " of '" +
                    key + "' of " + where + " is " + show(number) +
                    ", not a number below " + std::to_string(limit));
    numbers.push_back(number.get<uint64_t>());
  }
  return numbers;
}

std::vector<Targets>
effc::cli::readTargetFile(const std::string &path,
                          const std::vector<Tokens> &sequences,
                          uint32_t vocabularySize) {
  nlohmann::json json = readJson(path);
  if (!json.is_array() || json.size() != sequences.size())
    throw Failure("'" + path + "' is not an array of " +
                  std::to_string(sequences.size()) +
                  " objects, one for each sequence");
  std::vector<Targets> targets;
  for (size_t i = 0; i < json.size(); ++i) {
    std::string where = "element " + std::to_string(i) + " of '" + path + "'";
    if (!json[i].is_object())
      throw Failure(where + " is not an object");
    for (const auto &[key, value] : json[i].items())
      if (key != "positions" && key != "ids")
        throw Failure(where + " has a key '" + key +
                      "', not 'positions' or 'ids'");
    Targets target;
    target.positions =
        readTargets(json[i], "positions", sequences[i].size(), where);
    std::set<uint64_t> distinct;
    for (uint64_t position : target.positions)
      if (!distinct.insert(position).second)
        throw Failure(where + " has position " + std::to_string(position) +
                      " twice");
    for (uint64_t id : readTargets(json[i], "ids", vocabularySize, where))
      target.ids.push_back(static_cast<int32_t>(id));
    if (target.ids.size() != target.positions.size())
      throw Failure(where + " has " + std::to_string(target.positions.size()) +
                    " positions and " + std::to_string(target.ids.size()) +
                    " ids");
    targets.push_back(std::move(target));
  }
  return targets;
}

uint64_t effc::cli::parseBytes(std::string_view text) {
  double number = 0;
  auto [next, failure] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(next, text.data() + text.size() - next);
  double scale = 0;
  if (unit.empty() || unit == "B")
    scale = 1;
  for (size_t i = 0; i < 4; ++i)
    for (const char *suffix : {"", "B", "iB"})
      if (unit == std::string(1, "KMGT"[i]) + suffix)
        scale = std::pow(1024.0, static_cast<double>(i + 1));
  double bytes = number * scale;
  if (failure != std::errc() || scale == 0 || !(bytes >= 0 && bytes < 0x1p63))
    throw UsageError("'" + std::string(text) +
                     "' is no number of bytes such as 1000000, 512M or 1.5G");
  return static_cast<uint64_t>(bytes);
}
