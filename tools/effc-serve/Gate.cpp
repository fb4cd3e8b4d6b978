#include "tools/effc-serve/Gate.h"

#include <algorithm>
#include <arpa/inet.h>

using namespace effc::serve;

std::string_view effc::serve::withoutPort(std::string_view host) {
  if (host.starts_with("[")) {
    size_t end = host.find(']');
    return end == std::string_view::npos ? host : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

bool effc::serve::equalInConstantTime(std::string_view a, std::string_view b) {
  unsigned difference = a.size() != b.size();
  for (size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^
                  static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]);
  return difference == 0;
}

static bool equalIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

bool Gate::knowsHost(std::string_view host) const {
  if (settings.anyHost)
    return true;
  std::string name(withoutPort(host));
  // Nobody can have an address resolve to another one.
  in6_addr address;
  if (inet_pton(AF_INET, name.c_str(), &address) == 1 ||
      inet_pton(AF_INET6, name.c_str(), &address) == 1)
    return true;
  return equalIgnoringCase(name, "localhost") ||
         std::ranges::any_of(settings.hosts, [&](const std::string &known) {
           return equalIgnoringCase(known, name);
         });
}

/// No page, a page of this server, or one that was named.
bool Gate::knowsOrigin(const HttpRequest &request) const {
  std::string_view origin = request.header("origin");
  if (origin.empty())
    return true;
  size_t scheme = origin.find("://");
  if (scheme != std::string_view::npos &&
      origin.substr(scheme + 3) == request.header("host"))
    return true;
  return std::ranges::any_of(settings.origins, [&](const std::string &known) {
    return known == "*" || known == origin;
  });
}

bool Gate::knowsKey(std::string_view authorization) const {
  if (settings.keys.empty())
    return true;
  constexpr std::string_view kScheme = "bearer ";
  std::string_view given;
  if (authorization.size() >= kScheme.size() &&
      equalIgnoringCase(authorization.substr(0, kScheme.size()), kScheme))
    given = authorization.substr(kScheme.size());
  bool found = false;
  for (const std::string &key : settings.keys) // all of them, always
    found |= equalInConstantTime(given, key);
  return found;
}

std::optional<ApiError> Gate::refuse(const HttpRequest &request,
                                     bool isPublic) const {
  if (!request.isLocal && !knowsHost(request.header("host")))
    return ApiError(403,
                    "'" + std::string(request.header("host")) +
                        "' is no name of this server: effc serve "
                        "--allow-host makes it one",
                    "", "unknown_host");
  if (!knowsOrigin(request))
    return ApiError(403,
                    "pages of '" + std::string(request.header("origin")) +
                        "' may not ask here: effc serve --cors-origin "
                        "lets them",
                    "", "unknown_origin");
  if (!isPublic && request.method != "OPTIONS" &&
      !knowsKey(request.header("authorization")))
    return ApiError(401, "a key is needed: Authorization: Bearer KEY", "",
                    "invalid_api_key");
  return std::nullopt;
}

std::vector<Header> Gate::corsHeaders(const HttpRequest &request) const {
  std::string_view origin = request.header("origin");
  if (origin.empty() || settings.origins.empty() || !knowsOrigin(request))
    return {};
  return {{"Access-Control-Allow-Origin", std::string(origin)},
          {"Vary", "Origin"}};
}
