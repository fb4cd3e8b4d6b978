// The two evaluations of a check, repeated on a probe.
#ifndef EFFC_TOOLS_EFFC_VERIFY_PROBECOMPARISONS_H
#define EFFC_TOOLS_EFFC_VERIFY_PROBECOMPARISONS_H

#include "tools/effc-verify/Feeding.h"
#include "tools/effc-verify/FirstOp.h"
#include "tools/effc-verify/Forms.h"

#include <functional>

namespace effc::verify {

using FeedingWay = std::function<Logits(Feeding &, const Tokens &)>;

/// What is compiled with `options` for the host, against the reference in
/// double. Each value has a tolerance of its own, by what f32 loses of it.
Differing compiledAgainstReference(CompileOptions options, uint32_t threads);

/// A form of the reference against its own meaning, both in double.
Differing formAgainstReference(const FormCase &form);

/// What is compiled, fed in a way, against one prefill; a tolerance of 0 asks
/// for the same bits.
Differing fedAgainstOnePrefill(CompileOptions options, uint32_t threads,
                               FeedingWay way, double tolerance);

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_PROBECOMPARISONS_H
