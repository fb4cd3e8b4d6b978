#include "tools/effc-serve/Service.h"

#include "tools/effc-serve/Embedded.h"
#include "tools/effc-serve/wire/JsonText.h"

#include <algorithm>
#include <cstdlib>
#include <random>

using namespace effc;
using namespace effc::serve;
using Json = nlohmann::ordered_json;

static constexpr Route kRoutes[] = {
    {"GET", "/health", true, false},
    {"GET", "/v1/health", true, false},
    {"GET", "/v2/health/live", true, false},
    {"GET", "/v2/health/ready", true, false},
    {"GET", "/v1/models", false, false},
    {"GET", "/v1/models/*", false, false},
    {"GET", "/tokenizer_info", false, false},
    {"GET", "/metrics", false, false},
    {"GET", "/openapi.json", true, false},
    {"GET", "/", true, false},
    {"POST", "/v1/completions", false, true},
    {"POST", "/v1/chat/completions", false, true},
    {"POST", "/v1/embeddings", false, false},
    {"POST", "/tokenize", false, false},
    {"POST", "/detokenize", false, false},
    {"POST", "/apply-template", false, false},
    {"POST", "/v1/sessions", false, true},
    {"GET", "/v1/sessions", false, false},
    {"GET", "/v1/sessions/{session}", false, false},
    {"DELETE", "/v1/sessions/{session}", false, false},
    {"POST", "/v1/sessions/{session}/append", false, true},
    {"POST", "/v1/sessions/{session}/fork", false, false},
    {"POST", "/v1/sessions/{session}/save", false, false},
    {"POST", "/v1/sessions/{session}/restore", false, false},
};

/// Paths that others have.
struct Hint {
  const char *path, *instead;
};
static constexpr Hint kHints[] = {
    {"/v1/responses", "POST /v1/chat/completions"},
    {"/v1/messages", "POST /v1/chat/completions"},
    {"/completion", "POST /v1/completions"},
    {"/completions", "POST /v1/completions"},
    {"/chat/completions", "POST /v1/chat/completions"},
    {"/generate", "POST /v1/completions"},
    {"/models", "GET /v1/models"},
};

std::span<const Route> serve::routes() { return kRoutes; }

static bool fits(const Route &route, std::string_view path) {
  std::string_view pattern = route.path;
  if (size_t brace = pattern.find('{'); brace != pattern.npos) {
    std::string_view before = pattern.substr(0, brace),
                     behind = pattern.substr(pattern.find('}') + 1);
    if (!path.starts_with(before) || !path.ends_with(behind) ||
        path.size() <= before.size() + behind.size())
      return false;
    path.remove_prefix(before.size());
    path.remove_suffix(behind.size());
    return path.find('/') == path.npos;
  }
  if (!pattern.ends_with("*"))
    return path == pattern;
  pattern.remove_suffix(1);
  return path.starts_with(pattern) && path.size() > pattern.size();
}

/// Of the path and the method, else of the path; null where there is none.
static const Route *routeOf(const HttpRequest &request) {
  std::string_view method =
      request.method == "HEAD" ? std::string_view("GET") : request.method;
  const Route *found = nullptr;
  for (const Route &route : kRoutes)
    if (fits(route, request.path) && (!found || route.method == method))
      found = &route;
  return found;
}

Service::Service(ServiceSettings given,
                 std::vector<std::unique_ptr<ServedModel>> served)
    : settings(std::move(given)), models(std::move(served)),
      gate(settings.gate), log(settings.log), metrics(log),
      server(settings.limits, *this),
      sessionPaths(settings.sessions,
                   {models, generations, server,
                    [this](const std::shared_ptr<Exchange> &exchange,
                           HttpResponse response) {
                      respond(exchange, std::move(response));
                    }}),
      embedders(1), workers(2) {
  for (const auto &model : models) {
    generations.push_back(std::make_unique<Generations>(
        *model, [this](std::function<void()> callback) {
          server.after(std::chrono::milliseconds(20), std::move(callback));
        }));
    if (model->generates())
      server.watch(model->scheduler().fd(),
                   [all = generations.back().get()] { all->pump(); });
  }
  server.onSignal([this] { drain(); });
}

