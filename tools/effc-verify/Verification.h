// The equality contract, checked on a user's own model.
#ifndef EFFC_TOOLS_EFFC_VERIFY_VERIFICATION_H
#define EFFC_TOOLS_EFFC_VERIFY_VERIFICATION_H

#include "compiler/LayerSample.h"
#include "compiler/StoredModel.h"
#include "tools/effc-verify/Check.h"
#include "tools/effc-verify/Feeding.h"
#include "tools/effc-verify/Oracle.h"
#include "tools/effc-verify/ProbeComparisons.h"
#include "tools/effc-verify/ReferencePlan.h"
#include "tools/effc-verify/TimeBudget.h"
#include "tools/effc/ModelAccess.h"

#include <cmath>
#include <functional>
#include <optional>
#include <string>

namespace effc::verify {

/// Which layers the reference and newly compiled kernels are tried on.
enum class Layers { All, Sample, AsTimeAllows };

struct VerifyOptions {
  std::string file;
  cli::ModelAccess access;
  size_t tokens = 48; // at most: fewer where they take longer than `seconds`
  /// Time for all of it, about; what does not fit is left out and named.
  double seconds = INFINITY;
  Layers layers = Layers::AsTimeAllows;
  /// Whether the file's code is run, and what is compiled anew.
  bool runs = true;
  /// Kernels in other forms, and whether compiling again gives the same code
  /// and plan.
  bool compiles = true;
  /// Where the file's own code runs; what is compiled anew runs on the host.
  cli::DeviceChoice device = {"host", 0};
};

/// What to look through where a check of logits fails.
struct Suspect {
  const StoredModel *model = nullptr;
  Tokens tokens;
  Differing differing; // empty: the ops cannot be compared
};

/// Checks, in this order: the file's checksums; where the file holds its seq
/// module, that compiling again gives the same code and plan, without which
/// nothing of the file is run; the reference in double against its f32 arithmetic; the
/// compiled model against the reference and against itself, fed in other ways,
/// and its code of each further level that the machine runs;
/// the reference against every derived form and against kernels compiled anew
/// in other forms. Where the time is too short for the reference of all
/// layers, forms and kernels are tried on a sample of the layers. Of the first
/// check that fails, the first op that differs is looked for.
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
  /// Throws Failure where no check was made.
  void requireChecks() const;
  void stateTolerances();
  /// What is compiled anew runs on the host.
  void keepHostTargets();
  void keepLevelThatRuns();
  void checkFeeding();
  void checkThreads();
  /// What `report.isa` names aside.
  std::vector<std::string> otherLevels() const;
  static constexpr size_t kLevelChecks = 2; // of each of these
  void checkOtherLevels();
  /// Throws effc::Error, with EFFC_UNSUPPORTED where the machine does not run it.
  void checkLevel(const std::string &level);
  void checkReference();
  void checkDerivedForms();
  void checkFile();
  void checkForms();
  void checkCode();
  /// The sample of the layers, compiled with the file's options.
  void checkSample();
  /// What forms are tried on, compiled in some way, against its reference.
  void checkCompiled(const std::string &name, CompileOptions how, size_t rows);
  void findFirstOpThatDiffers();
  Suspect suspectFeeding(const FeedingWay &way, double tolerance) const;
  /// Opens the engine that runs the file's code, and feeds the sequence.
  void feedWhole();
  /// Chooses which layers the reference evaluates, and for how many tokens.
  void chooseSample();
  /// Shortens the sequence to what can be fed in the time.
  void chooseTokens();
  Tokens firstTokens(size_t count) const;
  /// "layers 0, 29 of 30".
  std::string sampleName() const;
  /// The reference of what forms are tried on; null without a seq module.
  const Oracle *forms() const { return sampleOracle ? &*sampleOracle : all(); }
  /// The reference of all layers; null where there is none.
  const Oracle *all() const { return oracle ? &*oracle : nullptr; }
  /// Whether there is time for a check of about so many seconds; else it is
  /// noted as left out.
  bool hasTimeFor(const std::string &name, double estimate);
  void add(std::string name, std::string against, double error,
           double tolerance, std::optional<size_t> firstToken = std::nullopt);
  /// The same of logits; a tolerance of 0 asks for the same bits.
  template <typename A, typename B>
  void addLogits(std::string name, std::string against,
                 const std::vector<A> &found, const std::vector<B> &expected,
                 double tolerance, const Suspect &suspect);
  /// The kind of the host's products that round their rows; nothing where none do, as
  /// where three bytes hold all of an f32.
  std::optional<Products> findRoundedRows() const;
  /// What the device's products round operands to; nothing where they do not.
  std::optional<Products> findRoundedOperands() const;
  /// What that loses, or why no tolerance tells.
  void findRoundingLoss();
  /// What sound f32 arithmetic may lose on a prompt that is fed at once, in
  /// calls of `rows`; without a reference, more than it is known to lose.
  double prefillTolerance(const Oracle *against, size_t rows) const;
  /// The same of the file's own code on its device.
  double fileTolerance() const;
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
  size_t columns; // of a row
  Tokens tokens;
  double compilation = 0; // seconds that compiling again took
  Logits whole;           // of one prefill
  ReferencePlan plan;
  std::optional<LayerSample> sample; // where not all layers are tried
  std::optional<Oracle> oracle;      // of all layers, where there is time
  std::optional<Oracle> sampleOracle;
  std::optional<Suspect> firstFailed;
  bool optionsKnown = true; // the file's options could be read
  bool codeIsSound =
      true; // with its plan it is what the module compiles to, or was
            // not compared
  bool hasHostCode = true; // it was compiled for the host too
  bool runsOnHost = true;  // the device that runs the file's own code
  bool bitStable = false;
  // Of 16 bits are matrix states, and keys and values: the host rounds these when a
  // token is made, whatever follows.
  bool narrowMatrices = false, narrowKeys = false;
  double narrowFeeding = 0;  // what rounding them may make of logits
  bool narrowStates = false; // some state is rounded where a call ends
  std::optional<Products> roundedRows; // what the host's products make of rows
  // What the device's products round operands to, and what that loses.
  std::optional<Products> roundedOperands;
  double operandLoss = 0;
  std::string notJudged;         // why no tolerance tells then; empty: one does
  StoredModel stored;            // empty without a seq module
  CompileOptions compileOptions; // of the file, for the host alone
  std::string compiler;          // that made the file
  Report report;
};

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_VERIFICATION_H
