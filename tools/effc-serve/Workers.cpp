#include "tools/effc-serve/Workers.h"

using namespace effc::serve;

Workers::Workers(unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    threads.emplace_back([this] { run(); });
}

Workers::~Workers() {
  {
    std::lock_guard guard(lock);
    isEnding = true;
    jobs.clear();
  }
  news.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

void Workers::post(std::function<void()> job) {
  {
    std::lock_guard guard(lock);
    jobs.push_back(std::move(job));
  }
  news.notify_one();
}

void Workers::run() {
  while (true) {
    std::function<void()> job;
    {
      std::unique_lock guard(lock);
      news.wait(guard, [this] { return isEnding || !jobs.empty(); });
      if (isEnding)
        return;
      job = std::move(jobs.front());
      jobs.pop_front();
    }
    job();
  }
}
