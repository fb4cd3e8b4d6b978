// Rules of the dialect's types.
#include "dialects/seq/SeqTypes.h"
#include "dialects/seq/SeqDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace effc::seq;

#define GET_TYPEDEF_CLASSES
#include "dialects/seq/SeqTypes.cpp.inc"

void SeqDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/seq/SeqTypes.cpp.inc"
      >();
}

LogicalResult
SemiseparableType::verify(function_ref<InFlightDiagnostic()> emitError,
                          int64_t heads, int64_t rank, DecayAxis decay,
                          int64_t band) {
  for (auto [name, number] : {std::pair("heads", heads), {"rank", rank}})
    if (number < 1)
      return emitError() << "expects '" << name << "' of at least 1, but got "
                         << number;
  if (decay != DecayAxis::None && decay != DecayAxis::HeadConstant &&
      decay != DecayAxis::Head)
    return emitError() << "expects 'decay' to be none, head_constant or head, "
                          "but got "
                       << stringifyDecayAxis(decay);
  if (band < 0)
    return emitError()
           << "expects 'band' of at least 1, or 0 for none, but got " << band;
  return success();
}
