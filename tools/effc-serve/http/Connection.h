//===- Connection.h - One connection of HTTP/1.1 --------------------------===//
//
// Requests one after another: their bytes are read and held to bounds, and answers
// are written. Known to the sources of this folder alone. All of it runs on the
// thread of the loop.
//
//   Idle ──> Header ──> Body ──> Answering ──> Idle
//                │         │         └──> Lingering ──> Closed
//                └─────────┴── what is refused is answered, and the rest discarded
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_HTTP_CONNECTION_H
#define EFFC_TOOLS_EFFC_SERVE_HTTP_CONNECTION_H

#include "tools/effc-serve/http/HttpServer.h"

#include <atomic>
#include <boost/asio.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <optional>
#include <set>

namespace effc::serve {

namespace net = boost::asio;
namespace http = boost::beast::http;
using Clock = std::chrono::steady_clock;
using ErrorCode = boost::system::error_code;
// Sockets of the network and of the file system alike.
using Protocol = net::generic::stream_protocol;
using Socket = Protocol::socket;

class Connection;
class ConnectionExchange;

/// What connections share.
struct Shared {
  HttpLimits limits;
  Handler &handler;
  net::io_context loop{1};
  std::set<std::shared_ptr<Connection>> connections = {};
  std::atomic<uint32_t> count = 0;
  std::atomic<uint64_t> refused = 0, slowReaders = 0;
  bool isClosing = false; // no request follows an answer
  std::string date = {};  // of now
};

/// The line and the headers of an answer, and `more` of these; `framing` says how
/// its end is known.
std::string headOf(const HttpResponse &response,
                   const std::vector<Header> &more, const std::string &date,
                   std::string_view framing, bool keepsAlive);

/// One connection: requests one after another.
class Connection : public std::enable_shared_from_this<Connection> {
public:
  Connection(Shared &shared, Socket given, bool isLocal)
      : shared(shared), socket(std::move(given)), isLocal(isLocal) {}

  void start() {
    setDeadline(shared.limits.headerTime);
    readMore();
  }

  /// Looks what is overdue.
  void sweep(Clock::time_point now);
  bool isBusy() const { return phase == Phase::Answering; }
  void close();
  void closeIfIdle() {
    if (phase == Phase::Idle)
      close();
  }

  void answer(ConnectionExchange *from, HttpResponse response);
  void begin(ConnectionExchange *from, HttpResponse head);
  bool write(ConnectionExchange *from, std::string_view text);
  void end(ConnectionExchange *from);
  void abandoned(ConnectionExchange *from) {
    if (current == from)
      close();
  }

private:
  enum class Phase { Idle, Header, Body, Answering, Lingering, Closed };

  void setDeadline(std::chrono::milliseconds time) {
    deadline = Clock::now() + time;
  }
  void readMore();
  void tookBytes(ErrorCode error, size_t count);
  void readHeader();
  void tookHeader(ErrorCode error);
  void readBody();
  void tookBody(ErrorCode error);
  void failed(ErrorCode error, const char *what);
  void refuse(HttpResponse response);
  void dispatch();
  void postFlush();
  void flush();
  void send();
  void checkPressure();
  size_t unsent() const { return pending.size() + outgoing.size() - sentBytes; }
  void sent();

  Shared &shared;
  Socket socket;
  bool isLocal;
  Phase phase = Phase::Idle;
  Clock::time_point deadline, lastSaid;
  boost::beast::flat_buffer buffer;
  std::optional<http::request_parser<http::string_body>> parser;
  HttpRequest asked;
  std::vector<Header> answerHeaders;
  ConnectionExchange *current = nullptr; // of whom more is to come
  /// The same, when all was said and is to be sent: nobody else may keep it.
  std::shared_ptr<ConnectionExchange> ending;
  bool isReading = false, isSending = false, isTimedOut = false;
  bool keepsAlive = false, isHead = false, isOld = false; // HTTP/1.0
  bool isStream = false, saysPings = false, isEnded = false, endIsSent = false;
  bool hasUnreadBody = false, flushIsPosted = false;
  bool isFull = false;                // whoever writes was told to pause
  std::string raw, pending, outgoing; // a head; parts; what is being sent
  size_t sentBytes = 0, discarded = 0;
};

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_HTTP_CONNECTION_H
