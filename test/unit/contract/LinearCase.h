// A mixer of class `linear` as the contract sees it: how its op is written and
// how each operand is drawn.
#ifndef EFFC_TEST_UNIT_CONTRACT_LINEARCASE_H
#define EFFC_TEST_UNIT_CONTRACT_LINEARCASE_H

#include "dialects/seq/reference/Tensor.h"

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace effc::test {

using Random = std::mt19937_64;

int64_t pick(Random &random, int64_t low, int64_t high);
double pickReal(Random &random, double low, double high);

/// Extents by dimension letter, great or small. '1' is 1.
struct Extents {
  int64_t T, H, G, K, V;

  int64_t operator[](char letter) const;
  std::vector<int64_t> of(const std::string &letters) const;
  std::string text() const;
};

/// Which log-decays a draw takes.
enum class Gates { Mild, Adversarial };

/// Draws one number.
using Draw = std::function<double(Random &, Gates)>;

struct LinearOperand {
  std::string name;
  std::string letters; ///< "THV", one letter per dimension
  Draw draw;
  bool unitLength = false;  ///< scaled to length 1 along the last dimension
  bool isPositions = false; ///< i32, where tokens lie in their sequence

  std::string element() const { return isPositions ? "i32" : "f32"; }

  /// Numbers that f32 holds exactly, so that both precisions see the same.
  seq::reference::Tensor<double> pickTensor(Random &random, Gates gates,
                                            const Extents &extents) const;
};

struct LinearCase {
  std::string name = {}; ///< of the op, without its dialect; of a body, its own
  std::string variant = {}; ///< tells cases of one op apart
  std::vector<LinearOperand> tokens = {}, parameters = {}, states = {};
  std::string attributes = {}; ///< as between braces
  /// For seq.recurrence: the body on %<operand name>, up to its seq.yield.
  std::function<std::string(const Extents &)> body = {};
  bool grouped = false; ///< heads may share queries and keys
  bool oneKey = false;  ///< K is 1
  bool square = false;  ///< K is V
  bool hasScan = true;  ///< the form `scan` covers its structure
  bool hasTiles = true; ///< tiles can say its token map, for many tokens too
  bool toleratesRounding = true; ///< some operand is only multiplied

  /// What a reader calls the case.
  std::string title() const;
  std::vector<const LinearOperand *> operands() const;
  /// The op in its generic form on %a0, %a1, ...: `%r:2 = "seq.x"(...) : ...`;
  /// a T of 0 stands for a dynamic one.
  std::string opText(const Extents &extents) const;
  std::string resultTypes(const Extents &extents) const;
};

/// `tensor<2x3xf32>`; an extent of 0 is dynamic.
std::string tensorType(const std::vector<int64_t> &shape,
                       const std::string &element = "f32");

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CONTRACT_LINEARCASE_H
