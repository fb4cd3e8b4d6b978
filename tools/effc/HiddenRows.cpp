#include "tools/effc/HiddenRows.h"

#include <algorithm>

using namespace effc;
using namespace effc::cli;

/// Tokens of a text in one call, and numbers of all rows: what they take is bounded.
static constexpr size_t kMostTokens = 512, kMostNumbers = size_t(1) << 25;

HiddenRows::HiddenRows(const Model &model, Engine &engine, uint32_t count)
    : engine(engine), width(model.rowWidth()) {
  for (uint32_t i = 0; i < count; ++i)
    sessions.emplace_back(engine);
}

void HiddenRows::feed(std::span<const Tokens> texts, bool lastAlone,
                      const Sink &sink) {
  for (size_t begin = 0; begin < texts.size(); begin += sessions.size())
    feedTogether(
        texts.subspan(begin, std::min(sessions.size(), texts.size() - begin)),
        begin, lastAlone, sink);
}

void HiddenRows::feedTogether(std::span<const Tokens> texts, size_t number,
                              bool lastAlone, const Sink &sink) {
  size_t longest = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    sessions[i].reset();
    longest = std::max(longest, texts[i].size());
  }
  size_t piece = kMostTokens;
  if (!lastAlone)
    piece = std::clamp<size_t>(kMostNumbers / (texts.size() * width), 1,
                               kMostTokens);
  rows.resize(texts.size() * (lastAlone ? 1 : piece) * width);
  for (size_t first = 0; first < longest; first += piece) {
    std::vector<effc_prompt_t> prompts;
    std::vector<size_t> whose;
    float *out = rows.data();
    for (size_t i = 0; i < texts.size(); ++i) {
      if (first >= texts[i].size())
        continue;
      size_t count = std::min(piece, texts[i].size() - first);
      bool isLast = first + count == texts[i].size();
      effc_wanted_t wanted = !lastAlone ? EFFC_LOGITS_ALL
                             : isLast   ? EFFC_LOGITS_LAST
                                        : EFFC_LOGITS_NONE;
      prompts.push_back({sessions[i].get(), texts[i].data() + first, count,
                         wanted, out, sizeof(effc_prompt_t)});
      whose.push_back(i);
      out += (lastAlone ? size_t(isLast) : count) * width;
    }
    engine.prefill(prompts);
    for (size_t i = 0; i < prompts.size(); ++i) {
      const effc_prompt_t &prompt = prompts[i];
      if (prompt.wanted == EFFC_LOGITS_NONE)
        continue;
      size_t count = lastAlone ? 1 : prompt.count;
      sink(number + whose[i], first + prompt.count - count,
           {prompt.out_logits, count * width});
    }
  }
}