HttpResponse Service::errorOf(int status, const std::string &message) {
  ++metrics.answers[{"", status}];
  return ApiError(status, message).response();
}

//===-- Before the body is read -------------------------------------------===//

/// The methods that a path takes: "GET, HEAD".
static std::string methodsOf(std::string_view path) {
  std::string all;
  for (const Route &route : kRoutes)
    if (fits(route, path)) {
      all += (all.empty() ? "" : ", ") + std::string(route.method);
      if (std::string_view(route.method) == "GET")
        all += ", HEAD";
    }
  return all;
}

static HttpResponse preflight(const std::string &path) {
  HttpResponse response;
  response.status = 204;
  response.type = "";
  response.headers = {
      {"Access-Control-Allow-Methods", methodsOf(path) + ", OPTIONS"},
      {"Access-Control-Allow-Headers", "authorization, content-type"},
      {"Access-Control-Max-Age", "600"}};
  return response;
}

static std::string unknownPath(const std::string &path) {
  for (const Hint &hint : kHints)
    if (path == hint.path)
      return "there is no '" + path + "' here; " + hint.instead;
  return "there is no '" + path +
         "' here; GET /openapi.json describes what "
         "there is";
}

/// "application/json", or that with parameters.
static bool isJson(std::string_view type) {
  std::string lower;
  for (char c : type.substr(0, type.find(';')))
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  while (lower.ends_with(" "))
    lower.pop_back();
  return lower == "application/json";
}

std::optional<HttpResponse> Service::refuse(HttpRequest &request) {
  request.answerHeaders = gate.corsHeaders(request);
  const Route *route = routeOf(request);
  auto refuse = [&](const ApiError &error) {
    ++metrics.answers[{route ? route->path : "", error.status}];
    return error.response();
  };
  if (auto error = gate.refuse(request, route && route->isPublic))
    return refuse(*error);
  if (!route)
    return refuse(ApiError(404, unknownPath(request.path)));
  bool isPost = std::string_view(route->method) == "POST";
  bool isHead = request.method == "HEAD" && !isPost;
  if (request.method == "OPTIONS" && !request.answerHeaders.empty())
    return preflight(request.path);
  if (request.method != route->method && !isHead) {
    std::string methods = methodsOf(request.path);
    HttpResponse response =
        refuse(ApiError(405, "'" + request.path + "' takes " + methods));
    response.headers.push_back({"Allow", methods});
    return response;
  }
  if (isPost && !isJson(request.header("content-type")))
    return refuse(
        ApiError(415, "a body is to be JSON: Content-Type: application/json"));
  if (route->generates && isDraining)
    return refuse(ApiError(503, "the server is ending"));
  return std::nullopt;
}

//===-- What is answered at once ------------------------------------------===//

/// Why a model's device computes nothing any more; "" where it does.
std::string Service::lostDevice() const {
  for (size_t i = 0; i < models.size(); ++i) {
    if (models[i]->stats().device_lost_now == 0)
      continue;
    const Embedder *embedder = models[i]->embedder();
    std::string why =
        embedder ? embedder->deviceFailure() : generations[i]->deviceFailure();
    return "the device of '" + models[i]->name() + "' was lost: " + why;
  }
  return "";
}

/// A device that is lost may come back with another process, so `isLive` asks for
/// that too, and not whether requests are taken.
HttpResponse Service::health(bool isLive) const {
  std::string why = lostDevice();
  if (isDraining && !isLive)
    why = "the server is ending";
  for (const auto &each : generations)
    if (!each->broken().empty())
      why = each->broken();
  if (!why.empty())
    return ApiError(503, why).response();
  HttpResponse response;
  response.body = "{\"status\":\"ok\"}";
  return response;
}

HttpResponse Service::modelList() const {
  HttpResponse response;
  response.body = "{\"object\":\"list\",\"data\":[";
  for (size_t i = 0; i < models.size(); ++i)
    response.body += (i == 0 ? "" : ",") + models[i]->description();
  response.body += "]}";
  return response;
}

static ApiError
noSuchModel(const std::string &name,
            const std::vector<std::unique_ptr<ServedModel>> &models) {
  std::string known;
  for (const auto &model : models)
    known += (known.empty() ? "'" : ", '") + model->name() + "'";
  return ApiError(404,
                  "there is no model '" + name + "' here; there is " + known,
                  "model", "model_not_found");
}

