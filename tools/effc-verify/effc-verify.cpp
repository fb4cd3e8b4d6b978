// `effc verify`: parses options, verifies, prints what was found.

#include "tools/effc-verify/PublishedWork.h"
#include "tools/effc-verify/Verification.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/OptionChecks.h"
#include "tools/terminal/Progress.h"
#include "tools/terminal/Table.h"
#include "tools/terminal/Terminal.h"

#include "llvm/Config/llvm-config.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

using namespace effc;
using namespace effc::cli;
using namespace effc::verify;

static std::string errorText(double error) {
  if (error == 0)
    return "0";
  if (!(error < INFINITY))
    return "differs";
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", error);
  return text;
}

static std::string toleranceText(const verify::Check &check) {
  if (check.tolerance == 0)
    return "same bits";
  return errorText(check.tolerance);
}

static size_t countFailed(const Report &report) {
  size_t failed = 0;
  for (const verify::Check &check : report.checks)
    failed += !check.passed();
  return failed;
}

static void printTable(const VerifyOptions &options, const Report &report) {
  Table table;
  table.add({"check", "against", "largest error", "tolerance", ""});
  for (const verify::Check &check : report.checks)
    table.add({check.name, check.against, errorText(check.error),
               toleranceText(check), check.passed() ? "ok" : "FAILED"});
  std::string text = options.file + ", " + std::to_string(report.tokens) +
                     " tokens, errors relative to the largest logit\n" +
                     table.text() + "tolerances\n";
  for (const std::string &line : report.tolerances)
    text += "  " + line + "\n";
  std::vector<std::string> skipped = report.skippedLines();
  if (!skipped.empty())
    text += "not checked\n";
  for (const std::string &line : skipped)
    text += "  " + line + "\n";
  print(text);
}

/// Infinities, which JSON cannot say, become null.
static nlohmann::ordered_json number(double value) {
  if (value < INFINITY)
    return value;
  return nullptr;
}

static void printJson(const VerifyOptions &options, const Report &report) {
  nlohmann::ordered_json json;
  json["file"] = options.file;
  json["tokens"] = report.tokens;
  json["passed"] = countFailed(report) == 0;
  json["checks"] = nlohmann::ordered_json::array();
  for (const verify::Check &check : report.checks)
    json["checks"].push_back({{"name", check.name},
                              {"against", check.against},
                              {"error", number(check.error)},
                              {"tolerance", number(check.tolerance)},
                              {"passed", check.passed()}});
  json["f32_loss"] =
      report.f32Loss ? number(*report.f32Loss) : nlohmann::ordered_json();
  json["tolerances"] = report.tolerances;
  json["skipped"] = report.skippedLines();
  print(json.dump(2, ' ', false,
                  nlohmann::ordered_json::error_handler_t::replace) +
        "\n");
}

/// Returns the exit status.
static int verifyFile(const VerifyOptions &options, bool json) {
  std::optional<Progress> bar; // made when the total is known
  Verification verification(options, [&](uint64_t done, uint64_t total) {
    if (!bar)
      bar.emplace("verify", "checks", total);
    bar->update(done);
  });
  Report report = verification.run();
  bar.reset();
  if (json)
    printJson(options, report);
  else
    printTable(options, report);
  flushOutput();
  size_t failed = countFailed(report);
  if (failed == 0)
    return kDone;
  for (const verify::Check &check : report.checks)
    if (!check.passed()) {
      printError("'" + options.file +
                 "' does not verify: " + std::to_string(failed) + " of " +
                 std::to_string(report.checks.size()) +
                 " checks failed, first '" + check.name + "'");
      break;
    }
  return kFailed;
}

int main(int argc, char **argv) {
  CLI::App app("Checks a compiled model against its meaning", "effc verify");
  VerifyOptions options;
  bool json = false;
  // `effc inspect --flops=published` comes here, where modules can be read.
  std::string flops;
  seq::PublishedSettings counting;
  CLI::Option *published =
      app.add_option("--flops", flops, "Count FLOPs instead, as papers do")
          ->check(CLI::IsMember({"published"}));
  app.add_option("--sequence", counting.tokens,
                 "With --flops: tokens of the sequence")
      ->check(wholeNumber(1, kMostCounted))
      ->needs(published)
      ->capture_default_str();
  app.add_option("--chunk", counting.chunk,
                 "With --flops: tokens of a recurrence's chunk; 0: leave them "
                 "out")
      ->check(wholeNumber(0, kMostCounted))
      ->needs(published)
      ->capture_default_str();
  app.add_option("FILE", options.file, "A compiled model")->required();
  app.add_option("--tokens", options.tokens, "Length of the sequence to try")
      ->check(wholeNumber(2, 4096))
      ->capture_default_str();
  app.add_flag("!--no-compile", options.compiles,
               "Leave out what has to be compiled: kernels in other forms, and "
               "whether compiling again gives the same code");
  addDeviceChoice(app, options.device);
  addModelAccess(app, options.access);
  app.add_flag("--json", json, "Print JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &success) {
    return app.exit(success);
  } catch (const CLI::ParseError &error) {
    printError(error.what());
    printNote(flops.empty() ? "see effc verify --help"
                            : "see effc inspect --help");
    return kWrongUsage;
  }
  try {
    if (!flops.empty()) {
      print(
          describePublishedWork(options.file, options.access, counting, json));
      flushOutput();
      return kDone;
    }
    return verifyFile(options, json);
  } catch (const std::bad_alloc &) {
    printError("out of memory");
    return kFailed;
  } catch (const std::exception &error) {
    printError(error.what());
    return kFailed;
  }
}
