#include "tools/effc-serve/wire/ApiError.h"

#include <nlohmann/json.hpp>

using namespace effc::serve;

namespace {
struct Kind {
  int status;
  const char *type;
  int retryAfter;   // seconds; 0: not said
  bool isRetriable; // whether the same request may succeed later
};
} // namespace

static constexpr Kind kKinds[] = {
    {400, "invalid_request_error", 0, false},
    {401, "authentication_error", 0, false},
    {403, "permission_error", 0, false},
    {404, "not_found_error", 0, false},
    {405, "invalid_request_error", 0, false},
    {408, "timeout_error", 0, true},
    {409, "conflict_error", 0, true},
    {413, "invalid_request_error", 0, false},
    {414, "invalid_request_error", 0, false},
    {415, "invalid_request_error", 0, false},
    {429, "rate_limit_error", 1, true},
    {431, "invalid_request_error", 0, false},
    {500, "server_error", 0, true},
    {501, "not_implemented_error", 0, false},
    {503, "unavailable_error", 2, true},
};

static const Kind &kindOf(int status) {
  for (const Kind &kind : kKinds)
    if (kind.status == status)
      return kind;
  return kindOf(500);
}

ApiError ApiError::invalid(const std::string &param,
                           const std::string &message) {
  return ApiError(400, "'" + param + "' " + message, param);
}

std::string ApiError::body() const {
  using Json = nlohmann::ordered_json;
  auto orNull = [](const std::string &text) {
    return text.empty() ? Json() : Json(text);
  };
  Json body = {{"error",
                {{"message", message},
                 {"type", kindOf(status).type},
                 {"param", orNull(param)},
                 {"code", orNull(code)}}}};
  // What a client sent may stand in it, and need be no UTF-8.
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

HttpResponse ApiError::response() const {
  HttpResponse response;
  response.status = status;
  response.body = body();
  const Kind &kind = kindOf(status);
  if (kind.retryAfter > 0)
    response.headers.push_back(
        {"Retry-After", std::to_string(kind.retryAfter)});
  // The same logits are not numbers the next time either, and a name stays taken.
  if (!kind.isRetriable || code == "numeric_error" || code == "session_exists")
    response.headers.push_back({"x-should-retry", "false"});
  return response;
}