HttpResponse Service::model(const std::string &name) const {
  for (const auto &model : models)
    if (model->name() == name) {
      HttpResponse response;
      response.body = model->description();
      return response;
    }
  return noSuchModel(name, models).response();
}

/// With a number in it that this answer alone has: scripts and styles without it
/// do not run.
HttpResponse Service::page() const {
  std::random_device random;
  char nonce[40];
  std::snprintf(nonce, sizeof nonce, "%08x%08x%08x%08x", random(), random(),
                random(), random());
  HttpResponse response;
  response.type = "text/html; charset=utf-8";
  response.body = kPage;
  constexpr std::string_view kMark = "NONCE";
  for (size_t at = 0;
       (at = response.body.find(kMark, at)) != std::string::npos;)
    response.body.replace(at, kMark.size(), nonce);
  std::string quoted = "'nonce-" + std::string(nonce) + "'";
  response.headers = {
      {"Content-Security-Policy",
       "default-src 'none'; script-src " + quoted + "; style-src " + quoted +
           "; connect-src 'self'; base-uri 'none'; form-action 'none'; "
           "frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cache-Control", "no-store"}};
  return response;
}

HttpResponse Service::get(const HttpRequest &request) {
  const std::string &path = request.path;
  HttpResponse response;
  if (path == "/v2/health/live") {
    response = health(/*isLive=*/true);
    if (response.status == 200)
      response.body = "{\"live\":true}";
    return response;
  }
  if (path.ends_with("/health") || path.ends_with("/ready"))
    return health();
  if (path == "/v1/models")
    return modelList();
  if (constexpr std::string_view kPrefix = "/v1/models/";
      path.starts_with(kPrefix))
    return model(path.substr(kPrefix.size()));
  if (path == "/tokenizer_info") {
    response.body = answerTokenizerInfo(*models[0]);
    return response;
  }
  if (path == "/metrics") {
    response.type = "text/plain; version=0.0.4";
    response.body = metrics.page(models, server, sessionPaths.numbers());
    return response;
  }
  if (path == "/openapi.json") {
    response.body = kOpenApi;
    return response;
  }
  if (settings.hasPage)
    return page();
  return ApiError(404, "there is no page: the server runs with --no-page")
      .response();
}

//===-- What has a body ---------------------------------------------------===//

void Service::respond(const std::shared_ptr<Exchange> &exchange,
                      HttpResponse response) {
  const Route *route = routeOf(exchange->request());
  ++metrics.answers[{route ? route->path : "", response.status}];
  exchange->answer(std::move(response));
}

void Service::handle(std::shared_ptr<Exchange> exchange) {
  if (exchange->request().method == "POST")
    return readInWorker(std::move(exchange));
  try {
    const HttpRequest &request = exchange->request();
    respond(exchange, SessionPaths::has(request.path)
                          ? sessionPaths.answer(request)
                          : get(request));
  } catch (const ApiError &error) {
    respond(exchange, error.response());
  } catch (const Error &error) {
    respond(exchange, apiErrorOf(error).response());
  }
}

size_t Service::modelFor(const Json &body) const {
  Json name = body.value("model", Json());
  if (!name.is_null() && !name.is_string())
    throw ApiError::invalid("model", "expects a text, but got " + shown(name));
  if (name.is_null() || name == Json("")) {
    if (models.size() == 1)
      return 0;
    throw ApiError::invalid("model", "is required: there are several");
  }
  for (size_t i = 0; i < models.size(); ++i)
    if (models[i]->name() == name.get<std::string>())
      return i;
  throw noSuchModel(name.get<std::string>(), models);
}

/// A body may name the model as well.
size_t Service::modelOf(const SessionLease &lease, const Json &body) const {
  size_t model = lease.session().model;
  if (Json name = body.value("model", Json());
      !name.is_null() && name != Json("") && modelFor(body) != model)
    throw ApiError::invalid("model", "is another one than the session's, '" +
                                         models[model]->name() + "'");
  return model;
}

