//===- Service.h - What each path does ------------------------------------===//
//
// The table of paths, and the way of a request: the gate, a worker that reads its
// body, the scheduler, an answer.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_SERVICE_H
#define EFFC_TOOLS_EFFC_SERVE_SERVICE_H

#include "tools/effc-serve/Gate.h"
#include "tools/effc-serve/SessionPaths.h"
#include "tools/effc-serve/Workers.h"
#include "tools/effc-serve/api/Requests.h"
#include "tools/effc-serve/engine/Generation.h"
#include "tools/effc-serve/http/HttpServer.h"
#include "tools/effc-serve/records/Log.h"
#include "tools/effc-serve/records/Metrics.h"

#include <atomic>
#include <memory>
#include <vector>

namespace effc::serve {

struct ServiceSettings {
  GateSettings gate;
  HttpLimits limits;
  LogFormat log = LogFormat::None;
  bool hasPage = true;
  SessionLimits sessions;
  std::chrono::milliseconds drainTime{30000};
};

/// A path and what answers there.
struct Route {
  const char *method;
  const char *path; // "/v1/models/*": whatever follows; "{session}": one part
  bool isPublic;    // needs no key
  bool generates;   // not while the server ends
};
/// All of them, for the description of the API to be held to.
std::span<const Route> routes();

class Service final : public Handler {
public:
  Service(ServiceSettings settings,
          std::vector<std::unique_ptr<ServedModel>> models);
  /// What is still generated holds connections, which end before the loop.
  ~Service() override { generations.clear(); }

  HttpServer &http() { return server; }
  /// Ends in order: nothing new is taken, what has tokens may end.
  void drain();
  /// Behind the end: saves sessions where they have a folder, and says how many
  /// could not be.
  size_t saveSessions() { return sessionPaths.saveAll(); }

  std::optional<HttpResponse> refuse(HttpRequest &request) override;
  void handle(std::shared_ptr<Exchange> exchange) override;
  HttpResponse errorOf(int status, const std::string &message) override;

private:
  using Reader = Asked (*)(const nlohmann::ordered_json &, const ServedModel &);
  using Teller = std::string (*)(const nlohmann::ordered_json &,
                                 const ServedModel &);

  HttpResponse get(const HttpRequest &request);
  std::string lostDevice() const;
  HttpResponse health(bool isLive = false) const;
  HttpResponse modelList() const;
  HttpResponse model(const std::string &name) const;
  HttpResponse page() const;
  void readInWorker(std::shared_ptr<Exchange> exchange);
  void answerBody(const std::shared_ptr<Exchange> &exchange);
  void embed(const std::shared_ptr<Exchange> &exchange,
             const nlohmann::ordered_json &body, size_t index);
  void generate(std::shared_ptr<Exchange> exchange, size_t index, Asked asked);
  size_t modelFor(const nlohmann::ordered_json &body) const;
  size_t modelOf(const SessionLease &lease,
                 const nlohmann::ordered_json &body) const;
  void respond(const std::shared_ptr<Exchange> &exchange,
               HttpResponse response);
  void stopWhenEmpty();

  ServiceSettings settings;
  std::vector<std::unique_ptr<ServedModel>> models;
  std::vector<std::unique_ptr<Generations>> generations; // of each model
  Gate gate;
  Log log;
  Metrics metrics;
  HttpServer server;
  SessionPaths sessionPaths;
  bool isDraining = false;
  std::atomic<int> embedding = 0; // requests that are not yet answered
  Workers embedders;
  Workers workers; // the first to end: what they do needs all else
};

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_SERVICE_H
