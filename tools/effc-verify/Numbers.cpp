#include "tools/effc-verify/Numbers.h"

#include <cstdio>

std::string effc::verify::shortNumber(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

std::string effc::verify::scientific(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", number);
  return text;
}
