//===- Message.h - A request and an answer of HTTP ------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_HTTP_MESSAGE_H
#define EFFC_TOOLS_EFFC_SERVE_HTTP_MESSAGE_H

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace effc::serve {

/// A name in lower case, and a value.
using Header = std::pair<std::string, std::string>;

struct HttpRequest {
  std::string method; // "GET"
  std::string path;   // without a query: "/v1/models"
  std::vector<Header> headers;
  std::string body;
  bool isLocal = false; // it came by a socket of the file system
  std::vector<Header> answerHeaders = {}; // that every answer to it gets

  /// The first header called so in lower case; "" where there is none.
  std::string_view header(std::string_view name) const {
    for (const Header &header : headers)
      if (header.first == name)
        return header.second;
    return {};
  }
  bool has(std::string_view name) const {
    for (const Header &header : headers)
      if (header.first == name)
        return true;
    return false;
  }
};

/// Content-Length, Connection and Date are the server's to write.
struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::vector<Header> headers = {};
  std::string body = {};
};

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_HTTP_MESSAGE_H
