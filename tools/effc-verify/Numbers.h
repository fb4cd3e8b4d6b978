// Numbers as a report states them.
#ifndef EFFC_TOOLS_EFFC_VERIFY_NUMBERS_H
#define EFFC_TOOLS_EFFC_VERIFY_NUMBERS_H

#include <string>

namespace effc::verify {

/// "60", "1.5".
std::string shortNumber(double number);

/// "2.8e-06".
std::string scientific(double number);

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_NUMBERS_H
