// One line of a verification.
#ifndef EFFC_TOOLS_EFFC_VERIFY_CHECK_H
#define EFFC_TOOLS_EFFC_VERIFY_CHECK_H

#include "tools/effc-verify/FirstOp.h"

#include <optional>
#include <string>
#include <vector>

namespace effc::verify {

struct Check {
  std::string name;    // "decode steps"
  std::string against; // what it is compared with: "one prefill"
  double error;        // the largest relative one; infinite for a NaN
  double tolerance;    // 0: the same bits are expected
  /// The first token whose logits differ by more; none where all are within, or
  /// where no logits were compared.
  std::optional<size_t> firstToken = std::nullopt;

  /// An infinite error is within no tolerance, an infinite one included.
  bool passed() const;
};

/// All that a verification found.
struct Report {
  size_t tokens = 0; // of the sequence that was fed
  /// Of the file's code that was run; empty where none was.
  std::string isa;
  /// What the reference loses in f32; none where there is no reference.
  std::optional<double> f32Loss;
  std::vector<Check> checks;
  /// Of the first check of logits that failed; none where no op was found.
  std::optional<FirstOp> firstOp;
  /// Of the code that is not what compiling again gives, likewise.
  std::optional<std::string> firstKernel;
  /// Of the plan that is not what compiling again gives, the first field, as
  /// findPlanDifference() says it.
  std::optional<std::string> planDifference;
  /// What the tolerances are and where they come from, a line each.
  std::vector<std::string> tolerances;
  /// Notes that `name` was not checked, and why.
  void skip(const std::string &name, const std::string &reason);
  /// What was not checked and why, a line for each reason.
  std::vector<std::string> skippedLines() const;

private:
  struct Skipped {
    std::string names, reason;
  };
  std::vector<Skipped> skipped;
};

/// The largest difference between the logits of a token, relative to the
/// largest magnitude among those expected for it; over all tokens. Rows are
/// `columns` long. Infinite where a number is missing or no number.
template <typename A, typename B>
double largestError(const std::vector<A> &found, const std::vector<B> &expected,
                    size_t columns);

/// Zero for the same bits alone: a NaN is the same as one of its bits, 0 is not
/// -0. Otherwise what largestError() says, infinite where that is zero.
double bitError(const std::vector<float> &found,
                const std::vector<float> &expected, size_t columns);

/// The first row of `columns` that differs by more than `tolerance`, as
/// largestError() measures it; for a tolerance of 0, in any bit.
template <typename A, typename B>
std::optional<size_t> firstBeyond(const std::vector<A> &found,
                                  const std::vector<B> &expected,
                                  size_t columns, double tolerance);

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_CHECK_H
