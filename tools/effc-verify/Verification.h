// The equality contract, checked on a user's own model.
#ifndef EFFC_TOOLS_EFFC_VERIFY_VERIFICATION_H
#define EFFC_TOOLS_EFFC_VERIFY_VERIFICATION_H

#include "compiler/Reference.h"
#include "compiler/StoredModel.h"
#include "tools/effc-verify/Check.h"
#include "tools/effc-verify/Feeding.h"
#include "tools/effc/ModelAccess.h"

#include <functional>
#include <string>

namespace effc::verify {

struct VerifyOptions {
  std::string file;
  cli::ModelAccess access;
  size_t tokens = 48;
  /// Kernels in other forms, and whether compiling again gives the same code.
  bool compiles = true;
  /// Where the file's own code runs; what is compiled anew runs on the host.
  cli::DeviceChoice device = {"host", 0};
};

/// Checks, in this order: the file's checksums; the compiled model against
/// itself, fed in other ways; and, where the file holds its seq module, the
/// reference in double against its f32 arithmetic, against every derived form,
/// against the compiled model and against kernels compiled anew in other forms;
/// last, that compiling again gives the same code.
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
  /// What is compiled anew runs on the host.
  void keepHostTarget();
  void checkFeeding();
  void checkThreads();
  void checkReference();
  void checkFile();
  void checkForms();
  void checkCode();
  std::vector<double> reference(const struct FormCase *form, bool single,
                                ReferenceCoverage *coverage = nullptr);
  void add(std::string name, std::string against, double error,
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
  cli::Place place; // whose engine feeds
  Feeding feeding;
  size_t vocabulary;
  Tokens tokens;
  Logits whole;               // of one prefill
  std::vector<double> oracle; // of the reference in double
  bool optionsKnown = true;   // the file's options could be read
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
