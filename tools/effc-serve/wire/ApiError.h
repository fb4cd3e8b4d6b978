//===- ApiError.h - What a client is told when a request fails ------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_WIRE_APIERROR_H
#define EFFC_TOOLS_EFFC_SERVE_WIRE_APIERROR_H

#include "tools/effc-serve/http/Message.h"

#include <exception>
#include <string>

namespace effc::serve {

/// An error in the shape of OpenAI's API. Thrown while a request is read.
class ApiError : public std::exception {
public:
  /// The type that clients see follows from the status.
  ApiError(int status, std::string message, std::string param = "",
           std::string code = "")
      : status(status), message(std::move(message)), param(std::move(param)),
        code(std::move(code)) {}

  const char *what() const noexcept override { return message.c_str(); }
  /// {"error":{"message","type","param","code"}}.
  std::string body() const;
  /// With Retry-After where waiting helps, and x-should-retry: false where the
  /// same request would fail again.
  HttpResponse response() const;

  int status;
  std::string message, param, code;
  /// The field is there, but not `expected`: "'n' expects ..., but got ...".
  static ApiError invalid(const std::string &param, const std::string &message);
};

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_WIRE_APIERROR_H
