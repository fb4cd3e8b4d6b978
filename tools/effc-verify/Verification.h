// The equality contract, checked on a user's own model.
#ifndef EFFC_TOOLS_EFFC_VERIFY_VERIFICATION_H
#define EFFC_TOOLS_EFFC_VERIFY_VERIFICATION_H

#include "compiler/Reference.h"
#include "compiler/StoredModel.h"
#include "tools/effc-verify/Check.h"
#include "tools/effc-verify/Feeding.h"
#include "tools/effc-verify/TimeBudget.h"
#include "tools/effc/ModelAccess.h"

#include <cmath>
#include <functional>
#include <optional>
#include <string>

namespace effc::verify {

struct VerifyOptions {
  std::string file;
  cli::ModelAccess access;
  size_t tokens = 48; // at most: fewer where they take longer than `seconds`
  /// Time for all of it, about; what does not fit is left out and named.
  double seconds = INFINITY;
  /// Whether the file's code is run, and what is compiled anew.
  bool runs = true;
  /// Kernels in other forms, and whether compiling again gives the same code.
  bool compiles = true;
  /// Where the file's own code runs; what is compiled anew runs on the host.
  cli::DeviceChoice device = {"host", 0};
};

/// Checks, in this order: the file's checksums; where the file holds its seq
/// module, that compiling again gives the same code, without which nothing of
/// the file is run; the reference in double against its f32 arithmetic; the
/// compiled model against the reference and against itself, fed in other ways;
/// the reference against every derived form and against kernels compiled anew
/// in other forms.
///
/// Tolerances are derived from the model: what plain f32 arithmetic loses on
/// it, measured by evaluating the reference in f32.
class Verification {
public:
  /// `progress(done, total)` is told of every check.
  Verification(VerifyOptions options,
               std::function<void(uint64_t, uint64_t)> progress);

  /// Throws Failure or effc::Error where the model cannot be run, and Failure
  /// where the file is damaged.
  Report run();

private:
  void readStored();
  /// What follows from the file's options on the device that runs it.
  void readTargetOptions();
  void checkModule();
  void checkWhatRuns();
  void stateTolerances();
  /// What is compiled anew runs on the host.
  void keepHostTarget();
  void checkFeeding();
  void checkThreads();
  void checkReference();
  void checkDerivedForms();
  void checkFile();
  void checkForms();
  void checkCode();
  std::vector<double> reference(const struct FormCase *form, bool single,
                                ReferenceCoverage *coverage = nullptr);
  /// Opens the engine that runs the file's code, and feeds the sequence.
  void feedWhole();
  /// Picks the sequence, as long as the time allows.
  void chooseTokens(size_t evaluations);
  /// Whether there is time for a check of about so many seconds; else it is
  /// noted as left out.
  bool hasTimeFor(const std::string &name, double estimate);
  void add(std::string name, std::string against, double error,
           double tolerance, std::optional<size_t> firstToken = std::nullopt);
  /// The same of logits; a tolerance of 0 asks for the same bits.
  template <typename A, typename B>
  void addLogits(std::string name, std::string against,
                 const std::vector<A> &found, const std::vector<B> &expected,
                 double tolerance);
  /// Throws Failure where f32 loses so much that nothing could be told.
  void requireJudgeable() const;
  /// What sound f32 arithmetic may lose.
  double f32Tolerance() const;
  /// The same for a prompt that is fed at once, in calls of `rows`.
  double prefillTolerance(size_t rows) const;
  /// What feeding in other ways may change: nothing, unless the file was
  /// compiled otherwise.
  double feedingTolerance() const;
  /// The rows of the file's largest prefill.
  size_t mostRows() const;

  VerifyOptions options;
  std::function<void(uint64_t, uint64_t)> progress;
  uint64_t done = 0, total = 0;
  Model model;
  TimeBudget budget;
  std::optional<cli::Place> place; // where the file's code runs; once it does
  std::optional<Feeding> feeding;
  size_t vocabulary;
  Tokens tokens;
  double evaluation = 0;      // seconds of the reference, the last time
  double compilation = 0;     // seconds that compiling again took
  Logits whole;               // of one prefill
  std::vector<double> oracle; // of the reference in double
  bool optionsKnown = true;   // the file's options could be read
  bool codeIsSound = true;    // it is what the module compiles to, or was
                              // not compared
  bool hasHostCode = true;    // it was compiled for the host too
  bool runsOnHost = true;     // the device that runs the file's own code
  bool bitStable = false;
  bool narrowStates = false;     // some state is kept in 16 bits
  bool roundsProducts = false;   // the device's products round operands
  StoredModel stored;            // empty without a seq module
  CompileOptions compileOptions; // of the file, for the host alone
  std::string compiler;          // that made the file
  Report report;
};

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_VERIFICATION_H
