#include "test/unit/tools/effc-serve/ServedToy.h"

#include <arpa/inet.h>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sstream>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace effc::test;

static constexpr int kPatience = 10000; // milliseconds

static std::string lowered(std::string text) {
  for (char &c : text)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string HttpAnswer::header(const std::string &name) const {
  size_t at = lowered(head).find("\r\n" + lowered(name) + ": ");
  if (at == std::string::npos)
    return "";
  at += name.size() + 4;
  return head.substr(at, head.find("\r\n", at) - at);
}

std::vector<nlohmann::json> HttpAnswer::events() const {
  std::vector<nlohmann::json> events;
  std::string last;
  for (size_t at = 0; at < body.size();) {
    size_t end = body.find("\n\n", at);
    std::string event = body.substr(at, end - at);
    at = end == std::string::npos ? body.size() : end + 2;
    if (event.starts_with(":"))
      continue;
    last = event;
    if (event.starts_with("data: {"))
      events.push_back(nlohmann::json::parse(event.substr(6)));
  }
  EXPECT_EQ(last, "data: [DONE]");
  return events;
}

HttpClient::HttpClient(uint16_t port)
    : descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(descriptor, reinterpret_cast<sockaddr *>(&address),
              sizeof address) != 0) {
    close(descriptor);
    descriptor = -1;
  }
}

HttpClient::HttpClient(const std::string &path)
    : descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (connect(descriptor, reinterpret_cast<sockaddr *>(&address),
              sizeof address) != 0) {
    close(descriptor);
    descriptor = -1;
  }
}

HttpClient::~HttpClient() {
  if (descriptor >= 0)
    close(descriptor);
}

void HttpClient::leave() { shutdown(descriptor, SHUT_RDWR); }

void HttpClient::send(const std::string &bytes) {
  for (size_t at = 0; at < bytes.size();) {
    ssize_t count =
        ::send(descriptor, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (count <= 0)
      return; // what is read tells why
    at += static_cast<size_t>(count);
  }
}

bool HttpClient::fill() {
  pollfd waits = {descriptor, POLLIN, 0};
  char bytes[16384];
  if (descriptor < 0 || poll(&waits, 1, kPatience) <= 0)
    return false;
  ssize_t count = recv(descriptor, bytes, sizeof bytes, 0);
  if (count <= 0)
    return false;
  rest.append(bytes, static_cast<size_t>(count));
  return true;
}

std::string HttpClient::readSome(size_t count) {
  while (rest.empty() && fill())
    ;
  std::string some = rest.substr(0, count);
  rest.erase(0, some.size());
  return some;
}

HttpAnswer HttpClient::read() {
  HttpAnswer answer;
  size_t end = 0;
  while ((end = rest.find("\r\n\r\n")) == std::string::npos)
    if (!fill())
      return answer;
  answer.head = rest.substr(0, end + 2);
  rest.erase(0, end + 4);
  answer.status = std::atoi(answer.head.c_str() + sizeof "HTTP/1.1");
  if (answer.header("Transfer-Encoding") != "chunked") {
    std::string length = answer.header("Content-Length");
    size_t size = length.empty() ? SIZE_MAX : std::stoul(length);
    while (rest.size() < size && fill())
      ;
    answer.body = rest.substr(0, size);
    rest.erase(0, answer.body.size());
    return answer;
  }
  while (true) {
    size_t line = 0;
    while ((line = rest.find("\r\n")) == std::string::npos)
      if (!fill())
        return answer;
    size_t size = std::stoul(rest.substr(0, line), nullptr, 16);
    while (rest.size() < line + 2 + size + 2)
      if (!fill())
        return answer;
    answer.body += rest.substr(line + 2, size);
    rest.erase(0, line + 2 + size + 2);
    if (size == 0)
      return answer;
  }
}

HttpAnswer HttpClient::ask(const std::string &method, const std::string &path,
                           const std::string &body,
                           const std::string &headers) {
  std::string length =
      method == "POST"
          ? "Content-Length: " + std::to_string(body.size()) + "\r\n"
          : "";
  send(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers +
       length + "\r\n" + body);
  return read();
}

ToyOptions ServedToy::withChat() {
  ToyOptions options;
  options.changeTokenizer = [](artifact::TokenizerT &table) {
    addChatTemplate(table, "default",
                    "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n"
                    "{% endfor %}{% if add_generation_prompt %}[assistant]"
                    "{% if enable_thinking %} hm{% endif %}{% endif %}");
    addNamedToken(table, "eos_token", "<|end|>");
  };
  return options;
}

static std::string wholeOf(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

ServedToy::ServedToy(std::vector<std::string> options, const ToyOptions &toy)
    : file(makeToyArtifact(toy)), log({}), portFile({}) {
  std::vector<std::string> line = {
      EFFC_PROGRAM, "serve",       file.path(),     "--name", "toy", "--port",
      "0",          "--port-file", portFile.path(), "-t",     "1"};
  line.insert(line.end(), options.begin(), options.end());
  std::vector<char *> arguments;
  for (std::string &each : line)
    arguments.push_back(each.data());
  arguments.push_back(nullptr);
  process = fork();
  if (process == 0) {
    int output = open(log.path().c_str(), O_WRONLY | O_TRUNC);
    dup2(output, STDERR_FILENO);
    dup2(output, STDOUT_FILENO);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  for (int waited = 0; waited < kPatience; waited += 10) {
    std::string text = said();
    if (text.find("serving at") != std::string::npos) {
      where =
          static_cast<uint16_t>(std::atoi(wholeOf(portFile.path()).c_str()));
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << "it does not serve: " << said();
}

ServedToy::~ServedToy() {
  if (process >= 0) {
    kill(process, SIGTERM);
    if (wait() == -1) {
      kill(process, SIGKILL);
      waitpid(process, nullptr, 0);
    }
  }
  // What a sanitizer says of the program need not change its answers.
  EXPECT_EQ(said().find("Sanitizer"), std::string::npos) << said();
}

void ServedToy::signal(int number) { kill(process, number); }

int ServedToy::wait() {
  for (int waited = 0; waited < kPatience; waited += 10) {
    int status = 0;
    if (waitpid(process, &status, WNOHANG) == process) {
      process = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return -1;
}

std::string ServedToy::said() const { return wholeOf(log.path()); }

double ServedToy::metric(const std::string &begin) {
  std::istringstream page(get("/metrics").body);
  double sum = 0;
  for (std::string line; std::getline(page, line);)
    if (line.starts_with(begin))
      sum += std::atof(line.c_str() + line.rfind(' '));
  return sum;
}

bool ServedToy::waitFor(const std::string &begin, double value) {
  for (int waited = 0; waited < kPatience; waited += 50) {
    if (metric(begin) == value)
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}
