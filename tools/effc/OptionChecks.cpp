#include "tools/effc/OptionChecks.h"

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

CLI::Option *effc::cli::addWholeNumber(CLI::App &command,
                                       const std::string &name, uint64_t &value,
                                       const std::string &summary) {
  return command
      .add_option_function<std::string>(
          name,
          [name, &value](const std::string &text) {
            if (!parse(text, value))
              throw CLI::ValidationError(name, "expects a number from 0 to " +
                                                   std::to_string(UINT64_MAX) +
                                                   ", but got '" + text + "'");
          },
          summary)
      ->type_name("UINT")
      ->default_str(std::to_string(value));
}
