#include "tools/effc/Evaluation.h"

#include "tools/terminal/Failure.h"
#include "tools/terminal/Progress.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

using namespace effc;
using namespace effc::cli;

double effc::cli::negativeLogLikelihood(std::span<const float> logits,
                                        int32_t token) {
  double most = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (float logit : logits)
    sum += std::exp(double(logit) - most);
  return most + std::log(sum) - double(logits[static_cast<size_t>(token)]);
}

// The largest multiple of all targets' chunks that the rows of the largest
// prefill entry hold: where a model is cut shows on none of its devices.
uint64_t effc::cli::callStride(const Model &model) {
  auto description = nlohmann::json::parse(model.describe());
  uint64_t rows = 0, chunk = 1;
  auto take = [&](const nlohmann::json &entries) {
    uint64_t most = 0, ofLargest = 1;
    for (const auto &entry : entries)
      if (entry["kind"] == "prefill" && entry["rows"] > most) {
        most = entry["rows"];
        ofLargest = entry["chunk"];
      }
    rows = std::max(rows, most);
    chunk = std::lcm(chunk, ofLargest);
  };
  take(description["entries"]);
  for (const auto &target : description["targets"])
    take(target["entries"]);
  return std::max(chunk, rows - rows % chunk);
}

struct Evaluation::Running {
  const Tokens *tokens;
  const Targets *targets; // or null
  uint64_t first;         // from here on predictions count
  size_t index;           // of the sequence
  Session session;
  std::optional<Session> other; // of the second model
  Score score;
  uint64_t at = 0;    // tokens fed
  uint64_t round = 0; // pieces fed
  uint64_t piece = 0; // tokens of the current piece not yet fed
  bool step = false;  // the current piece is a decode step
  uint64_t part = 0;  // tokens in the call being made
};

Evaluation::Evaluation(const Model &model, Engine on, Split how,
                       uint32_t together, SafetensorsWriter *out)
    : vocabulary(model.vocabularySize()), split(std::move(how)),
      batch(together), writer(out), engine(std::move(on)),
      grid(callStride(model)), buffers(together), otherBuffers(together) {}

void Evaluation::compareWith(const Model &model, Engine on) {
  otherEngine.emplace(std::move(on));
  grid = std::lcm(grid, callStride(model));
}

/// A mean over what is no number is no result; neither are such logits.
static void checkRow(std::span<const float> logits, size_t sequence,
                     uint64_t row) {
  // Infinity has no likelihood either; of minus infinity it is 0.
  auto bad = std::find_if(logits.begin(), logits.end(), [](float x) {
    return std::isnan(x) || x == std::numeric_limits<float>::infinity();
  });
  if (bad != logits.end())
    throw Failure("the logits of token " + std::to_string(row) +
                  " of sequence " + std::to_string(sequence) +
                  " are no numbers: that of token id " +
                  std::to_string(bad - logits.begin()) + " is " +
                  (std::isnan(*bad) ? "NaN" : "infinite"));
}

/// Whether no token has a larger logit than `token`, and none before it the
/// same.
static bool isChoice(std::span<const float> logits, int32_t token) {
  return std::max_element(logits.begin(), logits.end()) - logits.begin() ==
         token;
}

/// Scores and writes `count` rows that follow the tokens fed so far.
void Evaluation::takeLogits(Running &running, const float *logits,
                            const float *others, uint64_t count) {
  auto row = [&](const float *all, uint64_t i) {
    return std::span(all + i * vocabulary, vocabulary);
  };
  for (uint64_t i = 0; i < count; ++i) {
    checkRow(row(logits, i), running.index, running.at + i);
    if (!others)
      continue;
    checkRow(row(others, i), running.index, running.at + i);
    Divergence ofRow;
    ofRow.add(row(logits, i), row(others, i));
    running.score.against.add(ofRow);
    running.score.drift.add(running.at + i, ofRow);
  }
  if (writer)
    writer->write(running.index, running.at, logits, count);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t next = running.at + i + 1;
    if (next == running.tokens->size())
      break;
    if (next < running.first)
      continue;
    int32_t token = (*running.tokens)[next];
    running.score.sumNll += negativeLogLikelihood(row(logits, i), token);
    ++running.score.predicted;
    if (others)
      running.score.against.sumNll +=
          negativeLogLikelihood(row(others, i), token);
  }
  for (size_t i = 0; running.targets && i < running.targets->positions.size();
       ++i) {
    uint64_t position = running.targets->positions[i];
    if (position < running.at || position >= running.at + count)
      continue;
    ++running.score.targets;
    running.score.right +=
        isChoice(row(logits, position - running.at), running.targets->ids[i]);
  }
  running.at += count;
  running.piece -= count;
}

