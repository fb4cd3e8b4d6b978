// The readers of the explicit layout's parts that are no recurrences.
#ifndef EFFC_FRONTEND_FAMILIES_EXPLICITPARTS_H
#define EFFC_FRONTEND_FAMILIES_EXPLICITPARTS_H

#include "frontend/families/ExplicitPart.h"

namespace effc::frontend {

/// Softmax attention, with or without a number per key.
EmitPart readAttentionPart(PartInput &in);

/// Two matrices; three with a gate.
EmitPart readMlpPart(PartInput &in);
EmitPart readGluPart(PartInput &in);
/// Gated layers, of which each token takes a few beside those it always takes.
EmitPart readExpertsPart(PartInput &in);
/// A product-key memory.
EmitPart readMemoryPart(PartInput &in);
/// Experts of one hidden unit by product keys, with or without a layer beside
/// them.
EmitPart readNeuronPart(PartInput &in);

/// A structured recurrent mixer.
EmitPart readStructuredPart(PartInput &in);
/// A masked mixer.
EmitPart readMaskedMixerPart(PartInput &in);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_EXPLICITPARTS_H
