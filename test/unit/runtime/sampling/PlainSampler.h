//===- PlainSampler.h - What a draw means, without any haste --------------===//
//
// The filters of sampler.h one after another over all tokens, sorted in full, and
// a draw that looks at the noise of each. The numbers come from the arithmetic
// that Sampler.h fixes (expOfNegative, Noise); which tokens are kept and drawn is
// restated here.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TEST_UNIT_RUNTIME_SAMPLING_PLAINSAMPLER_H
#define EFFC_TEST_UNIT_RUNTIME_SAMPLING_PLAINSAMPLER_H

#include "runtime/src/Sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace effc::test {

class PlainSampler {
public:
  explicit PlainSampler(const effc_sampler_options_t &options)
      : options(options) {}

  int32_t sample(const std::vector<float> &logits) {
    std::vector<int32_t> kept = inOrder(logits);
    if (options.temperature == 0)
      return kept[0];
    float scale = std::clamp(1.0f / options.temperature, 0x1p-126f, 0x1p95f);
    keep(kept, logits);
    rt::Noise noise = rt::Noise::of(options.seed, drawn++);
    int32_t token = -1;
    float best = -INFINITY;
    std::sort(kept.begin(), kept.end());
    for (int32_t id : kept) {
      float sum = logits[id] * scale + noise.at(static_cast<uint32_t>(id));
      if (sum > best) {
        best = sum;
        token = id;
      }
    }
    return token;
  }

private:
  /// All tokens, the likeliest first, of equal ones the lowest.
  static std::vector<int32_t> inOrder(const std::vector<float> &logits) {
    std::vector<int32_t> ids(logits.size());
    std::iota(ids.begin(), ids.end(), 0);
    std::sort(ids.begin(), ids.end(), [&](int32_t a, int32_t b) {
      return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
    });
    return ids;
  }

  void keep(std::vector<int32_t> &kept, const std::vector<float> &logits) {
    float best = logits[kept[0]];
    auto weight = [&](int32_t id) {
      return rt::expOfNegative(logits[id] == best
                                   ? 0.0
                                   : (double(logits[id]) - best) *
                                         (1.0 / options.temperature));
    };
    if (options.top_k > 0 && options.top_k < kept.size())
      kept.resize(options.top_k);
    if (options.top_p < 1) {
      // Without top_k the sum of all is taken by ids.
      std::vector<int32_t> order = kept;
      if (options.top_k == 0)
        std::sort(order.begin(), order.end());
      double total = 0, sum = 0;
      for (int32_t id : order)
        total += weight(id);
      for (size_t i = 0; i < kept.size(); ++i) {
        sum += weight(kept[i]);
        if (sum >= options.top_p * total) {
          kept.resize(i + 1);
          break;
        }
      }
    }
    if (options.min_p > 0)
      std::erase_if(kept,
                    [&](int32_t id) { return weight(id) < options.min_p; });
  }

  effc_sampler_options_t options;
  uint64_t drawn = 0;
};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_RUNTIME_SAMPLING_PLAINSAMPLER_H
