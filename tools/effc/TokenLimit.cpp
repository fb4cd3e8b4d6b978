#include "tools/effc/TokenLimit.h"

#include "tools/effc/Generation.h"
#include "tools/terminal/OptionChecks.h"

using namespace effc::cli;

/// "-1" or a number of tokens.
static CLI::Validator tokenLimit() {
  CLI::Validator number = wholeNumber(0, uint64_t(1) << 48);
  return CLI::Validator(
      [number](std::string &text) {
        if (text != "-1") {
          std::string wrong = number(text);
          constexpr std::string_view kExpects = "expects ";
          if (wrong.starts_with(kExpects))
            wrong.insert(kExpects.size(), "-1 (no limit) or ");
          return wrong;
        }
        text = std::to_string(GenerationOptions::kUnlimited);
        return std::string();
      },
      "-1: no limit");
}

void effc::cli::addTokenLimit(CLI::App &command, int64_t &limit) {
  command.add_option("-n", limit, "New tokens at most")
      ->type_name("N")
      ->transform(tokenLimit())
      ->default_str(std::to_string(limit));
}
