// Retrievals of random shape, as programs with their data.
//
// Scores are multiples of 2^-6 of at most 8 in magnitude, so that sums of two
// are exact in f32 and many rows of a head tie: what is chosen is the same in
// every precision, and only if ties go to the lowest number.
#ifndef EFFC_TEST_UNIT_CONTRACT_RETRIEVALCASE_H
#define EFFC_TEST_UNIT_CONTRACT_RETRIEVALCASE_H

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace effc::test {

using Random = std::mt19937_64;
int64_t pick(Random &random, int64_t low, int64_t high);
double pickReal(Random &random, double low, double high);
/// A score: exact, and often equal to others.
float pickScore(Random &random);
/// A number that bf16 holds exactly.
float pickWeight(Random &random);

/// The mixers of the class, one for each content of its record.
enum class RetrievalMixer { Memory, Experts, Networks };

struct RetrievalCase {
  RetrievalMixer mixer;
  std::string weighting, nonlinearity;
  bool weightInside = false;
  int64_t T, H, S, D, K, F; ///< S experts and no H for networks, F theirs alone
  bool ordered = false;     ///< networks chosen by numbers behind their scores

  std::string text() const;
  /// Rows that can be chosen.
  int64_t rows() const { return mixer == RetrievalMixer::Networks ? S : S * S; }
  int64_t scoresPerToken() const {
    return mixer == RetrievalMixer::Networks ? S * (ordered ? 2 : 1)
                                             : 2 * H * S;
  }
  /// A score, positive where weights are shares of a sum.
  float drawScore(Random &random) const;
  bool readsTokens() const { return mixer != RetrievalMixer::Memory; }
  /// Shapes of the parameters, in operand order.
  std::vector<std::pair<int64_t, int64_t>> tables() const;
  /// The op on %x, %scores, %order, %p0 and %p1, with its types; `tokens` is T
  /// or "?", `element` that of the tables.
  std::string opText(const std::string &tokens,
                     const std::string &element) const;
  /// The type of the scores, and of what they are chosen by.
  std::string scoresType(const std::string &tokens) const;
};

/// A case of any mixer, with dimensions that all differ.
RetrievalCase pickCase(Random &random);

std::string tensorType(const std::vector<std::string> &shape,
                       const std::string &element = "f32");

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CONTRACT_RETRIEVALCASE_H
