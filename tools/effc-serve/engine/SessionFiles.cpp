#include "tools/effc-serve/engine/SessionFiles.h"

#include "tools/effc/TextFile.h"
#include "tools/terminal/Failure.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace effc;
using namespace effc::serve;
using Json = nlohmann::ordered_json;

static constexpr std::string_view kEnd = ".session", kStateEnd = ".effs";
static constexpr int kFormat = 1;

SessionFiles::SessionFiles(std::string given) : folder(std::move(given)) {
  // What others have said is nobody else's.
  if (!folder.empty() && ::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    throw cli::Failure("cannot make the folder '" + folder +
                       "': " + std::strerror(errno));
}

void SessionFiles::requireFolder() const {
  if (folder.empty())
    throw ApiError(400,
                   "the server has no folder for sessions: --session-dir DIR",
                   "", "no_session_dir");
}

std::string SessionFiles::pathOf(const std::string &name) const {
  return folder + "/" + name;
}

bool SessionFiles::has(const std::string &id) const {
  return !folder.empty() &&
         std::filesystem::exists(pathOf(id + std::string(kEnd)));
}

static Json readWhole(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream bytes;
  if (!stream || !(bytes << stream.rdbuf()))
    return Json(Json::value_t::discarded);
  return Json::parse(bytes.str(), nullptr, false);
}

/// The state file of what is saved; "" for none.
static std::string stateOf(const Json &saved) {
  if (!saved.is_object() || !saved.contains("state") ||
      !saved["state"].is_string())
    return "";
  // A name alone: nobody is led elsewhere.
  return std::filesystem::path(saved["state"].get<std::string>()).filename();
}

void SessionFiles::save(const NamedSession &session,
                        const std::string &model) const {
  requireFolder();
  std::string path = pathOf(session.id + std::string(kEnd));
  std::string before = stateOf(readWhole(path)), name;
  if (session.states) {
    name = session.id + "." + std::to_string(std::random_device()()) +
           std::string(kStateEnd);
    session.states->save(pathOf(name));
  }
  Json saved = {{"format", kFormat},
                {"model", model},
                {"created", session.created},
                {"ttl", session.life.count()},
                {"state", session.states ? Json(name) : Json()},
                {"near", session.isNear},
                {"tokens", session.tokens}};
  try {
    // Threads that save all the time would keep SIGTERM waiting.
    cli::replaceTextFile(
        path,
        saved.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  } catch (const cli::Failure &failure) {
    if (!name.empty())
      ::unlink(pathOf(name).c_str());
    throw ApiError(500, failure.what());
  }
  if (!before.empty())
    ::unlink(pathOf(before).c_str());
}

NamedSession
SessionFiles::load(const std::string &id,
                   std::span<const std::unique_ptr<ServedModel>> models) const {
  requireFolder();
  if (!has(id))
    throw ApiError(404, "no session '" + id + "' is saved here", "session",
                   "session_not_found");
  Json saved = readWhole(pathOf(id + std::string(kEnd)));
  auto damaged = [&](const std::string &why) {
    return ApiError(400, "the saved session '" + id + "' is damaged: " + why,
                    "session", "session_damaged");
  };
  if (!saved.is_object() || saved.value("format", Json()) != Json(kFormat))
    throw damaged("it is no JSON of format " + std::to_string(kFormat));
  NamedSession session;
  session.id = id;
  std::string state = stateOf(saved), model;
  try {
    model = saved.at("model").get<std::string>();
    session.tokens = saved.at("tokens").get<std::vector<int32_t>>();
    session.created = saved.at("created").get<int64_t>();
    session.life = std::chrono::seconds(saved.at("ttl").get<int64_t>());
    session.isNear = saved.at("near").get<bool>();
  } catch (const Json::exception &error) {
    throw damaged(error.what());
  }
  for (; session.model < models.size(); ++session.model)
    if (models[session.model]->name() == model)
      break;
  if (session.model == models.size())
    throw ApiError(404,
                   "the session is one of the model '" + model +
                       "', which is not served here",
                   "session", "model_not_found");
  const Model &served = models[session.model]->model();
  for (int32_t token : session.tokens)
    if (token < 0 || static_cast<uint32_t>(token) >= served.vocabularySize())
      throw damaged("a token is " + std::to_string(token));
  if (state.empty())
    return session;
  session.states = std::make_shared<Checkpoint>(served, pathOf(state));
  if (session.position() > session.tokens.size())
    throw damaged("its states are of more tokens than it has");
  return session;
}

void SessionFiles::remove(const std::string &id) const {
  std::string path = pathOf(id + std::string(kEnd));
  std::string state = stateOf(readWhole(path));
  ::unlink(path.c_str());
  if (!state.empty())
    ::unlink(pathOf(state).c_str());
}

std::vector<std::string> SessionFiles::list() const {
  std::vector<std::string> all;
  std::error_code error;
  if (folder.empty())
    return all;
  for (const auto &file : std::filesystem::directory_iterator(folder, error)) {
    std::string name = file.path().filename();
    if (name.ends_with(kEnd) &&
        Sessions::isId(name.substr(0, name.size() - kEnd.size())))
      all.push_back(name.substr(0, name.size() - kEnd.size()));
  }
  std::ranges::sort(all);
  return all;
}
