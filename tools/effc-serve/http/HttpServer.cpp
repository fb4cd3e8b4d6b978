#include "tools/effc-serve/http/Connection.h"
#include "tools/terminal/Failure.h"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <deque>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace effc::serve;
using effc::cli::Failure;
using Acceptor = net::basic_socket_acceptor<Protocol>;

static std::string dateNow() {
  std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  char text[40];
  std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return text;
}

//===-- The loop ----------------------------------------------------------===//

namespace {
struct Listener {
  Acceptor acceptor;
  bool isLocal;
};

struct Watched {
  net::posix::stream_descriptor descriptor;
  std::function<void()> callback;
};
} // namespace

struct HttpServer::Implementation {
  Implementation(const HttpLimits &limits, Handler &handler)
      : shared{limits, handler} {
    shared.date = dateNow();
  }

  Shared shared;
  std::deque<Listener> listeners = {};
  std::deque<Watched> watched = {};
  std::optional<net::signal_set> signals = {};
  std::optional<net::steady_timer> sweeper = {};
  std::vector<std::string> paths = {};
  std::optional<Clock::time_point> stopAt = {};
  int reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);

  void accept(Listener &listener);
  void accepted(Listener &listener, ErrorCode error, Socket socket);
  void sweep();
  void wait(Watched &each);
  void waitForSignal(std::function<void()> callback);
};

void HttpServer::Implementation::accept(Listener &listener) {
  listener.acceptor.async_accept(
      [this, &listener](ErrorCode error, Socket socket) {
        accepted(listener, error, std::move(socket));
      });
}

void HttpServer::Implementation::accepted(Listener &listener, ErrorCode error,
                                          Socket socket) {
  if (!listener.acceptor.is_open())
    return;
  if (error == net::error::no_descriptors && reserve >= 0) {
    // One descriptor is kept to refuse those for whom there is none.
    ::close(reserve);
    int refused = ::accept4(listener.acceptor.native_handle(), nullptr, nullptr,
                            SOCK_CLOEXEC);
    if (refused >= 0)
      ::close(refused);
    reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ++shared.refused;
  }
  if (error) {
    auto timer = std::make_shared<net::steady_timer>(
        shared.loop, std::chrono::milliseconds(50));
    timer->async_wait([this, &listener, timer](ErrorCode) {
      if (listener.acceptor.is_open())
        accept(listener);
    });
    return;
  }
  ErrorCode ignored;
  if (shared.connections.size() >= shared.limits.connections) {
    HttpResponse full = shared.handler.errorOf(
        503, "there are as many connections as there may be: " +
                 std::to_string(shared.limits.connections));
    std::string text =
        headOf(full, {}, shared.date,
               "Content-Length: " + std::to_string(full.body.size()) + "\r\n",
               false) +
        full.body;
    socket.non_blocking(true, ignored);
    socket.write_some(net::buffer(text), ignored);
    socket.shutdown(Socket::shutdown_send, ignored);
    ++shared.refused;
  } else {
    if (!listener.isLocal)
      socket.set_option(net::ip::tcp::no_delay(true), ignored);
    auto connection = std::make_shared<Connection>(shared, std::move(socket),
                                                   listener.isLocal);
    shared.connections.insert(connection);
    shared.count = static_cast<uint32_t>(shared.connections.size());
    connection->start();
  }
  accept(listener);
}

void HttpServer::Implementation::sweep() {
  sweeper->expires_after(std::chrono::milliseconds(250));
  sweeper->async_wait([this](ErrorCode error) {
    if (error)
      return;
    shared.date = dateNow();
    auto now = Clock::now();
    auto connections = shared.connections; // those that close leave it
    bool isBusy = false;
    for (const auto &connection : connections) {
      connection->sweep(now);
      isBusy |= connection->isBusy();
    }
    if (stopAt && (!isBusy || now >= *stopAt))
      return shared.loop.stop();
    sweep();
  });
}

void HttpServer::Implementation::wait(Watched &each) {
  each.descriptor.async_wait(net::posix::stream_descriptor::wait_read,
                             [this, &each](ErrorCode error) {
                               if (error)
                                 return;
                               each.callback();
                               wait(each);
                             });
}

void HttpServer::Implementation::waitForSignal(std::function<void()> callback) {
  signals->async_wait([this, callback](ErrorCode error, int) {
    if (error)
      return;
    callback();
    waitForSignal(callback);
  });
}

HttpServer::HttpServer(const HttpLimits &limits, Handler &handler)
    : all(std::make_unique<Implementation>(limits, handler)) {
  std::signal(SIGPIPE, SIG_IGN);
}

