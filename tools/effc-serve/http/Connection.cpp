#include "tools/effc-serve/http/Connection.h"

#include <charconv>
#include <iterator>
#include <utility>

using namespace effc::serve;

static std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char &c : lower)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string effc::serve::headOf(const HttpResponse &response,
                                const std::vector<Header> &more,
                                const std::string &date,
                                std::string_view framing, bool keepsAlive) {
  std::string head = "HTTP/1.1 " + std::to_string(response.status) + " " +
                     std::string(http::obsolete_reason(http::int_to_status(
                         static_cast<unsigned>(response.status)))) +
                     "\r\nDate: " + date + "\r\nServer: effc\r\n";
  if (!response.type.empty())
    head += "Content-Type: " + response.type + "\r\n";
  for (const std::vector<Header> *headers : {&response.headers, &more})
    for (const Header &header : *headers)
      head += header.first + ": " + header.second + "\r\n";
  head += framing;
  head += keepsAlive ? "Connection: keep-alive\r\n\r\n"
                     : "Connection: close\r\n\r\n";
  return head;
}

namespace effc::serve {
class ConnectionExchange final
    : public Exchange,
      public std::enable_shared_from_this<ConnectionExchange> {
public:
  ConnectionExchange(std::shared_ptr<Connection> connection, Shared &shared,
                     HttpRequest request)
      : connection(std::move(connection)), shared(shared) {
    asked = std::move(request);
  }
  /// Whoever drops a request ends its connection.
  ~ConnectionExchange() override {
    if (!isGone())
      net::dispatch(shared.loop, [connection = connection, self = this] {
        connection->abandoned(self);
      });
  }

  void answer(HttpResponse response) override {
    net::dispatch(shared.loop, [self = shared_from_this(),
                                response = std::move(response)]() mutable {
      self->connection->answer(self.get(), std::move(response));
    });
  }
  void begin(HttpResponse head) override {
    connection->begin(this, std::move(head));
  }
  bool write(std::string_view text) override {
    return connection->write(this, text);
  }
  void end() override { connection->end(this); }
  void onPressure(std::function<void(bool)> given) override {
    pressure = std::move(given);
  }
  void tellPressure(bool isFull) {
    if (pressure)
      pressure(isFull);
  }
  void onGone(std::function<void()> given) override {
    callback = std::move(given);
  }
  bool isGone() const override { return hasGone; }

  /// The client has gone, or the answer has ended.
  void over(bool early) {
    hasGone = true;
    auto called = std::move(callback);
    callback = nullptr;
    pressure = nullptr;
    if (early && called)
      called();
  }

private:
  std::shared_ptr<Connection> connection;
  Shared &shared;
  std::function<void()> callback;
  std::function<void(bool)> pressure;
  std::atomic<bool> hasGone = false;
};
} // namespace effc::serve

//===-- Reading -----------------------------------------------------------===//

/// Waits for bytes: the first of a request, or, while one is answered, the end of
/// the connection.
void Connection::readMore() {
  isReading = true;
  socket.async_read_some(
      buffer.prepare(4096),
      [self = shared_from_this()](ErrorCode error, size_t count) {
        self->tookBytes(error, count);
      });
}

void Connection::tookBytes(ErrorCode error, size_t count) {
  isReading = false;
  if (phase == Phase::Closed)
    return;
  if (error)
    return close();
  if (phase == Phase::Lingering) {
    discarded += count; // of a body that is not wanted
    if (discarded > shared.limits.bodyBytes)
      return close();
    return readMore();
  }
  buffer.commit(count);
  if (phase == Phase::Idle)
    readHeader();
}

void Connection::readHeader() {
  phase = Phase::Header;
  setDeadline(shared.limits.headerTime);
  parser.emplace();
  parser->header_limit(shared.limits.headerBytes);
  parser->body_limit(shared.limits.bodyBytes);
  http::async_read_header(socket, buffer, *parser,
                          [self = shared_from_this()](ErrorCode error, size_t) {
                            self->tookHeader(error);
                          });
}

/// No request, or not in time.
void Connection::failed(ErrorCode error, const char *what) {
  if (phase == Phase::Closed)
    return;
  hasUnreadBody = true;
  keepsAlive = false;
  const HttpLimits &limits = shared.limits;
  if (isTimedOut)
    return refuse(shared.handler.errorOf(
        408, std::string(what) + " of the request did not come in time"));
  if (error == http::error::header_limit)
    return refuse(shared.handler.errorOf(
        431, "headers may have " + std::to_string(limits.headerBytes) +
                 " bytes, and these have more"));
  if (error == http::error::body_limit)
    return refuse(shared.handler.errorOf(
        413, "a body may have " + std::to_string(limits.bodyBytes) +
                 " bytes, and this one has more"));
  if (error.category() == make_error_code(http::error::bad_value).category() &&
      error != http::error::end_of_stream &&
      error != http::error::partial_message)
    return refuse(shared.handler.errorOf(
        400, "this is no request of HTTP/1.1: " + error.message()));
  close();
}

