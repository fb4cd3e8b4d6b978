//===- HttpServer.h - Connections, and the thread that serves them --------===//
//
// All connections are served by one thread, that of run(). It parses requests,
// holds them to bounds, and writes answers; what computes anything runs elsewhere
// and posts its results here. The sources of this folder alone know Boost.
//
//   accept ──> header ──> body ──> Handler::handle ──> answer, or a stream
//                 │ Handler::refuse                        │
//                 └── an error, before the body is read    └── the next request
//
// Threads. Exchange::answer(), HttpServer::post() and stop() may be called by any
// thread; all else by the thread of run(), or before run().
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_HTTP_HTTPSERVER_H
#define EFFC_TOOLS_EFFC_SERVE_HTTP_HTTPSERVER_H

#include "tools/effc-serve/http/Message.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace effc::serve {

/// What a connection may take.
struct HttpLimits {
  uint64_t bodyBytes = uint64_t(8) << 20;
  uint32_t headerBytes = 16 << 10;
  uint32_t targetBytes = 2 << 10;
  uint32_t connections = 1024;
  /// Of a stream that wait to be sent: with more its writer is told to pause, and
  /// with eight times as many the connection ends.
  uint64_t unsentBytes = 1 << 20;
  std::chrono::milliseconds headerTime{10000};
  std::chrono::milliseconds bodyTime{30000};
  std::chrono::milliseconds idleTime{75000};
  std::chrono::milliseconds sendTime{60000}; // without a byte taken
  std::chrono::milliseconds pingTime{15000}; // of a stream that says nothing
};

/// One request, until it is answered.
class Exchange {
public:
  virtual ~Exchange() = default;

  const HttpRequest &request() const { return asked; }

  /// Answers in one piece. What is called after an end, or when the client has
  /// gone, does nothing.
  virtual void answer(HttpResponse response) = 0;

  /// Begins an answer in parts; `head.body` is its first. A stream of type
  /// text/event-stream gets a comment when nothing is said for a while.
  virtual void begin(HttpResponse head) = 0;
  /// Adds to the stream. What is written in one turn of the loop leaves together.
  /// False: the client has gone, or takes nothing, and is given up.
  virtual bool write(std::string_view text) = 0;
  virtual void end() = 0;

  /// Sets what is called when so much of a stream is unsent that its writer is to
  /// pause, and when the writer may go on.
  virtual void onPressure(std::function<void(bool isFull)> callback) = 0;
  /// Sets what is called when the client goes before the answer's end.
  virtual void onGone(std::function<void()> callback) = 0;
  virtual bool isGone() const = 0;

protected:
  HttpRequest asked;
};

/// What answers requests.
class Handler {
public:
  virtual ~Handler() = default;
  /// Called when the header is there: an answer where the request is refused
  /// without reading its body. May set `answerHeaders`.
  virtual std::optional<HttpResponse> refuse(HttpRequest &request) = 0;
  /// Called when all of it is there.
  virtual void handle(std::shared_ptr<Exchange> exchange) = 0;
  /// The answer to what is no request, or beyond a bound.
  virtual HttpResponse errorOf(int status, const std::string &message) = 0;
};

class HttpServer {
public:
  /// `handler` outlives the server.
  HttpServer(const HttpLimits &limits, Handler &handler);
  ~HttpServer();

  /// Listens at a numeric address; port 0: one that is free. Returns the port.
  /// Throws Failure.
  uint16_t listen(const std::string &address, uint16_t port);
  /// Listens at a socket of the file system, which is removed in the end. What lies
  /// there is replaced where it is a socket that nobody serves.
  void listenAt(const std::string &path);
  /// Takes no more connections, and ends those that wait for a request.
  void closeListeners();

  /// Calls `callback` in the loop.
  void post(std::function<void()> callback);
  /// Calls it some time from now.
  void after(std::chrono::milliseconds time, std::function<void()> callback);
  /// Calls it whenever `descriptor`, which stays the caller's, is readable.
  void watch(int descriptor, std::function<void()> callback);
  /// Calls it when SIGTERM or SIGINT comes, each time.
  void onSignal(std::function<void()> callback);

  /// Serves until stop().
  void run();
  void stop();

  uint32_t connectionCount() const;
  /// Those refused since there were too many, and readers given up.
  uint64_t refusedCount() const;
  uint64_t slowReaderCount() const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> all;
};

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_HTTP_HTTPSERVER_H
