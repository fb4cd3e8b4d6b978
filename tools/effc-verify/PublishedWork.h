// `effc inspect --flops=published`: FLOPs as papers count them, from the module
// that a compiled model holds.
#ifndef EFFC_TOOLS_EFFC_VERIFY_PUBLISHEDWORK_H
#define EFFC_TOOLS_EFFC_VERIFY_PUBLISHEDWORK_H

#include "compiler/StoredModel.h"
#include "tools/effc/ModelAccess.h"

#include <string>

namespace effc::verify {

/// The text, or the JSON document. Throws Failure where the file holds no
/// module.
std::string describePublishedWork(const std::string &file,
                                  const cli::ModelAccess &access,
                                  const seq::PublishedSettings &settings,
                                  bool json);

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_PUBLISHEDWORK_H
