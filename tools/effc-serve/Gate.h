//===- Gate.h - Who may ask -----------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_GATE_H
#define EFFC_TOOLS_EFFC_SERVE_GATE_H

#include "tools/effc-serve/http/Message.h"
#include "tools/effc-serve/wire/ApiError.h"

#include <optional>
#include <string>
#include <vector>

namespace effc::serve {

struct GateSettings {
  std::vector<std::string> keys;  // empty: nobody needs one
  std::vector<std::string> hosts; // names besides addresses and "localhost"
  bool anyHost = false;
  std::vector<std::string> origins; // of pages elsewhere; "*": all
};

/// Holds requests to names, pages and keys. Any thread.
class Gate {
public:
  explicit Gate(GateSettings settings) : settings(std::move(settings)) {}

  /// Why a request is refused. A name that is none of this server's may be one
  /// that a page had resolve to this machine; a page of another origin may be
  /// anybody's; `isPublic`: no key is needed.
  std::optional<ApiError> refuse(const HttpRequest &request,
                                 bool isPublic) const;
  /// What an answer says to the browser that asked for another origin's page.
  std::vector<Header> corsHeaders(const HttpRequest &request) const;

private:
  bool knowsHost(std::string_view host) const;
  bool knowsOrigin(const HttpRequest &request) const;
  bool knowsKey(std::string_view authorization) const;

  GateSettings settings;
};

/// "localhost" of "localhost:8080", "::1" of "[::1]:8080".
std::string_view withoutPort(std::string_view host);

/// Whether two texts are equal, in a time that does not tell where they differ.
bool equalInConstantTime(std::string_view a, std::string_view b);

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_GATE_H