HttpServer::~HttpServer() {
  auto connections = std::move(all->shared.connections);
  all->shared.connections.clear();
  for (const auto &connection : connections)
    connection->close();
  for (Watched &each : all->watched)
    each.descriptor.release(); // it is another's
  for (const std::string &path : all->paths)
    unlink(path.c_str());
  if (all->reserve >= 0)
    ::close(all->reserve);
}

/// A socket that listens.
static Acceptor listenerAt(net::io_context &loop,
                           const Protocol::endpoint &endpoint,
                           const std::string &name) {
  Acceptor acceptor(loop);
  ErrorCode error;
  acceptor.open(endpoint.protocol(), error);
  if (!error)
    acceptor.set_option(net::socket_base::reuse_address(true), error);
  if (!error)
    acceptor.bind(endpoint, error);
  if (!error)
    acceptor.listen(net::socket_base::max_listen_connections, error);
  if (error)
    throw Failure("cannot listen at " + name + ": " + error.message());
  return acceptor;
}

uint16_t HttpServer::listen(const std::string &address, uint16_t port) {
  ErrorCode error;
  net::ip::address parsed = net::ip::make_address(address, error);
  if (error)
    throw Failure("cannot listen at '" + address + "', which is no address");
  all->listeners.push_back(
      {listenerAt(all->shared.loop, net::ip::tcp::endpoint(parsed, port),
                  address + " port " + std::to_string(port)),
       false});
  Listener &listener = all->listeners.back();
  sockaddr_storage bound = {};
  socklen_t size = sizeof bound;
  getsockname(listener.acceptor.native_handle(),
              reinterpret_cast<sockaddr *>(&bound), &size);
  port = ntohs(bound.ss_family == AF_INET6
                   ? reinterpret_cast<sockaddr_in6 &>(bound).sin6_port
                   : reinterpret_cast<sockaddr_in &>(bound).sin_port);
  all->accept(listener);
  return port;
}

void HttpServer::listenAt(const std::string &path) {
  if (path.empty() || path.size() >= sizeof(sockaddr_un::sun_path))
    throw Failure("cannot listen at '" + path + "', which has " +
                  std::to_string(path.size()) + " bytes; 1 to " +
                  std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                  " are possible");
  net::local::stream_protocol::endpoint endpoint(path);
  struct stat found = {};
  if (lstat(path.c_str(), &found) == 0) {
    ErrorCode error;
    net::local::stream_protocol::socket trial(all->shared.loop);
    if (!S_ISSOCK(found.st_mode))
      throw Failure("cannot listen at '" + path + "': it is no socket");
    if (trial.connect(endpoint, error); !error)
      throw Failure("cannot listen at '" + path +
                    "': another process serves there");
    unlink(path.c_str());
  }
  all->listeners.push_back(
      {listenerAt(all->shared.loop, endpoint, "'" + path + "'"), true});
  all->paths.push_back(path);
  all->accept(all->listeners.back());
}

void HttpServer::closeListeners() {
  ErrorCode ignored;
  for (Listener &listener : all->listeners)
    listener.acceptor.close(ignored);
  all->shared.isClosing = true;
  auto connections = all->shared.connections;
  for (const auto &connection : connections)
    connection->closeIfIdle();
}

void HttpServer::post(std::function<void()> callback) {
  net::post(all->shared.loop, std::move(callback));
}

void HttpServer::after(std::chrono::milliseconds time,
                       std::function<void()> callback) {
  auto timer = std::make_shared<net::steady_timer>(all->shared.loop, time);
  timer->async_wait([timer, callback = std::move(callback)](ErrorCode error) {
    if (!error)
      callback();
  });
}

void HttpServer::watch(int descriptor, std::function<void()> callback) {
  all->watched.push_back(
      {net::posix::stream_descriptor(all->shared.loop, descriptor),
       std::move(callback)});
  all->wait(all->watched.back());
}

void HttpServer::onSignal(std::function<void()> callback) {
  all->signals.emplace(all->shared.loop, SIGTERM, SIGINT);
  all->waitForSignal(std::move(callback));
}

void HttpServer::run() {
  all->sweeper.emplace(all->shared.loop);
  all->sweep();
  all->shared.loop.run();
}

void HttpServer::stop() {
  post([this] { all->stopAt = Clock::now() + std::chrono::seconds(2); });
}

uint32_t HttpServer::connectionCount() const { return all->shared.count; }
uint64_t HttpServer::refusedCount() const { return all->shared.refused; }
uint64_t HttpServer::slowReaderCount() const { return all->shared.slowReaders; }
