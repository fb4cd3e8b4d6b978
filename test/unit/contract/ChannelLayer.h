// What a layer does to the channels of tokens, compiled and held to the reference.
#ifndef EFFC_TEST_CHANNELLAYER_H
#define EFFC_TEST_CHANNELLAYER_H

#include "test/unit/contract/RetrievalCase.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace effc::test {

/// Tokens of the one call, and rows of the table that they are looked up in.
inline constexpr int64_t kTokens = 19;

inline std::string n(int64_t number) { return std::to_string(number); }

/// The text of a static tensor's type.
std::string shapeOf(const std::vector<int64_t> &shape);

/// What a layer does between %x and %y, with the weights it names.
struct Layer {
  std::string name;
  int64_t D;
  std::vector<std::pair<std::string, std::vector<int64_t>>> weights;
  std::string body;
  double offset = 0; // added to every element of x
  /// States that it names; the body sets %next_NAME.
  std::vector<std::pair<std::string, std::vector<int64_t>>> states = {};
  /// The numbers of weights that are not drawn.
  std::vector<std::pair<std::string, std::vector<float>>> given = {};
};

/// Rows together and one by one, and in calls of several sequences, by kernels of the
/// target under test, within 1e-5 of the reference in double.
void check(const Layer &layer);

} // namespace effc::test

#endif // EFFC_TEST_CHANNELLAYER_H