void Evaluation::feedTogether(std::vector<Running *> &running, bool decode) {
  if (running.empty())
    return;
  if (decode) {
    std::vector<effc_session_t *> sessions, others;
    Tokens tokens;
    for (Running *one : running) {
      sessions.push_back(one->session.get());
      if (one->other)
        others.push_back(one->other->get());
      tokens.push_back((*one->tokens)[one->at]);
    }
    std::vector<float> logits = engine.decode(sessions, tokens), second;
    if (otherEngine)
      second = otherEngine->decode(others, tokens);
    for (size_t i = 0; i < running.size(); ++i)
      takeLogits(*running[i], logits.data() + i * vocabulary,
                 otherEngine ? second.data() + i * vocabulary : nullptr, 1);
    return;
  }
  // Up to the next place on the grid past a whole stride.
  for (Running *one : running)
    one->part = std::min(one->piece, grid - one->at % grid);
  auto prefill = [&](Engine &on, std::vector<std::vector<float>> &into,
                     auto sessionOf) {
    std::vector<effc_prompt_t> prompts;
    for (size_t i = 0; i < running.size(); ++i) {
      Running &one = *running[i];
      into[i].resize(one.part * vocabulary);
      prompts.push_back({sessionOf(one).get(), one.tokens->data() + one.at,
                         one.part, EFFC_LOGITS_ALL, into[i].data(),
                         sizeof(effc_prompt_t)});
    }
    on.prefill(prompts);
  };
  prefill(engine, buffers,
          [](Running &one) -> Session & { return one.session; });
  if (otherEngine)
    prefill(*otherEngine, otherBuffers,
            [](Running &one) -> Session & { return *one.other; });
  for (size_t i = 0; i < running.size(); ++i)
    takeLogits(*running[i], buffers[i].data(),
               otherEngine ? otherBuffers[i].data() : nullptr,
               running[i]->part);
}

/// One call for those in the middle of a prefill or a step.
void Evaluation::feedRound(std::vector<Running> &group) {
  std::vector<Running *> prefills, steps;
  for (Running &running : group) {
    if (running.piece == 0) {
      running.piece =
          split.length(running.round++, running.tokens->size() - running.at);
      running.step = running.piece == 1 && split.stepsDecode();
    }
    if (running.piece > 0)
      (running.step ? steps : prefills).push_back(&running);
  }
  feedTogether(prefills, false);
  feedTogether(steps, true);
}

std::vector<Score> Evaluation::run(const std::vector<Tokens> &sequences,
                                   const std::vector<Targets> &targets,
                                   const std::vector<uint64_t> &firsts,
                                   Progress &progress) {
  std::vector<Score> scores(sequences.size());
  uint64_t done = 0;
  for (size_t first = 0; first < sequences.size(); first += batch) {
    std::vector<Running> group;
    for (size_t i = first;
         i < std::min<size_t>(first + batch, sequences.size()); ++i)
      group.push_back({&sequences[i],
                       targets.empty() ? nullptr : &targets[i],
                       firsts.empty() ? 1 : firsts[i],
                       i,
                       Session(engine),
                       std::nullopt,
                       {sequences[i].size()}});
    for (Running &running : group)
      if (otherEngine)
        running.other.emplace(*otherEngine);
    auto unfinished = [](const Running &running) {
      return running.at < running.tokens->size();
    };
    uint64_t before = done;
    while (std::any_of(group.begin(), group.end(), unfinished)) {
      feedRound(group);
      done = before;
      for (const Running &running : group)
        done += running.at;
      progress.update(done);
    }
    for (const Running &running : group)
      scores[running.index] = running.score;
  }
  return scores;
}
