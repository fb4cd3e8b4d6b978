#include "tools/effc-serve/engine/Embedder.h"

#include "tools/effc-serve/wire/ApiError.h"

#include <cmath>

using namespace effc;
using namespace effc::serve;

/// `sum` over `count`, or of length 1.
static std::vector<float> vectorOf(const std::vector<double> &sum, double count,
                                   bool normalises) {
  double squares = 0;
  for (double value : sum)
    squares += value * value;
  if (!std::isfinite(squares))
    throw ApiError(500, "a hidden state is not a number", "", "numeric_error");
  double divisor = normalises ? std::sqrt(squares) : count;
  std::vector<float> vector;
  for (double value : sum) // what is all zero has no direction
    vector.push_back(static_cast<float>(divisor > 0 ? value / divisor : 0));
  return vector;
}

void Embedder::noteDevice(const char *failure) {
  std::lock_guard guard(failureLock);
  failures += failure != nullptr;
  isLost = failure != nullptr;
  if (failure)
    lastFailure = failure;
}

std::string Embedder::deviceFailure() const {
  std::lock_guard guard(failureLock);
  return lastFailure;
}

effc_scheduler_stats_t Embedder::stats() const {
  std::lock_guard guard(failureLock);
  effc_scheduler_stats_t stats = {};
  stats.device_failures = failures;
  stats.device_lost_now = isLost;
  return stats;
}

std::vector<std::vector<float>>
Embedder::embed(std::span<const std::vector<int32_t>> texts, Pooling pooling,
                bool normalises) {
  std::vector<std::vector<double>> sums(texts.size(),
                                        std::vector<double>(width));
  try {
    std::lock_guard guard(lock);
    rows.feed(texts, pooling == Pooling::Last,
              [&](size_t text, uint64_t, std::span<const float> found) {
                for (size_t i = 0; i < found.size(); ++i)
                  sums[text][i % width] += found[i];
              });
    noteDevice(nullptr);
  } catch (const Error &error) {
    if (error.code() == EFFC_DEVICE_ERROR)
      noteDevice(error.what());
    throw;
  }
  std::vector<std::vector<float>> vectors;
  for (size_t i = 0; i < texts.size(); ++i)
    vectors.push_back(vectorOf(
        sums[i], pooling == Pooling::Last ? 1 : double(texts[i].size()),
        normalises));
  return vectors;
}
