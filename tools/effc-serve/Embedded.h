// Files of this folder that the program carries.
#ifndef EFFC_TOOLS_EFFC_SERVE_EMBEDDED_H
#define EFFC_TOOLS_EFFC_SERVE_EMBEDDED_H

#include <string_view>

namespace effc::serve {

extern const std::string_view kPage;    // page/index.html
extern const std::string_view kOpenApi; // openapi.json

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_EMBEDDED_H
