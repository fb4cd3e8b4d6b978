// `effc serve`: parses options, opens models, serves until it is told to end.

#include "tools/effc-serve/Options.h"
#include "tools/effc-serve/Service.h"
#include "tools/terminal/CommandLine.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/Terminal.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace effc;
using namespace effc::cli;
using namespace effc::serve;

static constexpr ForeignOption kForeign[] = {
    {"-c", "the context is fixed when a model is compiled: effc compile "
           "--max-context N"},
    {"--ctx-size", "the context is fixed when a model is compiled: effc "
                   "compile --max-context N"},
    {"-np", "--slots N"},
    {"--parallel", "--slots N"},
    {"--api-key", "a key on the command line can be seen by others: "
                  "--api-key-file FILE"},
    {"--alias", "--name NAME"},
    {"--served-model-name", "--name NAME"},
    {"--max-num-seqs", "--slots N"},
    {"--speculative-config", "--draft-tokens N, --draft-model FILE"},
    {"--speculative_config", "--draft-tokens N, --draft-model FILE"},
    {"-md", "--draft-model FILE"},
};

/// Under its name the file is whole.
static void writePort(const std::string &file, uint16_t port) {
  std::string partial = file + ".part";
  std::ofstream stream(partial);
  stream << port << "\n";
  stream.close();
  std::error_code error;
  if (stream)
    std::filesystem::rename(partial, file, error);
  if (!stream || error)
    throw Failure("cannot write '" + file + "'");
}

static int run(int argc, char **argv) {
  CLI::App app("Serve compiled models over OpenAI's API", "effc serve");
  Options options;
  options.declare(app);
  if (!readCommandLine(app, "effc serve", {argv + (argc > 0), argv + argc},
                       kForeign))
    return kDone;
  options.resolve();
  std::vector<std::unique_ptr<ServedModel>> models;
  for (size_t i = 0; i < options.files.size(); ++i) {
    models.push_back(std::make_unique<ServedModel>(
        options.nameOf(i), options.files[i], options.model));
    printNote(models.back()->summary());
  }
  Service service(options.service, std::move(models));
  if (options.unixPath.empty()) {
    uint16_t port = service.http().listen(options.address, options.port);
    if (!options.portFile.empty())
      writePort(options.portFile, port);
    bool isSix = options.address.find(':') != std::string::npos;
    printNote("serving at http://" +
              (isSix ? "[" + options.address + "]" : options.address) + ":" +
              std::to_string(port));
  } else {
    service.http().listenAt(options.unixPath);
    printNote("serving at unix:" + options.unixPath);
  }
  service.http().run();
  if (size_t failed = service.saveSessions())
    throw Failure(std::to_string(failed) + " sessions could not be saved in '" +
                  options.service.sessions.folder + "'");
  return kDone;
}

int main(int argc, char **argv) {
  return runMain("effc serve --help", run, argc, argv);
}
