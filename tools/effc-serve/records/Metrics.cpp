#include "tools/effc-serve/records/Metrics.h"

#include "tools/effc-serve/wire/CacheReason.h"
#include "tools/effc-serve/wire/JsonText.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

using namespace effc;
using namespace effc::serve;

void Histogram::add(std::chrono::steady_clock::duration time) {
  double seconds = std::chrono::duration<double>(time).count();
  size_t bucket = static_cast<size_t>(
      std::lower_bound(kBounds.begin(), kBounds.end(), seconds) -
      kBounds.begin());
  ++counts[bucket];
  sum += seconds;
}

static std::string numberText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string effc::serve::labelValue(std::string_view text) {
  std::string value;
  for (char c : text) {
    if (c == '\\' || c == '"')
      value += '\\';
    value += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return value;
}

/// A page that grows.
class Metrics::Page {
public:
  explicit Page(std::string &out) : out(out) {}

  void begin(const char *name, const char *type, const char *help) {
    this->name = name;
    out += std::string("# HELP ") + name + " " + help + "\n# TYPE " + name +
           " " + type + "\n";
  }
  void add(const std::string &labels, double value) {
    out += name + labels + " " + numberText(value) + "\n";
  }

private:
  std::string &out;
  std::string name;
};

namespace {
struct EndName {
  effc_end_t end;
  const char *reason;
};

/// A number of each model's scheduler.
struct Row {
  const char *name, *type, *help;
  double (*of)(const effc_scheduler_stats_t &);
};

struct TimesRow {
  const char *name, *help;
  Histogram Times::*histogram;
};

struct VllmEnd {
  const char *reason;
  std::vector<effc_end_t> ends;
};
} // namespace

static constexpr EndName kEnds[] = {
    {EFFC_END_TOKEN, "end"},           {EFFC_END_STOP, "stop"},
    {EFFC_END_LENGTH, "length"},       {EFFC_END_CONTEXT, "context"},
    {EFFC_END_CANCELLED, "cancelled"}, {EFFC_END_DEADLINE, "deadline"},
    {EFFC_END_UNREAD, "unread"},       {EFFC_END_FAILED, "failed"},
};

using Stats = effc_scheduler_stats_t;
static constexpr Row kRows[] = {
    {"effc_requests_running", "gauge", "Sequences that are computed now.",
     [](const Stats &s) { return double(s.running_now); }},
    {"effc_requests_queued", "gauge", "Requests that wait for a slot now.",
     [](const Stats &s) { return double(s.queued_now); }},
    {"effc_prompt_tokens_total", "counter", "Tokens of prompts that were fed.",
     [](const Stats &s) { return double(s.prompt_tokens); }},
    {"effc_generated_tokens_total", "counter", "Tokens that were drawn.",
     [](const Stats &s) { return double(s.new_tokens); }},
    {"effc_steps_total", "counter", "Steps of the scheduler.",
     [](const Stats &s) { return double(s.steps); }},
    {"effc_requests_refused_total", "counter",
     "Requests that the scheduler refused.",
     [](const Stats &s) { return double(s.refused); }},
    {"effc_replayed_requests_total", "counter",
     "Requests that ran again after a device had failed.",
     [](const Stats &s) { return double(s.retries); }},
    {"effc_prefill_calls_total", "counter",
     "Calls of the model with pieces of prompts.",
     [](const Stats &s) { return double(s.prompt_calls); }},
    {"effc_prefill_seconds_total", "counter", "Time in these calls.",
     [](const Stats &s) { return double(s.prompt_ns) * 1e-9; }},
    {"effc_decode_calls_total", "counter",
     "Calls of the model with a token or a draft of each sequence.",
     [](const Stats &s) { return double(s.decode_calls); }},
    {"effc_decode_seconds_total", "counter", "Time in these calls.",
     [](const Stats &s) { return double(s.decode_ns) * 1e-9; }},
    {"effc_decode_rows_total", "counter",
     "Tokens that these calls were fed: rows that were filled.",
     [](const Stats &s) { return double(s.decode_tokens); }},
    {"effc_speculation_drafted_tokens_total", "counter",
     "Tokens that were guessed.",
     [](const Stats &s) { return double(s.drafted_tokens); }},
    {"effc_speculation_accepted_tokens_total", "counter",
     "Tokens that were guessed rightly.",
     [](const Stats &s) { return double(s.accepted_tokens); }},
    {"effc_speculation_model_drafted_tokens_total", "counter",
     "Tokens of these that the model of --draft-model guessed.",
     [](const Stats &s) { return double(s.model_drafted_tokens); }},
    {"effc_speculation_model_accepted_tokens_total", "counter",
     "Tokens that it guessed rightly.",
     [](const Stats &s) { return double(s.model_accepted_tokens); }},
    {"effc_speculation_model_seconds_total", "counter", "Time in its calls.",
     [](const Stats &s) { return double(s.draft_ns) * 1e-9; }},
    {"effc_speculation_model_failures_total", "counter",
     "How often a call of it failed.",
     [](const Stats &s) { return double(s.draft_failures); }},
    {"effc_device_failures_total", "counter", "How often a device has failed.",
     [](const Stats &s) { return double(s.device_failures); }},
    {"effc_device_lost", "gauge",
     "1 where a device has failed for good, and requests with it.",
     [](const Stats &s) { return double(s.device_lost_now); }},
    {"effc_prefix_cache_hit_tokens_total", "counter",
     "Tokens of prompts that were not fed, since their states were kept.",
     [](const Stats &s) { return double(s.cached_tokens); }},
    {"effc_prefix_cache_near_prompts_total", "counter",
     "Prompts of these behind which other bits may follow.",
     [](const Stats &s) { return double(s.near_prompts); }},
    {"effc_prefix_cache_evictions_total", "counter",
     "Kept states that were given up for others.",
     [](const Stats &s) { return double(s.cache_evicted); }},
    {"effc_prefix_cache_bytes", "gauge", "Bytes of memory of kept states.",
     [](const Stats &s) { return double(s.cache_bytes_now); }},
    {"effc_prefix_cache_disk_bytes", "gauge", "Bytes of their files.",
     [](const Stats &s) { return double(s.cache_disk_bytes_now); }},
    {"effc_prefix_cache_disk_failures_total", "counter",
     "Failures of the disk, behind which it is left alone.",
     [](const Stats &s) { return double(s.cache_disk_failures); }},
    {"effc_state_bytes", "gauge", "Bytes that are reserved for states.",
     [](const Stats &s) { return double(s.reserved_bytes_now); }},
};

static constexpr TimesRow kTimesRows[] = {
    {"effc_first_token_seconds", "From a request to its first token.",
     &Times::firstToken},
    {"effc_inter_token_seconds", "From a token to the next of its choice.",
     &Times::interToken},
    {"effc_request_seconds", "From a request to the end of its answer.",
     &Times::request},
};

static constexpr TimesRow kVllmTimesRows[] = {
    {"vllm:time_to_first_token_seconds", "As effc_first_token_seconds.",
     &Times::firstToken},
    {"vllm:inter_token_latency_seconds", "As effc_inter_token_seconds.",
     &Times::interToken},
    {"vllm:e2e_request_latency_seconds", "As effc_request_seconds.",
     &Times::request},
    {"vllm:request_queue_time_seconds",
     "From the submission of a choice to its place among those that run.",
     &Times::queue},
    {"vllm:request_prefill_time_seconds", "From there to its first token.",
     &Times::prefill},
    {"vllm:request_decode_time_seconds",
     "From its first token to its last one.", &Times::decode},
};

static constexpr Row kVllmRows[] = {
    {"vllm:num_requests_running", "gauge", "As effc_requests_running.",
     [](const Stats &s) { return double(s.running_now); }},
    {"vllm:num_requests_waiting", "gauge", "As effc_requests_queued.",
     [](const Stats &s) { return double(s.queued_now); }},
    {"vllm:prompt_tokens_total", "counter",
     "Tokens of prompts, those of kept states with them.",
     [](const Stats &s) { return double(s.prompt_tokens + s.cached_tokens); }},
    {"vllm:generation_tokens_total", "counter",
     "As effc_generated_tokens_total.",
     [](const Stats &s) { return double(s.new_tokens); }},
    {"vllm:prefix_cache_queries_total", "counter",
     "Tokens of prompts that were looked for among kept states.",
     [](const Stats &s) { return double(s.prompt_tokens + s.cached_tokens); }},
    {"vllm:prefix_cache_hits_total", "counter",
     "As effc_prefix_cache_hit_tokens_total.",
     [](const Stats &s) { return double(s.cached_tokens); }},
    {"vllm:spec_decode_num_drafts_total", "counter",
     "How often a sequence was fed guessed tokens.",
     [](const Stats &s) { return double(s.drafts); }},
    {"vllm:spec_decode_num_draft_tokens_total", "counter",
     "As effc_speculation_drafted_tokens_total.",
     [](const Stats &s) { return double(s.drafted_tokens); }},
    {"vllm:spec_decode_num_accepted_tokens_total", "counter",
     "As effc_speculation_accepted_tokens_total.",
     [](const Stats &s) { return double(s.accepted_tokens); }},
};

static const VllmEnd kVllmEnds[] = {
    {"stop", {EFFC_END_TOKEN, EFFC_END_STOP}},
    {"length", {EFFC_END_LENGTH, EFFC_END_CONTEXT}},
    {"abort", {EFFC_END_CANCELLED, EFFC_END_DEADLINE, EFFC_END_UNREAD}},
    {"error", {EFFC_END_FAILED}},
};

void Histogram::append(std::string &out, const char *name,
                       const std::string &label) const {
  uint64_t below = 0;
  for (size_t i = 0; i <= kBounds.size(); ++i) {
    below += counts[i];
    std::string bound =
        i < kBounds.size() ? numberText(kBounds[i]) : std::string("+Inf");
    out += std::string(name) + "_bucket{" + label + ",le=\"" + bound + "\"} " +
           std::to_string(below) + "\n";
  }
  out += std::string(name) + "_sum{" + label + "} " + numberText(sum) + "\n" +
         name + "_count{" + label + "} " + std::to_string(below) + "\n";
}

/// Tokens of a step, from the scheduler's own counts.
static void addStepSizes(std::string &out, const Stats &stats,
                         const std::string &label) {
  const std::string name = "vllm:iteration_tokens_total";
  uint64_t below = 0;
  for (size_t i = 0; i < EFFC_STEP_SIZES; ++i) {
    below += stats.sized_steps[i];
    std::string bound =
        i + 1 < EFFC_STEP_SIZES ? std::to_string(1u << i) : "+Inf";
    out += name + "_bucket{" + label + ",le=\"" + bound + "\"} " +
           std::to_string(below) + "\n";
  }
  out += name + "_sum{" + label + "} " +
         std::to_string(stats.prompt_tokens + stats.decode_tokens) + "\n" +
         name + "_count{" + label + "} " + std::to_string(below) + "\n";
}

/// What the system says of this process.
void Metrics::addProcess(Page &page) {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval &time) {
    return double(time.tv_sec) + double(time.tv_usec) * 1e-6;
  };
  page.begin("process_cpu_seconds_total", "counter",
             "Processor time of all threads.");
  page.add("", seconds(usage.ru_utime) + seconds(usage.ru_stime));
  std::ifstream memory("/proc/self/statm");
  uint64_t all = 0, resident = 0;
  memory >> all >> resident;
  page.begin("process_resident_memory_bytes", "gauge", "Memory in use.");
  page.add("", double(resident) * double(sysconf(_SC_PAGESIZE)));
  std::error_code ignored;
  auto files = std::filesystem::directory_iterator("/proc/self/fd", ignored);
  page.begin("process_open_fds", "gauge", "Open descriptors.");
  page.add("", double(std::distance(begin(files), end(files))));
}

