// The recorded checkpoints of goldens/families, and what the reference makes of
// them in double.
#ifndef EFFC_TEST_UNIT_FRONTEND_RECORDEDMODEL_H
#define EFFC_TEST_UNIT_FRONTEND_RECORDEDMODEL_H

#include "frontend/Import.h"

#include <string>
#include <vector>

namespace effc::test {

/// The folders of all cases, "families/<family>/<case>".
std::vector<std::string> listRecordedFamilies();

/// A case's name as a test's: what lies behind the first '/'.
std::string nameOfRecorded(const std::string &folder);

/// How `directory` is to be imported: what its options.json says.
frontend::ImportOptions readRecordedOptions(const std::string &directory);

struct RecordedSequence {
  std::vector<int32_t> tokens;
  /// [T, vocabulary], of the library in double.
  std::vector<double> logits;
};

std::vector<RecordedSequence>
readRecordedSequences(const std::string &directory);

/// Runs @forward on `tokens` from neutral states and returns all logits.
llvm::Expected<std::vector<double>> evaluate(frontend::ImportedModel &model,
                                             llvm::ArrayRef<int32_t> tokens);

/// Relative L2.
double relativeDistance(llvm::ArrayRef<double> found,
                        llvm::ArrayRef<double> expected);

} // namespace effc::test

#endif // EFFC_TEST_UNIT_FRONTEND_RECORDEDMODEL_H