void Service::readInWorker(std::shared_ptr<Exchange> exchange) {
  workers.post([this, exchange = std::move(exchange)]() mutable {
    std::optional<ApiError> failure;
    try {
      answerBody(exchange);
    } catch (const ApiError &error) {
      failure = error;
    } catch (const Error &error) {
      failure = apiErrorOf(error);
    } catch (const std::exception &error) {
      failure = ApiError(500, error.what());
    }
    // The exchange belongs to the loop, and ends there.
    server.post([this, exchange = std::move(exchange), failure] {
      if (failure)
        respond(exchange, failure->response());
    });
  });
}

/// On a thread of its own: workers are there for those who wait less.
void Service::embed(const std::shared_ptr<Exchange> &exchange, const Json &body,
                    size_t index) {
  ++embedding;
  embedders.post([this, exchange, body, index]() mutable {
    HttpResponse response;
    try {
      response.body = answerEmbeddings(body, *models[index]);
    } catch (const ApiError &error) {
      response = error.response();
    } catch (const Error &error) {
      response = apiErrorOf(error).response();
    } catch (const std::exception &error) {
      response = ApiError(500, error.what()).response();
    }
    server.post([this, exchange = std::move(exchange), response] {
      --embedding;
      respond(exchange, response);
    });
  });
}

void Service::answerBody(const std::shared_ptr<Exchange> &exchange) {
  const std::string &path = exchange->request().path;
  Json body = parseBody(exchange->request().body);
  auto lease =
      path == "/v1/completions" ? sessionPaths.leaseFor(body) : nullptr;
  bool isOfSession = SessionPaths::has(path) && path != "/v1/sessions";
  size_t index = lease         ? modelOf(*lease, body)
                 : isOfSession ? 0 // the session says which
                               : modelFor(body);
  if (path == "/v1/embeddings")
    return embed(exchange, body, index);
  if (!isOfSession && !models[index]->generates() &&
      routeOf(exchange->request())->generates)
    throw ApiError(400,
                   "the model '" + models[index]->name() +
                       "' gives hidden states: it has /v1/embeddings alone",
                   "model", "no_generation");
  if (SessionPaths::has(path))
    return sessionPaths.read(exchange, body, index);
  const ServedModel &model = *models[index];
  struct {
    const char *path;
    Reader read;
    Teller tell;
  } static constexpr kBodies[] = {
      {"/v1/chat/completions", readChat, nullptr},
      {"/tokenize", nullptr, answerTokenize},
      {"/detokenize", nullptr, answerDetokenize},
      {"/apply-template", nullptr, answerApplyTemplate},
  };
  auto begin = [&](Asked read) {
    auto asked = std::make_shared<Asked>(std::move(read));
    server.post([this, exchange, index, asked] {
      generate(exchange, index, std::move(*asked));
    });
  };
  if (path == "/v1/completions")
    return begin(readCompletion(body, model, std::move(lease)));
  for (const auto &each : kBodies) {
    if (path != each.path)
      continue;
    if (each.tell) {
      HttpResponse response;
      response.body = each.tell(body, model);
      return server.post(
          [this, exchange, response] { respond(exchange, response); });
    }
    return begin(each.read(body, model));
  }
}

void Service::generate(std::shared_ptr<Exchange> exchange, size_t index,
                       Asked asked) {
  if (isDraining)
    return respond(exchange, ApiError(503, "the server is ending").response());
  std::make_shared<Answer>(std::move(exchange), *generations[index],
                           std::move(asked), metrics)
      ->start();
}

//===-- The end -----------------------------------------------------------===//

void Service::drain() {
  if (isDraining)
    std::_Exit(EXIT_FAILURE); // the second time: at once
  isDraining = true;
  server.closeListeners();
  ApiError ending(503, "the server is ending");
  for (const auto &each : generations)
    each->failAll(ending, /*alsoThoseWithTokens=*/false);
  server.after(settings.drainTime, [this, ending] {
    for (const auto &each : generations)
      each->failAll(ending, /*alsoThoseWithTokens=*/true);
    server.stop();
  });
  stopWhenEmpty();
}

void Service::stopWhenEmpty() {
  bool isEmpty = std::ranges::all_of(
      generations, [](const auto &each) { return each->isEmpty(); });
  if (isEmpty && embedding == 0)
    return server.stop();
  server.after(std::chrono::milliseconds(50), [this] { stopWhenEmpty(); });
}
