// effc-serve-load: what many clients at once cost a server.
//
//   effc-serve-load PORT CLIENTS TOKENS [PID]
//
// Opens CLIENTS connections, has each stream TOKENS tokens once, and prints JSON:
// seconds until all were connected, until the first and the last first token, the
// events, and, of the process PID, the processor time for each token, of all threads
// and of the first alone, which has the connections, and the memory.
// Ends after 120 seconds in any case, with status 1 where a stream was not whole.

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <netinet/in.h>
#include <sstream>
#include <string>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;

namespace {
struct Client {
  int descriptor = -1;
  std::string rest;      // of an event that is not whole
  uint64_t events = 0;   // with a text
  double firstToken = 0; // seconds
  bool isDone = false;
};
} // namespace

static double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Seconds of processor time of a process; 0 where it is not to be found.
static double processorTime(const char *pid) {
  std::ifstream file("/proc/" + std::string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  if (text.rfind(')') == std::string::npos)
    return 0;
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i)
    fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / double(sysconf(_SC_CLK_TCK));
}

/// Seconds of processor time of a process's first thread.
static double firstThreadTime(const char *pid) {
  std::ifstream file("/proc/" + std::string(pid) + "/task/" + pid +
                     "/schedstat");
  double nanoseconds = 0;
  file >> nanoseconds;
  return nanoseconds * 1e-9;
}

static double residentMib(const char *pid) {
  std::ifstream file("/proc/" + std::string(pid) + "/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * double(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

static int connectTo(int port) {
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(descriptor, reinterpret_cast<sockaddr *>(&address),
              sizeof address) == 0)
    return descriptor;
  std::perror("connect");
  std::exit(1);
}

/// Takes what was received; false at the end.
static bool take(Client &client, const char *bytes, size_t size, double now) {
  client.rest.append(bytes, size);
  size_t begin = 0;
  for (size_t end; (end = client.rest.find("\n\n", begin)) != std::string::npos;
       begin = end + 2) {
    std::string_view event(client.rest.data() + begin, end - begin);
    if (event.find("[DONE]") != std::string_view::npos)
      client.isDone = true;
    else if (event.find("\"finish_reason\":null") != std::string_view::npos &&
             client.events++ == 0)
      client.firstToken = now;
  }
  client.rest.erase(0, begin);
  return !client.isDone;
}

int main(int argc, char **argv) {
  if (argc < 4)
    return std::fprintf(stderr, "usage: effc-serve-load PORT CLIENTS TOKENS "
                                "[PID]\n"),
           2;
  int port = std::atoi(argv[1]);
  std::vector<Client> clients(static_cast<size_t>(std::atoi(argv[2])));
  const char *pid = argc > 4 ? argv[4] : "none";
  std::string body = R"({"prompt":[1,2,3],"stream":true,"ignore_eos":true,)"
                     R"("temperature":0,"max_tokens":)" +
                     std::string(argv[3]) + "}";
  std::string request = "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n"
                        "Content-Type: application/json\r\nContent-Length: " +
                        std::to_string(body.size()) + "\r\n\r\n" + body;
  int poll = epoll_create1(EPOLL_CLOEXEC);
  auto begin = Clock::now();
  for (size_t i = 0; i < clients.size(); ++i) {
    clients[i].descriptor = connectTo(port);
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = i;
    epoll_ctl(poll, EPOLL_CTL_ADD, clients[i].descriptor, &event);
  }
  double connected = since(begin), before = processorTime(pid), most = 0;
  double idle = residentMib(pid), firstBefore = firstThreadTime(pid);
  begin = Clock::now();
  for (Client &client : clients)
    if (write(client.descriptor, request.data(), request.size()) < 0)
      return std::perror("write"), 1;
  size_t open = clients.size();
  while (open > 0 && since(begin) < 120) {
    epoll_event ready[256];
    int count = epoll_wait(poll, ready, 256, 1000);
    double now = since(begin);
    for (int i = 0; i < count; ++i) {
      Client &client = clients[ready[i].data.u64];
      char bytes[65536];
      ssize_t size = read(client.descriptor, bytes, sizeof bytes);
      if (size > 0 && take(client, bytes, static_cast<size_t>(size), now))
        continue;
      close(client.descriptor);
      --open;
    }
    most = std::max(most, open == clients.size() ? residentMib(pid) : 0);
  }
  double seconds = since(begin), used = processorTime(pid) - before,
         firstUsed = firstThreadTime(pid) - firstBefore;
  double first = seconds, last = 0, events = 0;
  size_t whole = 0;
  for (const Client &client : clients) {
    whole += client.isDone;
    events += double(client.events);
    first = std::min(first, client.firstToken);
    last = std::max(last, client.firstToken);
  }
  double tokens = double(clients.size()) * std::atof(argv[3]);
  std::printf("{\"clients\": %zu, \"whole\": %zu, \"tokens\": %.0f, "
              "\"events\": %.0f, \"seconds\": %.3f, \"connected_seconds\": "
              "%.3f, \"first_token_seconds\": %.3f, "
              "\"last_first_token_seconds\": %.3f, \"cpu_ms_per_token\": %.4f, "
              "\"connections_ms_per_token\": %.4f, "
              "\"idle_mib\": %.1f, \"streaming_mib\": %.1f}\n",
              clients.size(), whole, tokens, events, seconds, connected, first,
              last, used * 1000 / tokens, firstUsed * 1000 / tokens, idle,
              most);
  return whole == clients.size() ? 0 : 1;
}
