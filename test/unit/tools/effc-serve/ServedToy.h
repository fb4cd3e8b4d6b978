//===- ServedToy.h - effc serve on the toy model, over raw sockets --------===//
#ifndef EFFC_TEST_UNIT_TOOLS_EFFC_SERVE_SERVEDTOY_H
#define EFFC_TEST_UNIT_TOOLS_EFFC_SERVE_SERVEDTOY_H

#include "test/unit/runtime/toy/ToyArtifact.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <sys/types.h>
#include <vector>

namespace effc::test {

/// An answer as it came.
struct HttpAnswer {
  int status = 0; // 0: none came
  std::string head, body;

  /// The value of a header; "" where it is not there.
  std::string header(const std::string &name) const;
  nlohmann::json json() const { return nlohmann::json::parse(body); }
  /// The documents of its events, without the last, which has to be [DONE].
  std::vector<nlohmann::json> events() const;
};

/// A connection. Everything waits for ten seconds at most.
class HttpClient {
public:
  explicit HttpClient(uint16_t port);
  explicit HttpClient(const std::string &path); // a socket of the file system
  ~HttpClient();
  HttpClient(const HttpClient &) = delete;
  HttpClient &operator=(const HttpClient &) = delete;

  void send(const std::string &bytes);
  /// Sends a request and reads its answer. Headers end in line breaks.
  HttpAnswer ask(const std::string &method, const std::string &path,
                 const std::string &body = "", const std::string &headers = "");
  HttpAnswer post(const std::string &path, const nlohmann::json &body) {
    return ask("POST", path, body.dump(), "Content-Type: application/json\r\n");
  }
  HttpAnswer read();
  /// What comes next, up to `count` bytes; "" at the end.
  std::string readSome(size_t count);
  /// Ends it; whoever reads finds its end.
  void leave();
  /// Whether the other side ends it.
  bool isEnded() { return readSome(1).empty(); }

private:
  bool fill();
  int descriptor;
  std::string rest; // that was received and not yet read
};

/// The program, until it is told to end.
class ServedToy {
public:
  /// `options` besides the file, --port 0 and what finds the port.
  explicit ServedToy(std::vector<std::string> options = {},
                     const ToyOptions &toy = withChat());
  /// SIGTERM, and then SIGKILL where that does not help.
  ~ServedToy();
  ServedToy(const ServedToy &) = delete;
  ServedToy &operator=(const ServedToy &) = delete;

  uint16_t port() const { return where; }
  HttpAnswer get(const std::string &path) {
    return HttpClient(where).ask("GET", path);
  }
  HttpAnswer post(const std::string &path, const nlohmann::json &body) {
    return HttpClient(where).post(path, body);
  }
  /// The sum of a metric's rows that begin so.
  double metric(const std::string &begin);
  /// Waits until that is `value`; false where it is not in ten seconds.
  bool waitFor(const std::string &begin, double value);
  void signal(int number);
  /// The exit status; 128 + a signal; -1: it has not ended in ten seconds.
  int wait();
  /// What it has said.
  std::string said() const;

  /// A toy with a template of conversations: "[role] content" a line.
  static ToyOptions withChat();

private:
  TemporaryFile file, log, portFile;
  pid_t process = -1;
  uint16_t where = 0;
};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_TOOLS_EFFC_SERVE_SERVEDTOY_H
