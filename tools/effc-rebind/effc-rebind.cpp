// `effc rebind`: parses options, has the file rebound, says what was written.
#include "compiler/OutOfMemory.h"
#include "compiler/Rebind.h"
#include "tools/terminal/CommandLine.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/Progress.h"
#include "tools/terminal/Quantities.h"
#include "tools/terminal/SafeText.h"
#include "tools/terminal/Terminal.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

using namespace effc;
using namespace effc::cli;

namespace {
struct Arguments {
  RebindOptions rebind;
  bool noSync = false, json = false;
};
} // namespace

static void declare(CLI::App &app, Arguments &a) {
  app.option_defaults()->group("Files");
  app.add_option("FILE", a.rebind.file, "Compiled model (.effc)")->required();
  app.add_option("MODEL", a.rebind.model,
                 "What has the new weights, in the form that FILE was compiled "
                 "from: Hugging Face directory, GGUF file, or .mlir file of "
                 "the seq dialect")
      ->required();
  app.add_option("-o,--output", a.rebind.output,
                 "The new .effc file; FILE itself may be replaced, which a "
                 "program that runs it does not notice")
      ->required()
      ->type_name("OUT");
  app.add_option("--weights-from", a.rebind.weightsFrom,
                 "Directory that the weights of a .mlir file are in")
      ->type_name("DIR");
  app.add_option("--importance", a.rebind.importance,
                 "How much each input of each matrix counts where weights are "
                 "rounded; expected where FILE was compiled with such a file")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  app.option_defaults()->group("Results");
  app.add_flag("--json", a.json, "Print what was written as JSON");
  app.add_flag("--no-sync", a.noSync,
               "Do not wait until the output is on the disk: a loss of power "
               "may lose it");
  app.footer("effc rebind model.effc path/to/checkpoint-200 -o step-200.effc\n"
             "effc rebind model.effc path/to/checkpoint-200 -o model.effc "
             "--no-sync\n"
             "effc rebind model.effc model.mlir --weights-from DIR -o "
             "other.effc");
}

static void printJson(const Arguments &a, const Rebound &result,
                      double seconds) {
  nlohmann::ordered_json json;
  json["file"] = a.rebind.file;
  json["model"] = a.rebind.model;
  json["output"] = a.rebind.output;
  json["bytes"] = result.file.fileBytes;
  json["parameters"] = result.file.parameters;
  json["weights"] = result.weights;
  json["changed"] = result.changed;
  json["left_aside"] = result.notes;
  json["seconds"] = seconds;
  print(json.dump(2, ' ', false,
                  nlohmann::ordered_json::error_handler_t::replace) +
        "\n");
}

static int run(int argc, char **argv) {
  CLI::App app("Rebind a compiled file: give it the weights of another "
               "checkpoint of the same model, without compiling",
               "effc rebind");
  app.set_version_flag("--version", "effc " + getVersion().str() + " (commit " +
                                        getCommit().str() +
                                        ", LLVM " LLVM_VERSION_STRING ")");
  Arguments arguments;
  declare(app, arguments);
  if (!readCommandLine(app, "effc rebind", {argv + (argc > 0), argv + argc}))
    return kDone;
  if (arguments.rebind.output == "-")
    throw Failure("an artifact needs a file: -o OUT.effc");
  arguments.rebind.durable = !arguments.noSync;
  auto start = std::chrono::steady_clock::now();
  std::optional<Progress> progress; // made when the total is known
  llvm::Expected<Rebound> result =
      rebind(arguments.rebind, [&](uint64_t done, uint64_t total) {
        if (!progress)
          progress.emplace("weights", "elements", total);
        progress->update(done);
      });
  progress.reset();
  if (!result)
    throw Failure(llvm::toString(result.takeError()));
  std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  for (const std::string &note : result->notes)
    printNote(note);
  if (arguments.json)
    printJson(arguments, *result, taken.count());
  else
    llvm::errs() << withoutControls(
                        arguments.rebind.output + ": " +
                        formatBytes(result->file.fileBytes) + ", " +
                        formatCount(result->file.parameters) + " parameters, " +
                        formatCount(result->changed) + " of " +
                        formatCount(result->weights) + " weights are new, in " +
                        formatNumber(taken.count(), 3) + " s")
                 << "\n";
  return kDone;
}

int main(int argc, char **argv) {
  endWhenOutOfMemory(kFailed);
  return runMain("effc rebind --help", run, argc, argv);
}
