#include "tools/effc-serve/Options.h"

#include "tools/effc/Inputs.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/OptionChecks.h"
#include "tools/terminal/SafeText.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

using namespace effc::cli;
using namespace effc::serve;

static void declareAddress(CLI::App &app, Options &options) {
  app.option_defaults()->group("Address");
  app.add_option("--host", options.address,
                 "The numeric address to listen at; one that other machines "
                 "reach needs --api-key-file or --no-auth")
      ->type_name("ADDRESS")
      ->capture_default_str();
  app.add_option("--port", options.port,
                 "The port; 0: one that is free, which --port-file tells")
      ->check(wholeNumber(0, 65535))
      ->capture_default_str();
  app.add_option("--listen", options.unixPath,
                 "A socket of the file system in place of an address: "
                 "unix:PATH")
      ->type_name("unix:PATH");
  app.add_option("--port-file", options.portFile,
                 "Write the port into this file when requests are taken")
      ->type_name("FILE");
}

static void declareAccess(CLI::App &app, Options &options) {
  app.option_defaults()->group("Who may ask");
  app.add_option("--api-key-file", options.keyFile,
                 "A file with a key a line, of which a request has to have one "
                 "(Authorization: Bearer KEY)")
      ->type_name("FILE");
  app.add_flag("--no-auth", options.noAuth,
               "Take requests of other machines without a key");
  app.add_option("--allow-host", options.service.gate.hosts,
                 "A name of this server besides localhost and addresses; *: "
                 "any. Other names in a request's header Host are refused")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  app.add_option("--cors-origin", options.service.gate.origins,
                 "Pages of this origin may ask, such as "
                 "https://chat.example.org; *: of any")
      ->type_name("ORIGIN")
      ->expected(1)
      ->take_all();
}

static void declareLoad(CLI::App &app, Options &options) {
  app.option_defaults()->group("Requests");
  app.add_option("--slots", options.model.slots,
                 "Sequences that are computed at once")
      ->check(wholeNumber(1, 4096))
      ->capture_default_str();
  app.add_option("--queue", options.model.queue,
                 "Requests that may wait besides; more are answered with 429")
      ->check(wholeNumber(1, 65536))
      ->capture_default_str();
  app.add_option("--memory", options.memory,
                 "Bytes that states may take, such as 8G; a request whose "
                 "states do not fit yet waits (default: what the machine has)")
      ->type_name("BYTES");
  app.add_option("--cache-ram", options.cacheMemory,
                 "Bytes of memory that keep states of earlier prompts, so that "
                 "whoever begins alike reads what is new alone; 0: none "
                 "(default: a quarter of what is free, at most 8G)")
      ->type_name("BYTES");
  app.add_option("--cache-dir", options.model.cacheFolder,
                 "A folder where these states outlive the process")
      ->type_name("DIR");
  app.add_option("--cache-disk", options.cacheDisk,
                 "Bytes that they may have there")
      ->type_name("BYTES")
      ->capture_default_str();
  app.add_option("--checkpoint-every", options.model.checkpointEvery,
                 "Keep states of long prompts every so many tokens")
      ->type_name("N")
      ->check(wholeNumber(0, UINT32_MAX))
      ->capture_default_str();
  app.add_option("--session-ram", options.sessionMemory,
                 "Bytes of memory that states of sessions (/v1/sessions) may "
                 "take; 0: no sessions")
      ->type_name("BYTES")
      ->capture_default_str();
  app.add_option("--session-ttl", options.sessionSeconds,
                 "How many seconds a session that nobody uses lives, unless it "
                 "says")
      ->check(wholeNumber(1, 2592000))
      ->capture_default_str();
  app.add_option("--max-sessions", options.service.sessions.count,
                 "Sessions at once")
      ->check(wholeNumber(1, 1u << 20))
      ->capture_default_str();
  app.add_option("--session-dir", options.service.sessions.folder,
                 "A folder where sessions are saved, by request and when the "
                 "server ends in order")
      ->type_name("DIR");
  app.add_option("--max-tokens-cap", options.model.mostNewTokens,
                 "New tokens that one answer may have, which bounds how long "
                 "others wait")
      ->check(wholeNumber(1, 1u << 20))
      ->capture_default_str();
  options.model.drafts.declare(app,
                               "none, unless a request says speculative.n_max");
  app.add_option("--step-tokens", options.model.stepTokens,
                 "Tokens of prompts in a step in which others decode: more "
                 "begin answers sooner, and make the others stutter")
      ->check(wholeNumber(1, 65536))
      ->capture_default_str();
  app.add_option("--drain-seconds", options.drainSeconds,
                 "How long answers may go on after SIGTERM")
      ->check(wholeNumber(0, 86400))
      ->capture_default_str();
}

static void declareLimits(CLI::App &app, Options &options) {
  HttpLimits &limits = options.service.limits;
  app.option_defaults()->group("Limits of connections");
  app.add_option("--max-connections", limits.connections,
                 "Connections at once; more are answered with 503")
      ->check(wholeNumber(1, 65536))
      ->capture_default_str();
  struct {
    const char *name;
    uint32_t &seconds;
    const char *help;
  } times[] = {
      {"--header-seconds", options.headerSeconds,
       "How long the headers of a request may take"},
      {"--body-seconds", options.bodySeconds, "How long its body may take"},
      {"--idle-seconds", options.idleSeconds,
       "How long a connection may wait for its next request"}};
  for (const auto &time : times)
    app.add_option(time.name, time.seconds, time.help)
        ->check(wholeNumber(1, 86400))
        ->capture_default_str();
  app.add_option("--max-body", options.bodyBytes, "Bytes of a request's body")
      ->check(wholeNumber(1, uint64_t(1) << 30))
      ->capture_default_str();
}