const Times &Metrics::timesOf(const std::string &model) const {
  static const Times none;
  auto found = times.find(model);
  return found == times.end() ? none : found->second;
}

std::string Metrics::page(std::span<const std::unique_ptr<ServedModel>> models,
                          const HttpServer &http,
                          Sessions::Numbers sessions) const {
  std::string out;
  Page page(out);
  std::vector<Stats> stats;
  std::vector<std::string> labels;
  for (const auto &model : models) {
    stats.push_back(model->stats());
    labels.push_back("model=\"" + labelValue(model->name()) + "\"");
  }
  for (const Row &row : kRows) {
    page.begin(row.name, row.type, row.help);
    for (size_t i = 0; i < models.size(); ++i)
      page.add("{" + labels[i] + "}", row.of(stats[i]));
  }
  page.begin("effc_slots", "gauge", "Sequences that can be computed at once.");
  for (size_t i = 0; i < models.size(); ++i)
    page.add("{" + labels[i] + "}", models[i]->slots());
  page.begin("effc_requests_total", "counter",
             "Choices of requests that have ended, by reason.");
  for (size_t i = 0; i < models.size(); ++i)
    for (const EndName &end : kEnds)
      page.add("{" + labels[i] + ",reason=\"" + end.reason + "\"}",
               double(stats[i].ended[end.end]));

  page.begin("effc_prefix_cache_prompts_total", "counter",
             "Prompts, by why they had no more of the cache; hit: all.");
  for (size_t i = 0; i < models.size(); ++i)
    for (size_t miss = 0; miss < EFFC_CACHE_MISSES; ++miss)
      page.add("{" + labels[i] + ",reason=\"" + kCacheReasons[miss] + "\"}",
               double(stats[i].cache_prompts[miss]));
  page.begin("effc_prefix_cache_lost_tokens_total", "counter",
             "Tokens of prompts that were fed for each of these reasons.");
  for (size_t i = 0; i < models.size(); ++i)
    for (size_t miss = 0; miss < EFFC_CACHE_MISSES; ++miss)
      page.add("{" + labels[i] + ",reason=\"" + kCacheReasons[miss] + "\"}",
               double(stats[i].cache_lost_tokens[miss]));

  for (const TimesRow &row : kTimesRows) {
    page.begin(row.name, "histogram", row.help);
    for (size_t i = 0; i < models.size(); ++i)
      (timesOf(models[i]->name()).*row.histogram)
          .append(out, row.name, labels[i]);
  }
  page.begin("effc_http_responses_total", "counter",
             "Answers, by path and status.");
  for (const auto &[key, count] : answers)
    page.add("{path=\"" + labelValue(key.first) + "\",status=\"" +
                 std::to_string(key.second) + "\"}",
             double(count));
  page.begin("effc_sessions", "gauge", "Sessions that clients have named.");
  page.add("", double(sessions.count));
  page.begin("effc_session_state_bytes", "gauge",
             "What their states take, or may take while they grow.");
  page.add("", double(sessions.bytes));
  page.begin("effc_http_connections", "gauge", "Open connections.");
  page.add("", http.connectionCount());
  page.begin("effc_http_connections_refused_total", "counter",
             "Connections that were too many.");
  page.add("", double(http.refusedCount()));
  page.begin("effc_http_slow_readers_total", "counter",
             "Connections that were ended since nobody read.");
  page.add("", double(http.slowReaderCount()));
  addProcess(page);
  addVllm(out, page, stats, models);
  return out;
}