void Connection::tookHeader(ErrorCode error) {
  if (phase == Phase::Closed)
    return;
  if (error)
    return failed(error, "the headers");
  const auto &message = parser->get();
  asked = {};
  answerHeaders.clear();
  asked.isLocal = isLocal;
  asked.method = std::string(message.method_string());
  std::string target(message.target());
  asked.path = target.substr(0, target.find_first_of("?#"));
  for (const auto &field : message)
    asked.headers.push_back(
        {lowered({field.name_string().data(), field.name_string().size()}),
         std::string(field.value())});
  keepsAlive = message.keep_alive() && !shared.isClosing;
  isOld = message.version() < 11;
  isHead = asked.method == "HEAD";
  hasUnreadBody = !parser->is_done();
  if (target.size() > shared.limits.targetBytes)
    return refuse(shared.handler.errorOf(
        414, "a target may have " + std::to_string(shared.limits.targetBytes) +
                 " bytes, but this one has " + std::to_string(target.size())));
  if (message.count(http::field::host) != 1 && !isOld)
    return refuse(shared.handler.errorOf(
        400, "a request of HTTP/1.1 has one header Host"));
  std::optional<HttpResponse> refusal = shared.handler.refuse(asked);
  answerHeaders = std::move(asked.answerHeaders);
  if (refusal)
    return refuse(std::move(*refusal));
  if (parser->is_done())
    return dispatch();
  phase = Phase::Body;
  setDeadline(shared.limits.bodyTime);
  if (lowered(asked.header("expect")) != "100-continue")
    return readBody();
  outgoing = "HTTP/1.1 100 Continue\r\n\r\n";
  net::async_write(socket, net::buffer(outgoing),
                   [self = shared_from_this()](ErrorCode error, size_t) {
                     if (self->phase != Phase::Body)
                       return;
                     if (error)
                       return self->close();
                     self->readBody();
                   });
}

void Connection::readBody() {
  http::async_read(socket, buffer, *parser,
                   [self = shared_from_this()](ErrorCode error, size_t) {
                     self->tookBody(error);
                   });
}

void Connection::tookBody(ErrorCode error) {
  if (phase == Phase::Closed)
    return;
  if (error)
    return failed(error, "the body");
  hasUnreadBody = false;
  asked.body = std::move(parser->get().body());
  dispatch();
}

void Connection::refuse(HttpResponse response) {
  phase = Phase::Answering;
  keepsAlive = keepsAlive && !hasUnreadBody;
  auto exchange = std::make_shared<ConnectionExchange>(shared_from_this(),
                                                       shared, HttpRequest());
  current = exchange.get();
  answer(exchange.get(), std::move(response));
}

void Connection::dispatch() {
  phase = Phase::Answering;
  parser.reset();
  auto exchange = std::make_shared<ConnectionExchange>(
      shared_from_this(), shared, std::move(asked));
  current = exchange.get();
  // What comes now is the next request, or the end of the connection.
  if (buffer.size() == 0)
    readMore();
  shared.handler.handle(exchange);
}

//===-- Answering ---------------------------------------------------------===//

void Connection::answer(ConnectionExchange *from, HttpResponse response) {
  if (current != from || isStream)
    return;
  keepsAlive = keepsAlive && !shared.isClosing;
  raw =
      headOf(response, answerHeaders, shared.date,
             "Content-Length: " + std::to_string(response.body.size()) + "\r\n",
             keepsAlive);
  if (!isHead)
    raw += response.body;
  ending = from->shared_from_this();
  isEnded = endIsSent = true;
  isSending = true;
  outgoing = std::move(raw);
  raw.clear();
  sentBytes = 0;
  send();
}

void Connection::begin(ConnectionExchange *from, HttpResponse head) {
  if (current != from || isStream)
    return;
  isStream = true;
  saysPings = head.type.starts_with("text/event-stream");
  lastSaid = Clock::now();
  keepsAlive = keepsAlive && !isOld && !shared.isClosing;
  raw = headOf(head, answerHeaders, shared.date,
               isOld ? "" : "Transfer-Encoding: chunked\r\n", keepsAlive);
  pending += head.body;
  postFlush();
}

