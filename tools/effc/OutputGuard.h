//===- OutputGuard.h - Outputs that would destroy what is read ------------===//
#ifndef EFFC_TOOLS_EFFC_OUTPUTGUARD_H
#define EFFC_TOOLS_EFFC_OUTPUTGUARD_H

#include "tools/effc/ModelAccess.h"

#include <string>
#include <vector>

namespace effc::cli {

/// The files that a model is read from: `file` itself, and those that hold its
/// weights where it names some.
std::vector<std::string> filesOf(const Model &model, const std::string &file,
                                 const ModelAccess &access);

/// Throws UsageError when `output`, which `option` asks for, is one of
/// `inputs`, by whatever name. "-" and files that are not there are none.
void checkOutput(const std::string &option, const std::string &output,
                 const std::vector<std::string> &inputs);

/// Throws Failure where a file that is written beside `output` and renamed to
/// it could not be made.
void checkWritable(const std::string &output);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_OUTPUTGUARD_H
