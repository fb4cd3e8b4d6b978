#include "tools/effc/ServeLoad.h"

#include "tools/terminal/Failure.h"
#include "tools/terminal/Quantities.h"
#include "tools/terminal/Table.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

using namespace effc;
using namespace effc::cli;

Percentiles Percentiles::of(std::vector<double> times) {
  Percentiles found;
  if (times.empty())
    return found;
  std::sort(times.begin(), times.end());
  auto rank = [&](double part) {
    auto place = static_cast<size_t>(std::ceil(part * double(times.size())));
    return times[std::clamp<size_t>(place, 1, times.size()) - 1];
  };
  found.count = times.size();
  found.mean =
      std::accumulate(times.begin(), times.end(), 0.0) / double(times.size());
  found.p50 = rank(0.5);
  found.p90 = rank(0.9);
  found.p99 = rank(0.99);
  found.most = times.back();
  return found;
}

namespace {
using Clock = std::chrono::steady_clock;

/// The clients of one case.
class Clients {
public:
  Clients(const Model &model, const Engine &engine, const ServeCase &asked)
      : asked(asked), scheduler(engine, optionsFor(asked)),
        random(asked.clients), token(0, int32_t(model.vocabularySize()) - 1),
        all(asked.clients) {}

  ServeMeasurement run() {
    begin = Clock::now();
    scheduler.start();
    for (One &client : all)
      submit(client);
    while (open > 0)
      take(scheduler.poll(uint64_t(100) * 1000000));
    scheduler.stop();
    ServeMeasurement found;
    found.asked = asked;
    found.seconds = since(begin);
    found.requests = requests.size();
    found.tokens = tokens;
    found.firstToken = Percentiles::of(std::move(firsts));
    found.betweenTokens = Percentiles::of(std::move(betweens));
    found.request = Percentiles::of(std::move(requests));
    return found;
  }

private:
  struct One {
    Clock::time_point asked, last;
    bool hasToken = false;
  };

  static effc_scheduler_options_t optionsFor(const ServeCase &asked) {
    effc_scheduler_options_t options = effc_scheduler_options_default();
    options.max_running = asked.clients;
    options.max_queue = std::max(options.max_queue, asked.clients);
    options.max_new_tokens = asked.newTokens;
    return options;
  }

  static double since(Clock::time_point time) {
    return std::chrono::duration<double>(Clock::now() - time).count();
  }

  void submit(One &client) {
    std::vector<int32_t> prompt(asked.promptTokens);
    for (int32_t &each : prompt)
      each = token(random);
    effc_sampler_options_t sampling = effc_sampler_options_default();
    effc_request_t request = effc_request_default();
    request.tokens = prompt.data();
    request.token_count = prompt.size();
    request.sampling = &sampling;
    request.max_tokens = asked.newTokens;
    request.ignore_end = true;
    request.user = &client;
    client.asked = Clock::now();
    client.hasToken = false;
    scheduler.submit(request);
    ++open;
  }

  void take(const effc_event_t &event) {
    if (event.kind == EFFC_EVENT_NONE)
      return;
    One &client = *static_cast<One *>(event.user);
    if (event.kind == EFFC_EVENT_TOKEN) {
      (client.hasToken ? betweens : firsts)
          .push_back(since(client.hasToken ? client.last : client.asked));
      client.last = Clock::now();
      client.hasToken = true;
      ++tokens;
      return;
    }
    if (event.end == EFFC_END_FAILED)
      throw Failure(std::string("a request failed: ") + event.message);
    --open;
    requests.push_back(since(client.asked));
    if (since(begin) < asked.seconds)
      submit(client);
  }

  const ServeCase asked;
  Scheduler scheduler;
  std::mt19937 random;
  std::uniform_int_distribution<int32_t> token;
  std::vector<One> all;
  Clock::time_point begin;
  uint32_t open = 0; // requests
  uint64_t tokens = 0;
  std::vector<double> firsts, betweens, requests;
};
} // namespace

ServeMeasurement effc::cli::measureServing(const Model &model,
                                           const Engine &engine,
                                           const ServeCase &asked) {
  return Clients(model, engine, asked).run();
}

//===-- What is told ------------------------------------------------------===//

static double perSecond(const ServeMeasurement &one) {
  return double(one.tokens) / one.seconds;
}

std::string effc::cli::asTable(const ServeReport &report) {
  auto milliseconds = [](double seconds) {
    return formatNumber(seconds * 1e3, 4);
  };
  Table table;
  table.add({"clients", "requests", "tokens/s", "first token, ms: p50", "p90",
             "p99", "between tokens, ms: p50", "p90", "p99", "most"});
  for (const ServeMeasurement &one : report.measurements)
    table.add(
        {formatCount(one.asked.clients), formatCount(one.requests),
         formatNumber(perSecond(one), 4), milliseconds(one.firstToken.p50),
         milliseconds(one.firstToken.p90), milliseconds(one.firstToken.p99),
         milliseconds(one.betweenTokens.p50),
         milliseconds(one.betweenTokens.p90),
         milliseconds(one.betweenTokens.p99),
         milliseconds(one.betweenTokens.most)});
  return report.file + " on " + report.device + "\n" + table.text();
}

std::string effc::cli::asJson(const ServeReport &report) {
  using Json = nlohmann::ordered_json;
  auto describe = [](const Percentiles &found) {
    return Json{{"count", found.count}, {"mean", found.mean},
                {"p50", found.p50},     {"p90", found.p90},
                {"p99", found.p99},     {"most", found.most}};
  };
  Json json = {{"file", report.file},
               {"device", report.device},
               {"isa", report.isa},
               {"cases", Json::array()}};
  for (const ServeMeasurement &one : report.measurements)
    json["cases"].push_back(
        {{"clients", one.asked.clients},
         {"prompt_tokens", one.asked.promptTokens},
         {"new_tokens", one.asked.newTokens},
         {"seconds", one.seconds},
         {"requests", one.requests},
         {"tokens", one.tokens},
         {"tokens_per_second", perSecond(one)},
         {"first_token_seconds", describe(one.firstToken)},
         {"between_tokens_seconds", describe(one.betweenTokens)},
         {"request_seconds", describe(one.request)}});
  return json.dump(2) + "\n";
}
