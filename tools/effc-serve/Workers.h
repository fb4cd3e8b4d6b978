// Threads for what takes a while: JSON, templates, tokens of texts.
#ifndef EFFC_TOOLS_EFFC_SERVE_WORKERS_H
#define EFFC_TOOLS_EFFC_SERVE_WORKERS_H

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace effc::serve {

class Workers {
public:
  explicit Workers(unsigned count);
  /// Ends behind the jobs in progress; those that wait are dropped.
  ~Workers();
  Workers(const Workers &) = delete;
  Workers &operator=(const Workers &) = delete;

  /// Has one of the threads run `job`, which throws nothing. Any thread.
  void post(std::function<void()> job);

private:
  void run();

  std::mutex lock;
  std::condition_variable news;
  std::deque<std::function<void()>> jobs;
  bool isEnding = false;
  std::vector<std::thread> threads;
};

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_WORKERS_H