bool Connection::write(ConnectionExchange *from, std::string_view text) {
  if (current != from)
    return false;
  constexpr uint64_t kMostTimes = 8;
  if (unsent() + text.size() > kMostTimes * shared.limits.unsentBytes) {
    ++shared.slowReaders;
    close();
    return false;
  }
  pending += text;
  postFlush();
  checkPressure();
  return true;
}

void Connection::end(ConnectionExchange *from) {
  if (current != from || !isStream)
    return;
  ending = from->shared_from_this();
  isEnded = true;
  postFlush();
}

/// Once a turn of the loop, so that what is said in it leaves in one piece.
void Connection::postFlush() {
  if (flushIsPosted)
    return;
  flushIsPosted = true;
  net::post(shared.loop, [self = shared_from_this()] {
    self->flushIsPosted = false;
    self->flush();
  });
}

void Connection::flush() {
  if (isSending || phase != Phase::Answering || !isStream || endIsSent)
    return;
  outgoing.swap(raw);
  raw.clear();
  sentBytes = 0;
  if (!pending.empty()) {
    if (!isOld) {
      char size[20];
      outgoing.append(
          size, std::to_chars(size, std::end(size), pending.size(), 16).ptr);
      outgoing += "\r\n";
    }
    outgoing += pending;
    if (!isOld)
      outgoing += "\r\n";
    pending.clear();
  }
  if (isEnded) {
    endIsSent = true;
    if (!isOld)
      outgoing += "0\r\n\r\n";
  }
  lastSaid = Clock::now();
  isSending = true;
  send();
}

/// Tells a writer to pause above the bound, and to go on below a quarter of it.
void Connection::checkPressure() {
  uint64_t most = shared.limits.unsentBytes;
  bool changes = isFull ? unsent() < most / 4 : unsent() > most;
  if (!changes || !current || !isStream)
    return;
  isFull = !isFull;
  current->tellPressure(isFull);
}

void Connection::send() {
  setDeadline(shared.limits.sendTime);
  socket.async_write_some(
      net::buffer(outgoing.data() + sentBytes, outgoing.size() - sentBytes),
      [self = shared_from_this()](ErrorCode error, size_t count) {
        if (self->phase != Phase::Answering)
          return;
        if (error)
          return self->close();
        self->sentBytes += count;
        self->checkPressure();
        if (self->phase != Phase::Answering)
          return;
        if (self->sentBytes < self->outgoing.size())
          return self->send();
        self->sent();
      });
}

/// All of `outgoing` has left.
void Connection::sent() {
  isSending = false;
  outgoing.clear();
  sentBytes = 0;
  if (!endIsSent) {
    if (!raw.empty() || !pending.empty() || isEnded)
      flush();
    return;
  }
  std::exchange(current, nullptr)->over(/*early=*/false);
  ending.reset();
  isStream = isEnded = endIsSent = isFull = false;
  if (keepsAlive && !shared.isClosing) {
    phase = Phase::Idle;
    setDeadline(shared.limits.idleTime);
    if (buffer.size() > 0)
      return readHeader();
    if (!isReading)
      readMore();
    return;
  }
  if (!hasUnreadBody)
    return close();
  // Closed now, the rest of the body would have the answer thrown away.
  ErrorCode ignored;
  socket.shutdown(Socket::shutdown_send, ignored);
  phase = Phase::Lingering;
  buffer.clear();
  setDeadline(std::chrono::milliseconds(2000));
  if (!isReading)
    readMore();
}

//===-- Ends --------------------------------------------------------------===//

void Connection::sweep(Clock::time_point now) {
  if (phase == Phase::Answering && isStream && saysPings && !isEnded &&
      now - lastSaid >= shared.limits.pingTime)
    write(current, ":\n\n");
  bool waits = phase != Phase::Answering || isSending;
  if (!waits || now < deadline)
    return;
  if (phase != Phase::Header && phase != Phase::Body) {
    shared.slowReaders += phase == Phase::Answering;
    return close();
  }
  isTimedOut = true;
  ErrorCode ignored;
  socket.cancel(ignored); // whoever reads answers
}

void Connection::close() {
  if (phase == Phase::Closed)
    return;
  phase = Phase::Closed;
  ErrorCode ignored;
  socket.shutdown(Socket::shutdown_both, ignored);
  socket.close(ignored);
  auto self = shared_from_this();
  shared.connections.erase(self);
  shared.count = static_cast<uint32_t>(shared.connections.size());
  if (ConnectionExchange *exchange = std::exchange(current, nullptr))
    exchange->over(/*early=*/true);
  ending.reset();
}
