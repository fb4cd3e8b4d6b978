// `effc verify`: parses options, verifies, prints what was found.

#include "compiler/OutOfMemory.h"
#include "tools/effc-verify/GgufInspection.h"
#include "tools/effc-verify/PublishedWork.h"
#include "tools/effc-verify/Verification.h"
#include "tools/terminal/CommandLine.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/OptionChecks.h"
#include "tools/terminal/Progress.h"
#include "tools/terminal/Supervision.h"
#include "tools/terminal/Table.h"
#include "tools/terminal/Terminal.h"

#include "llvm/Config/llvm-config.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <map>
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

/// What an error line ends with.
static std::string firstOpText(const Report &report) {
  if (report.firstKernel)
    return "; the first kernel that differs is " + *report.firstKernel;
  if (report.planDifference)
    return "; the first difference is in " + *report.planDifference;
  const std::optional<FirstOp> &first = report.firstOp;
  if (!first)
    return "";
  if (!first->op.empty())
    return "; the first op that differs is " + first->op;
  std::string part =
      first->layer.empty() ? "what stands outside of the layers" : first->layer;
  return "; what differs first is " + part +
         ", and no op of it where each result is written out";
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
  std::string text =
      options.file + ", " + std::to_string(report.tokens) + " tokens, " +
      (report.isa.empty() ? "" : "code of " + report.isa + ", ") +
      "errors relative to the largest logit\n" + table.text() + "tolerances\n";
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
  json["isa"] = report.isa.empty() ? nlohmann::ordered_json()
                                   : nlohmann::ordered_json(report.isa);
  json["passed"] = countFailed(report) == 0;
  json["checks"] = nlohmann::ordered_json::array();
  for (const verify::Check &check : report.checks)
    json["checks"].push_back(
        {{"name", check.name},
         {"against", check.against},
         {"error", number(check.error)},
         {"tolerance", number(check.tolerance)},
         {"passed", check.passed()},
         {"first_token", check.firstToken
                             ? nlohmann::ordered_json(*check.firstToken)
                             : nlohmann::ordered_json()}});
  json["first_kernel"] = nullptr;
  if (report.firstKernel)
    json["first_kernel"] = *report.firstKernel;
  json["plan_difference"] = nullptr;
  if (report.planDifference)
    json["plan_difference"] = *report.planDifference;
  json["first_op"] = nullptr;
  if (report.firstOp)
    json["first_op"] = {{"layer", report.firstOp->layer},
                        {"op", report.firstOp->op}};
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
      printError(
          "'" + options.file + "' does not verify: " + std::to_string(failed) +
          " of " + std::to_string(report.checks.size()) +
          " checks failed, first '" + check.name + "'" +
          (check.firstToken
               ? ", from token " + std::to_string(*check.firstToken) + " on"
               : "") +
          firstOpText(report));
      break;
    }
  return kFailed;
}

namespace {
struct Arguments {
  VerifyOptions verify;
  bool json = false;
  // `effc inspect` of a GGUF file comes here, where such are read.
  bool gguf = false;
  std::string layers = "auto";
  // `effc inspect --flops=published` comes here, where modules can be read.
  std::string flops;
  seq::PublishedSettings counting;
};
} // namespace

static const std::map<std::string, Layers> &layerChoices() {
  static const std::map<std::string, Layers> choices = {
      {"auto", Layers::AsTimeAllows},
      {"all", Layers::All},
      {"sample", Layers::Sample}};
  return choices;
}

static void declare(CLI::App &app, Arguments &a) {
  addModelFile(app, a.verify.file);
  a.verify.seconds = 60;
  app.option_defaults()->group("What to check");
  app.add_option("-n,--tokens", a.verify.tokens,
                 "Length of the sequence to try")
      ->check(wholeNumber(2, 4096))
      ->capture_default_str();
  app.add_option("--seconds", a.verify.seconds,
                 "Time for all of it, about: a shorter sequence and fewer "
                 "checks, which are named, where it is short; 0: no limit")
      ->check(numberThat([](float x) { return x >= 0 && x <= 1e7f; },
                         "a number of seconds from 0 on"))
      ->capture_default_str();
  app.add_option("--layers", a.layers,
                 "Layers that the reference and newly compiled kernels are "
                 "tried on. auto: all where --seconds leaves time, else also "
                 "the first and last of each kind, put together; sample: these "
                 "alone")
      ->type_name("WHICH")
      ->check(CLI::IsMember(layerChoices()))
      ->capture_default_str();
  app.add_flag(
      "!--no-run", a.verify.runs,
      "Run no machine code: checksums, code and plan compiled again, and "
      "the reference in every form alone");
  app.add_flag("!--no-compile", a.verify.compiles,
               "Leave out what has to be compiled: kernels in other forms, and "
               "whether compiling again gives the same code and plan");
  app.option_defaults()->group("Output");
  app.add_flag("--json", a.json, "Print JSON");
  addDeviceChoice(app, a.verify.device);
  addModelAccess(app, a.verify.access);
  app.option_defaults()->group("Counting (as effc inspect does)");
  CLI::Option *published =
      app.add_option("--flops", a.flops, "Count FLOPs instead, as papers do")
          ->check(CLI::IsMember({"published"}));
  app.add_option("--sequence", a.counting.tokens,
                 "With --flops: tokens of the sequence")
      ->check(wholeNumber(1, kMostCounted))
      ->needs(published)
      ->capture_default_str();
  app.add_option("--chunk", a.counting.chunk,
                 "With --flops: tokens of a recurrence's chunk; 0: leave them "
                 "out")
      ->check(wholeNumber(0, kMostCounted))
      ->needs(published)
      ->capture_default_str();
  app.add_flag("--gguf", a.gguf)->group("");
  app.footer("effc verify model.effc\n"
             "effc verify model.effc --seconds 600 -n 128\n"
             "effc verify model.effc --no-run --json");
}

/// Whose help to look up; another command's where it was started in its place.
static std::string help = "effc verify --help";

static int run(int argc, char **argv) {
  std::vector<std::string> arguments(argv + (argc > 0), argv + argc);
  for (const std::string &argument : arguments)
    if (argument.starts_with("--flops") || argument == "--gguf")
      help = "effc inspect --help";
  CLI::App app("Check a compiled model against its meaning", "effc verify");
  Arguments a;
  declare(app, a);
  if (!readCommandLine(app, "effc verify", arguments))
    return kDone;
  a.verify.layers = layerChoices().at(a.layers);
  if (a.verify.seconds == 0)
    a.verify.seconds = INFINITY;
  supervise();
  if (a.gguf) {
    print(describeGguf(a.verify.file, a.json));
    return kDone;
  }
  if (a.flops.empty())
    return verifyFile(a.verify, a.json);
  print(describePublishedWork(a.verify.file, a.verify.access, a.counting,
                              a.json));
  return kDone;
}

int main(int argc, char **argv) {
  endWhenOutOfMemory(kFailed);
  return runMain(help, run, argc, argv);
}
