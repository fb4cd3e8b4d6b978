#include "runtime/src/sampling/LogitRow.h"

#include "runtime/src/sampling/RowPasses.h"

#include <algorithm>
#include <cmath>
#include <functional>

using namespace effc::rt;

/// Tokens this far below the best add nothing to a sum: e^-36 is below 2^-51.
static constexpr double kFarthest = 36;

static std::span<const float> blockOf(std::span<const float> logits, size_t b) {
  size_t begin = b * LogitRow::kBlock;
  return logits.subspan(begin,
                        std::min(LogitRow::kBlock, logits.size() - begin));
}

/// Where the largest of numbers stands first. Sixteen at a time, since a loop that
/// keeps the place beside the number waits for both.
static size_t firstLargest(std::span<const float> numbers) {
  constexpr size_t kLanes = 16;
  float lanes[kLanes];
  std::fill(lanes, lanes + kLanes, -INFINITY);
  size_t i = 0;
  for (; i + kLanes <= numbers.size(); i += kLanes)
    for (size_t k = 0; k < kLanes; ++k)
      lanes[k] = numbers[i + k] > lanes[k] ? numbers[i + k] : lanes[k];
  float largest = *std::max_element(lanes, lanes + kLanes);
  for (; i < numbers.size(); ++i)
    largest = std::max(largest, numbers[i]);
  return static_cast<size_t>(
      std::find(numbers.begin(), numbers.end(), largest) - numbers.begin());
}

std::optional<LogitRow> LogitRow::scan(std::span<const float> logits,
                                       std::vector<float> &maxima) {
  size_t whole = logits.size() / kBlock;
  maxima.resize((logits.size() + kBlock - 1) / kBlock);
  bool areNumbers = rowPasses().maxima(logits.data(), whole, maxima.data());
  if (whole < maxima.size()) {
    std::span<const float> rest = blockOf(logits, whole);
    maxima[whole] = *std::max_element(rest.begin(), rest.end());
    for (float logit : rest)
      areNumbers &= !std::isnan(logit);
  }
  if (!areNumbers)
    return std::nullopt;
  LogitRow row(logits, maxima);
  size_t b = firstLargest(maxima);
  if (maxima[b] == -INFINITY)
    return std::nullopt;
  std::span<const float> block = blockOf(logits, b);
  size_t place = static_cast<size_t>(
      std::find(block.begin(), block.end(), maxima[b]) - block.begin());
  row.first = {block[place], static_cast<int32_t>(b * kBlock + place)};
  return row;
}

Error LogitRow::whyNone(std::span<const float> logits) {
  for (size_t id = 0; id < logits.size(); ++id)
    if (std::isnan(logits[id]))
      return badData("the logit of token ", id, " is not a number");
  return badData("all logits are minus infinity");
}

size_t LogitRow::count(float logit) const {
  return static_cast<size_t>(std::count(logits.begin(), logits.end(), logit));
}

void LogitRow::enterAll(Race &race) const {
  // The likeliest first: most others have lost by then.
  race.enter(first.logit, first.id);
  size_t whole = logits.size() / kBlock;
  rowPasses().race(logits.data(), maxima.data(), whole, race);
  for (size_t id = whole * kBlock; id < logits.size(); ++id)
    race.enter(logits[id], static_cast<int32_t>(id));
}

double LogitRow::mass(const Distance &distance) const {
  size_t whole = logits.size() / kBlock;
  double sum = rowPasses().mass(logits.data(), maxima.data(), whole, distance,
                                kFarthest);
  for (size_t id = whole * kBlock; id < logits.size(); ++id)
    sum += quickExp(distance.of(logits[id]));
  return sum;
}

RoughMass LogitRow::roughMass(const Distance &distance, double coarsely) const {
  size_t whole = logits.size() / kBlock;
  RoughMass mass = rowPasses().roughMass(logits.data(), maxima.data(), whole,
                                         distance, coarsely, kFarthest);
  for (size_t id = whole * kBlock; id < logits.size(); ++id)
    mass.sum += quickExp(distance.of(logits[id]));
  return mass;
}

RoughMoments LogitRow::moments(const Distance &distance, double nearly) const {
  size_t whole = logits.size() / kBlock;
  RoughMoments sums = rowPasses().moments(logits.data(), maxima.data(), whole,
                                          distance, nearly, kFarthest);
  for (size_t id = whole * kBlock; id < logits.size(); ++id) {
    double from = distance.of(logits[id]);
    sums.near.add(quickExp(from), from);
  }
  return sums;
}

void LogitRow::gather(float least, Candidates &out) const {
  for (size_t b = 0; b < maxima.size(); ++b) {
    if (maxima[b] < least)
      continue;
    auto id = static_cast<int32_t>(b * kBlock);
    for (float logit : blockOf(logits, b)) {
      out.addIf(logit >= least, {logit, id});
      ++id;
    }
  }
}

float LogitRow::reachedBy(size_t count, std::vector<float> &scratch) const {
  if (count > maxima.size())
    return -INFINITY;
  auto ofLargest = [&] {
    auto place = scratch.begin() + static_cast<long>(count - 1);
    std::nth_element(scratch.begin(), place, scratch.end(), std::greater<>());
    return *place;
  };
  // The largest of each stretch of blocks tells which blocks to look at.
  scratch.clear();
  for (size_t b = 0; b < maxima.size(); b += kBlock)
    scratch.push_back(*std::max_element(
        maxima.begin() + static_cast<long>(b),
        maxima.begin() +
            static_cast<long>(std::min(b + kBlock, maxima.size()))));
  float least = count <= scratch.size() ? ofLargest() : -INFINITY;
  scratch.resize(maxima.size());
  size_t found = 0;
  for (float most : maxima) {
    scratch[found] = most;
    found += most >= least;
  }
  scratch.resize(found);
  return ofLargest();
}
