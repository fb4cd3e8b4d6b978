#include "test/unit/contract/BlockChoiceCase.h"

#include <algorithm>
#include <set>

using namespace effc::test;

static std::string n(int64_t number) { return std::to_string(number); }

std::string BlockChoiceCase::text() const {
  return "H,G,M,K,V,C,U,W = " + n(H) + "," + n(G) + "," + n(M) + "," + n(K) +
         "," + n(V) + "," + n(C) + "," + n(U) + "," + n(W) + ", first " +
         n(first) + ", last " + n(last) + (isShare ? ", shares" : ", means") +
         (hasTies ? ", ties" : "");
}

std::vector<std::pair<std::string, std::vector<int64_t>>>
BlockChoiceCase::tokens() const {
  return {{"q", {H, K}}, {"k", {G, K}}, {"v", {G, V}}};
}

std::vector<std::pair<std::string, std::vector<int64_t>>>
BlockChoiceCase::states() const {
  return {{"sums", {blocks(), G, K}},
          {"keys", {W, G, K}},
          {"values", {W, G, V}},
          {"key_sums", {blocks(), G, K}},
          {"value_sums", {blocks(), G, V}}};
}

std::string BlockChoiceCase::opText(const std::string &rows) const {
  auto of = [&](const std::string &name) {
    for (auto &[token, shape] : tokens())
      if (token == name)
        return WindowCase::type(rows, shape);
    for (auto &[state, shape] : states())
      if (state == name)
        return WindowCase::type("", shape);
    return WindowCase::type(rows, {H, V}); // a result
  };
  std::string indices = "tensor<" + rows + "xi32>",
              chosen = WindowCase::type(rows, {M, U}, "i32");
  char scaleText[40];
  std::snprintf(scaleText, sizeof scaleText, "%.17e : f64", scale());
  std::string common =
      "block = " + n(C) + " : i64, scale = " + std::string(scaleText);
  return "  %chosen, %next_sums = seq.choose_blocks %q, %k positions(%p) "
         "state(%sums) {" +
         common + ", first = " + n(first) + " : i64, last = " + n(last) +
         " : i64, score = #seq.block_score<" + (isShare ? "share" : "mean") +
         ">} : (" + of("q") + ", " + of("k") + ", " + indices + ", " +
         of("sums") + ") -> (" + chosen + ", " + of("sums") +
         ")\n  %y, %next_keys, %next_values = seq.attention %q, %k, %v "
         "positions(%p) blocks(%chosen) states(%keys, %values) {" +
         common + "} : (" + of("q") + ", " + of("k") + ", " + of("v") + ", " +
         indices + ", " + chosen + ", " + of("keys") + ", " + of("values") +
         ") -> (" + of("y") + ", " + of("keys") + ", " + of("values") +
         ")\n  %z, %next_key_sums, %next_value_sums = "
         "seq.mix_block_means %q, %k, %v positions(%p) "
         "states(%key_sums, %value_sums) {" +
         common + "} : (" + of("q") + ", " + of("k") + ", " + of("v") + ", " +
         indices + ", " + of("key_sums") + ", " + of("value_sums") + ") -> (" +
         of("y") + ", " + of("key_sums") + ", " + of("value_sums") + ")\n";
}

double BlockChoiceCase::element(Random &random) const {
  return hasTies ? double(pick(random, -2, 2))
                 : double(float(pickReal(random, -2, 2)));
}

BlockChoiceCase effc::test::pickBlockChoice(Random &random, int64_t tokens) {
  while (true) {
    BlockChoiceCase s = {};
    s.G = pick(random, 1, 3);
    s.M = s.G * pick(random, 1, 2);
    s.H = s.M * pick(random, 1, 3);
    s.K = pick(random, 1, 40);
    s.V = pick(random, 1, 40);
    s.hasTies = pick(random, 0, 2) == 0;
    // Quotients by a power of two are exact.
    s.C = s.hasTies ? int64_t(2) << pick(random, 0, 2) : pick(random, 1, 9);
    s.isShare = !s.hasTies && pick(random, 0, 1);
    s.first = pick(random, 0, 2);
    s.last = pick(random, 1, 3);
    s.U = s.first + s.last + pick(random, 0, 4);
    s.W = tokens + pick(random, 0, 9);
    if (std::set<int64_t>{s.K, s.V, s.C, s.U, s.W}.size() == 5)
      return s;
  }
}

//===- formulas -----------------------------------------------------------===//

double BlockChoiceFormula::meanScore(int64_t p, int64_t h, int64_t c) const {
  double score = 0;
  for (int64_t i = 0; i < s.K; ++i) {
    double mean = 0;
    for (int64_t j = c * s.C; j < (c + 1) * s.C; ++j)
      mean += k(j, h / (s.H / s.G), i);
    score += q(p, h, i) * mean / double(s.C);
  }
  return score * s.scale();
}

std::vector<int64_t> BlockChoiceFormula::chosen(int64_t p, int64_t m) const {
  int64_t own = p / s.C, perGroup = s.H / s.M;
  std::vector<double> scores(own, 0);
  for (int64_t h = m * perGroup; h < (m + 1) * perGroup; ++h) {
    int64_t whole = (p + 1) / s.C;
    double total = 0;
    for (int64_t c = 0; c < whole; ++c)
      total += std::exp(meanScore(p, h, c));
    for (int64_t c = 0; c < own; ++c) {
      double score = meanScore(p, h, c);
      scores[c] += s.isShare ? std::exp(score) / total : score;
    }
  }
  std::vector<int64_t> blocks, others;
  for (int64_t c = 0; c <= own; ++c)
    (c < s.first || c > own - s.last ? blocks : others).push_back(c);
  std::stable_sort(others.begin(), others.end(),
                   [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  for (int64_t c : others)
    if (int64_t(blocks.size()) < s.U)
      blocks.push_back(c);
  return blocks;
}

std::vector<double> BlockChoiceFormula::overChosen(int64_t p) const {
  std::vector<double> y(s.H * s.V, 0);
  for (int64_t h = 0; h < s.H; ++h) {
    std::vector<int64_t> blocks = chosen(p, h / (s.H / s.M));
    double total = 0;
    for (int64_t j = 0; j <= p; ++j) {
      if (std::find(blocks.begin(), blocks.end(), j / s.C) == blocks.end())
        continue;
      int64_t g = h / (s.H / s.G);
      double score = 0;
      for (int64_t i = 0; i < s.K; ++i)
        score += q(p, h, i) * k(j, g, i);
      double weight = std::exp(score * s.scale());
      total += weight;
      for (int64_t i = 0; i < s.V; ++i)
        y[h * s.V + i] += weight * v(j, g, i);
    }
    for (int64_t i = 0; i < s.V; ++i)
      y[h * s.V + i] /= total;
  }
  return y;
}

std::vector<double> BlockChoiceFormula::overMeans(int64_t p) const {
  std::vector<double> y(s.H * s.V, 0);
  int64_t whole = (p + 1) / s.C;
  for (int64_t h = 0; h < s.H; ++h) {
    double total = 0;
    for (int64_t c = 0; c < whole; ++c) {
      double weight = std::exp(meanScore(p, h, c));
      total += weight;
      for (int64_t j = c * s.C; j < (c + 1) * s.C; ++j)
        for (int64_t i = 0; i < s.V; ++i)
          y[h * s.V + i] += weight * v(j, h / (s.H / s.G), i) / double(s.C);
    }
    for (int64_t i = 0; i < s.V && whole > 0; ++i)
      y[h * s.V + i] /= total;
  }
  return y;
}
