//===- SessionPaths.h - What /v1/sessions does ----------------------------===//
//
// What feeds a model or touches files is read by a worker; answers leave on the
// thread of the loop.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_SESSIONPATHS_H
#define EFFC_TOOLS_EFFC_SERVE_SESSIONPATHS_H

#include "tools/effc-serve/engine/Generation.h"
#include "tools/effc-serve/engine/SessionFiles.h"
#include "tools/effc-serve/http/HttpServer.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

namespace effc::serve {

class SessionPaths {
public:
  /// All of it outlives this. `respond` is called on the loop's thread.
  struct Around {
    const std::vector<std::unique_ptr<ServedModel>> &models;
    const std::vector<std::unique_ptr<Generations>> &generations;
    HttpServer &server;
    std::function<void(const std::shared_ptr<Exchange> &, HttpResponse)>
        respond;
  };
  SessionPaths(const SessionLimits &limits, Around around);

  static bool has(std::string_view path);
  /// GET and DELETE. Throws ApiError.
  HttpResponse answer(const HttpRequest &request);
  /// POST, on a worker's thread. `model` is what the body names. Throws ApiError.
  void read(const std::shared_ptr<Exchange> &exchange,
            const nlohmann::ordered_json &body, size_t model);
  /// That of the session a body names; null where it names none.
  std::shared_ptr<SessionLease> leaseFor(const nlohmann::ordered_json &body);

  Sessions::Numbers numbers() { return sessions->numbers(); }
  /// Saves all of them where there is a folder; how many could not be.
  size_t saveAll();

private:
  std::string describe(const NamedSession &session);
  HttpResponse told(const NamedSession &session, int status = 200);
  HttpResponse remove(const std::string &id);
  void create(const std::shared_ptr<Exchange> &exchange,
              const nlohmann::ordered_json &body, size_t model);
  void append(const std::shared_ptr<Exchange> &exchange,
              const nlohmann::ordered_json &body, const std::string &id);
  void feed(std::shared_ptr<Exchange> exchange,
            std::shared_ptr<SessionLease> lease, std::vector<int32_t> more,
            int status);
  NamedSession fork(const nlohmann::ordered_json &body, const std::string &id);
  NamedSession save(const nlohmann::ordered_json &body, const std::string &id);
  NamedSession restore(const std::string &id);
  uint64_t bytesOf(const NamedSession &session) const;

  Around around;
  SessionFiles files;
  std::shared_ptr<Sessions> sessions;
};

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_SESSIONPATHS_H
