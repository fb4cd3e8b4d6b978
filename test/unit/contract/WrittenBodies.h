// Steps written out, as bodies of `seq.recurrence`: some whose structure is
// read, and some that are run as they stand.
#ifndef EFFC_TEST_UNIT_CONTRACT_WRITTENBODIES_H
#define EFFC_TEST_UNIT_CONTRACT_WRITTENBODIES_H

#include "test/unit/contract/LinearCase.h"

namespace effc::test {

/// Decays per head and per key channel, a correction that probes with a key of
/// its own, and an output gate.
std::string correctedBody(const Extents &e);
/// A constant decay per head beside a gate per value channel; reads before it
/// writes, and adds the token itself.
std::string echoBody(const Extents &e);
/// The state is kept by a product: what a gate per head leaves, a gate per key
/// channel and an exponential per key channel.
std::string mixedDecaysBody(const Extents &e);
/// A decay for each element; what is read of a head is divided by its length,
/// which tiles of some value channels do not know.
std::string levelledBody(const Extents &e);
/// The query goes through a matrix first, which no chunk of tokens does.
std::string turnedBody(const Extents &e);
/// What a gate per head leaves, and so many corrections, each with a key, a value
/// and a rate of its own: `k1`, `v1`, `beta1` and so on.
std::string severalCorrectionsBody(const Extents &e, int count);
/// Two corrections of a state that does not decay, with probes of their own.
std::string severalProbesBody(const Extents &e);
/// A decay per head, and two products, of which the other one is subtracted.
std::string severalProductsBody(const Extents &e);
/// One token as key, scaled to length 1, and as value; K is V.
std::string mirroredBody(const Extents &e);

/// A sum of keys beside the state, which decays as it does and divides what is
/// read.
std::string averagedBody(const Extents &e);
/// The same beside a correction, with keys of its own, read before the write.
std::string measuredBody(const Extents &e);
/// Each key is mixed with the key before, which is a state.
std::string shiftedBody(const Extents &e);
/// Two matrices: what is read of the first, whose decays are its own, is
/// written into the second.
std::string chainedBody(const Extents &e);

/// Spellings of linear steps that no mixer of the dialect has. A floor under the
/// gates, and a correction that is scaled by a repeated number.
std::string flooredBody(const Extents &e);
/// Decays by the square of a hyperbolic tangent, which may be 0, by what a gate
/// leaves, by a gate that is at least a quarter and by a constant; keys times
/// values as repeated vectors.
std::string squaredBody(const Extents &e);
/// What is read is subtracted, over a divisor, and all of it fades afterwards.
std::string unravelledBody(const Extents &e);

/// Steps that are not linear, which have a kernel of one token after another
/// and no other form.
const std::vector<LinearCase> &opaqueCases();

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CONTRACT_WRITTENBODIES_H