void Options::declare(CLI::App &app) {
  app.option_defaults()->group("Model");
  app.add_option("FILE,-m,--model", files, "Compiled models")
      ->type_name("FILE")
      ->required();
  app.add_option("--name", names,
                 "What requests call a model, for each file in order (default: "
                 "the file's name without .effc)")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  app.add_option("--chat-template", model.chatTemplate,
                 "A file with a Jinja template in place of the model's own")
      ->type_name("FILE");
  addModelAccess(app, model.access);
  addDeviceChoice(app, model.device);
  declareAddress(app, *this);
  declareAccess(app, *this);
  declareLoad(app, *this);
  declareLimits(app, *this);
  app.option_defaults()->group("Output");
  app.add_option("--log", log,
                 "A line on standard error for each request that generates; no "
                 "text of anybody is in it")
      ->check(CLI::IsMember({"none", "text", "json"}))
      ->capture_default_str();
  app.add_flag("--no-page", noPage, "Do not serve the page at /");
  app.footer("effc serve model.effc\n"
             "effc serve model.effc --port 0 --port-file port --slots 32\n"
             "effc serve model.effc --host 0.0.0.0 --api-key-file keys\n"
             "curl http://127.0.0.1:8080/v1/completions -H 'Content-Type: "
             "application/json' -d '{\"prompt\": \"And\", \"stream\": true}'");
}

/// The lines of a file that are not empty.
static std::vector<std::string> readKeys(const std::string &file) {
  std::vector<std::string> keys;
  std::string text = readWholeFile(file), line;
  for (char c : text + "\n") {
    if (c != '\n' && c != '\r') {
      line += c;
      continue;
    }
    if (!line.empty())
      keys.push_back(line);
    line.clear();
  }
  if (keys.empty())
    throw Failure("there is no key in '" + file + "'");
  return keys;
}

/// A quarter of the memory that nobody uses, in all models together.
static uint64_t cacheByDefault(size_t models) {
  constexpr uint64_t kMost = uint64_t(8) << 30;
  std::ifstream stream("/proc/meminfo");
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with("MemAvailable:"))
      return std::min<uint64_t>(kMost,
                                std::stoull(line.substr(line.find(':') + 1)) *
                                    1024 / 4) /
             models;
  return 0;
}

static bool isUtf8(const std::string &text) {
  try {
    nlohmann::ordered_json(text).dump();
    return true;
  } catch (const nlohmann::ordered_json::exception &) {
    return false;
  }
}

void Options::resolve() {
  constexpr std::string_view kUnix = "unix:";
  if (!unixPath.empty()) {
    if (!unixPath.starts_with(kUnix) || unixPath.size() == kUnix.size())
      throw UsageError("--listen expects unix:PATH, but got '" + unixPath +
                       "'; an address is --host");
    unixPath.erase(0, kUnix.size());
  }
  bool isLocal =
      !unixPath.empty() || address.starts_with("127.") || address == "::1";
  if (!isLocal && keyFile.empty() && !noAuth)
    throw UsageError("other machines reach " + address +
                     ": give --api-key-file, or --no-auth where anybody may "
                     "ask");
  if (names.size() > files.size())
    throw UsageError("--name was given " + std::to_string(names.size()) +
                     " times, but there are " + std::to_string(files.size()) +
                     " files");
  std::set<std::string> distinct;
  for (size_t i = 0; i < files.size(); ++i)
    if (withoutControls(nameOf(i)) != nameOf(i) || !isUtf8(nameOf(i)))
      throw UsageError("'" + nameOf(i) +
                       "' is no name that requests can have: --name gives "
                       "another");
    else if (!distinct.insert(nameOf(i)).second)
      throw UsageError("two models are called '" + nameOf(i) +
                       "': --name gives each its own");
  if (!keyFile.empty())
    service.gate.keys = readKeys(keyFile);
  if (!memory.empty())
    model.memory = parseBytes(memory);
  model.cacheBytes = cacheMemory.empty() ? cacheByDefault(files.size())
                                         : parseBytes(cacheMemory);
  model.cacheDiskBytes = parseBytes(cacheDisk);
  service.sessions.bytes = parseBytes(sessionMemory);
  service.sessions.life = std::chrono::seconds(sessionSeconds);
  if (!model.cacheFolder.empty() && model.cacheBytes == 0)
    throw UsageError("--cache-dir needs memory of --cache-ram as well");
  for (const std::string &host : service.gate.hosts)
    service.gate.anyHost |= host == "*";
  service.limits.bodyBytes = bodyBytes;
  service.limits.headerTime = std::chrono::seconds(headerSeconds);
  service.limits.bodyTime = std::chrono::seconds(bodySeconds);
  service.limits.idleTime = std::chrono::seconds(idleSeconds);
  service.drainTime = std::chrono::seconds(drainSeconds);
  service.hasPage = !noPage;
  service.log = log == "json"   ? LogFormat::Json
                : log == "text" ? LogFormat::Text
                                : LogFormat::None;
}

std::string Options::nameOf(size_t index) const {
  if (index < names.size())
    return names[index];
  return std::filesystem::path(files[index]).stem().string();
}
