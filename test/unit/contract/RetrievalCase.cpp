#include "test/unit/contract/RetrievalCase.h"

#include <array>
#include <cmath>
#include <set>

namespace effc::test {

int64_t pick(Random &random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

double pickReal(Random &random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

float pickScore(Random &random) {
  // Some keys share a few coarse values, others hardly ever tie.
  int64_t step = pick(random, 0, 1) ? 64 : 1;
  return float(pick(random, -512 / step, 512 / step) * step) / 64;
}

float pickWeight(Random &random) { return float(pick(random, -64, 64)) / 64; }

std::string tensorType(const std::vector<std::string> &shape,
                       const std::string &element) {
  std::string text = "tensor<";
  for (const std::string &size : shape)
    text += size + "x";
  return text + element + ">";
}

static std::string n(int64_t number) { return std::to_string(number); }

std::string RetrievalCase::text() const {
  static constexpr std::array names = {"memory", "experts", "networks"};
  return std::string(names[int(mixer)]) + ", " + weighting + ", " +
         nonlinearity + (weightInside ? ", weight inside" : "") +
         (ordered ? ", in order" : "") + ", T,H,S,D,K,F = " + n(T) + "," +
         n(H) + "," + n(S) + "," + n(D) + "," + n(K) + "," + n(F);
}

float RetrievalCase::drawScore(Random &random) const {
  float score = pickScore(random);
  return weighting == "share" ? std::fabs(score) + 1.0F / 64 : score;
}

std::vector<std::pair<int64_t, int64_t>> RetrievalCase::tables() const {
  switch (mixer) {
  case RetrievalMixer::Memory:
    return {{rows(), D}};
  case RetrievalMixer::Experts:
    return {{rows(), D}, {rows(), D}};
  case RetrievalMixer::Networks:
    return {{2 * F * S, D}, {D * S, F}};
  }
  return {};
}

std::string RetrievalCase::scoresType(const std::string &tokens) const {
  return mixer == RetrievalMixer::Networks
             ? tensorType({tokens, n(S)})
             : tensorType({tokens, "2", n(H), n(S)});
}

std::string RetrievalCase::opText(const std::string &tokens,
                                  const std::string &element) const {
  std::vector<std::string> parameters;
  for (auto [rowCount, columns] : tables())
    parameters.push_back(tensorType({n(rowCount), n(columns)}, element));
  std::string x = tensorType({tokens, n(D)}), scores = scoresType(tokens);
  std::string attributes = "{top_k = " + n(K) +
                           " : i64, weighting = #seq.weighting<" + weighting +
                           ">";
  if (readsTokens())
    attributes += ", nonlinearity = #seq.nonlinearity<" + nonlinearity + ">";
  if (weightInside)
    attributes += ", weight_inside";
  attributes += "}";
  if (mixer == RetrievalMixer::Memory)
    return "seq.product_key_memory %scores parameters(%p0) " + attributes +
           " : " + scores + ", (" + parameters[0] + ") -> " + x;
  return std::string(mixer == RetrievalMixer::Experts
                         ? "seq.product_key_experts"
                         : "seq.routed_experts") +
         " %x, %scores " + (ordered ? "order(%order : " + scores + ") " : "") +
         "parameters(%p0, %p1) " + attributes + " : (" + x + ", " + scores +
         "), (" + parameters[0] + ", " + parameters[1] + ")";
}

RetrievalCase pickCase(Random &random) {
  static constexpr std::array weightings = {"softmax", "softmax_all", "sigmoid",
                                            "relu",    "score",       "share"};
  static constexpr std::array nonlinearities = {
      "identity", "silu",         "gelu",   "gelu_tanh",
      "relu",     "squared_relu", "sigmoid"};
  while (true) {
    RetrievalCase c;
    c.mixer = RetrievalMixer(pick(random, 0, 2));
    c.weighting = weightings[pick(random, 0, 5)];
    c.nonlinearity = nonlinearities[pick(random, 0, 6)];
    c.weightInside =
        c.mixer == RetrievalMixer::Experts && pick(random, 0, 2) == 0;
    bool networks = c.mixer == RetrievalMixer::Networks;
    c.ordered = networks && pick(random, 0, 1) == 0;
    c.T = pick(random, 1, 12);
    c.H = networks ? 1 : pick(random, 2, 5);
    c.S = pick(random, 2, 13);
    c.D = pick(random, 2, 11);
    c.F = pick(random, 2, 7);
    // Up to all rows: candidates then are all pairs.
    c.K = pick(random, 1,
               pick(random, 0, 4) ? std::min<int64_t>(c.rows(), 10) : c.rows());
    std::set<int64_t> sizes = {c.T, c.S, c.D, c.K};
    if (networks)
      sizes.insert(c.F);
    else
      sizes.insert(c.H);
    if (sizes.size() == 5)
      return c;
  }
}

} // namespace effc::test