/// The same numbers under vLLM's names, where they mean the same there, for whoever has
/// its dashboards.
void Metrics::addVllm(
    std::string &out, Page &page, std::span<const Stats> stats,
    std::span<const std::unique_ptr<ServedModel>> models) const {
  auto labelOf = [](const std::string &model) {
    return "model_name=\"" + labelValue(model) + "\"";
  };
  for (const Row &row : kVllmRows) {
    page.begin(row.name, row.type, row.help);
    for (size_t i = 0; i < models.size(); ++i)
      page.add("{" + labelOf(models[i]->name()) + "}", row.of(stats[i]));
  }
  page.begin("vllm:request_success_total", "counter",
             "Choices of requests that have ended, by reason.");
  for (size_t i = 0; i < models.size(); ++i)
    for (const VllmEnd &end : kVllmEnds) {
      uint64_t count = 0;
      for (effc_end_t each : end.ends)
        count += stats[i].ended[each];
      page.add("{" + labelOf(models[i]->name()) + ",finished_reason=\"" +
                   end.reason + "\"}",
               double(count));
    }
  page.begin("vllm:iteration_tokens_total", "histogram", "Tokens of a step.");
  for (size_t i = 0; i < models.size(); ++i)
    addStepSizes(out, stats[i], labelOf(models[i]->name()));
  for (const TimesRow &row : kVllmTimesRows) {
    page.begin(row.name, "histogram", row.help);
    for (const auto &model : models)
      (timesOf(model->name()).*row.histogram)
          .append(out, row.name, labelOf(model->name()));
  }
}
