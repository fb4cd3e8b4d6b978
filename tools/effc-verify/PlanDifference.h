// Where the plan of a file differs from what its module compiles to.
#ifndef EFFC_TOOLS_EFFC_VERIFY_PLANDIFFERENCE_H
#define EFFC_TOOLS_EFFC_VERIFY_PLANDIFFERENCE_H

#include <optional>
#include <string>

namespace effc::verify {

/// The first field of the host's plan that differs between the artifacts at
/// two paths: "entry decode_1, launch 3 (layers.0.in_proj), operands[1].offset:
/// 64 in the file, 0 compiled again". None where the plans are the same.
///
/// The plan is all of the program but this: provenance; generation and tokenizer,
/// which come from beside the module; places, files and checksums of segments
/// and weights, and the names that weights had in the checkpoint; what is
/// counted of these (parameters, layout_id); plans of GPUs. Both files are ones
/// that the runtime has opened. Throws cli::Failure where one cannot be read.
std::optional<std::string> findPlanDifference(const std::string &file,
                                              const std::string &anew);

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_PLANDIFFERENCE_H
