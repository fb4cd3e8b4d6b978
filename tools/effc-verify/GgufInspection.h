// `effc inspect FILE.gguf`: keys, types and bytes of a file that is yet to be
// compiled.
#ifndef EFFC_TOOLS_EFFC_VERIFY_GGUFINSPECTION_H
#define EFFC_TOOLS_EFFC_VERIFY_GGUFINSPECTION_H

#include <string>

namespace effc::verify {

/// The text, or the JSON document. Throws Failure where the file is none.
std::string describeGguf(const std::string &file, bool json);

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_GGUFINSPECTION_H
