#include "tools/terminal/OptionChecks.h"

#include <charconv>

using namespace effc::cli;

/// Whether all of `text` is a number of this type.
template <typename T> static bool parse(const std::string &text, T &value) {
  const char *end = text.data() + text.size();
  auto [next, failure] = std::from_chars(text.data(), end, value);
  return failure == std::errc() && next == end;
}

CLI::Validator effc::cli::numberThat(bool (*isGood)(float),
                                     const std::string &expected) {
  return CLI::Validator(
      [=](const std::string &text) {
        float number = 0;
        return parse(text, number) && isGood(number)
                   ? std::string()
                   : "expects " + expected + ", but got '" + text + "'";
      },
      "");
}

/// What is wrong with `text` as a number from `least` to `most`; empty where
/// nothing is.
static std::string checkWhole(const std::string &text, uint64_t least,
                              uint64_t most) {
  uint64_t number = 0;
  if (parse(text, number) && number >= least && number <= most)
    return "";
  return "expects a whole number from " + std::to_string(least) + " to " +
         std::to_string(most) + ", but got '" + text + "'";
}

/// "1 to 4096", "1 or more"; nothing of a range that no value leaves.
static std::string rangeText(uint64_t least, uint64_t most) {
  if (most < UINT32_MAX)
    return std::to_string(least) + " to " + std::to_string(most);
  return least > 0 ? std::to_string(least) + " or more" : "";
}

CLI::Validator effc::cli::wholeNumber(uint64_t least, uint64_t most) {
  return CLI::Validator(
      [=](const std::string &text) { return checkWhole(text, least, most); },
      rangeText(least, most));
}

CLI::Option *effc::cli::addWholeNumber(CLI::App &command,
                                       const std::string &name, uint64_t &value,
                                       const std::string &summary) {
  return command
      .add_option_function<std::string>(
          name,
          [name, &value](const std::string &text) {
            if (std::string wrong = checkWhole(text, 0, UINT64_MAX);
                !wrong.empty())
              throw CLI::ValidationError(name.substr(name.rfind(',') + 1),
                                         wrong);
            parse(text, value);
          },
          summary)
      ->type_name("UINT")
      ->default_str(std::to_string(value));
}
