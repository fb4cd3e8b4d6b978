#include "frontend/model/StateSpaceConfig.h"

#include "frontend/checkpoint/Refusal.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;

void effc::frontend::readTimeStepLimit(ConfigReader &reader,
                                       llvm::StringRef key,
                                       StateSpaceConfig &config) {
  const JsonValue *value = reader.get(key);
  if (!value || value->isNull())
    return;
  const JsonArray *bounds = value->getArray();
  if (!bounds || bounds->size() != 2) {
    reader.reportMismatch(key, "an array of 2 numbers", *value);
    return;
  }
  std::optional<double> low = (*bounds)[0].getNumber();
  std::optional<double> high = (*bounds)[1].getNumber();
  if (!low || !high || !(*low >= 0) || !(*low <= *high) || std::isinf(*low)) {
    reader.report("expects " + quote(key) +
                  " to be two numbers from 0 on in ascending order, the first "
                  "finite, but got " +
                  (*bounds)[0].describe() + " and " + (*bounds)[1].describe());
    return;
  }
  config.dtMin = *low;
  config.dtMax = *high;
}
