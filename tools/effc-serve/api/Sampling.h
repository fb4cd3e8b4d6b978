//===- Sampling.h - How tokens are to be drawn, as requests say ------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_API_SAMPLING_H
#define EFFC_TOOLS_EFFC_SERVE_API_SAMPLING_H

#include "tools/effc-serve/api/Fields.h"
#include "tools/effc-serve/engine/Generation.h"

#include <span>

namespace effc::serve {

/// Fields that all endpoints share that generate.
std::span<const Field> samplingFields();
/// Those that other servers have, and effc lacks.
std::span<const RefusedField> refusedSampling();

/// Both tables with an endpoint's own rows.
std::vector<Field> withSampling(std::span<const Field> own);
std::vector<RefusedField> withRefused(std::span<const RefusedField> own);

/// Sets sampling, stops, choices and what else there is but prompts and lengths.
/// Without a seed one is drawn. Throws ApiError.
void readSampling(const Fields &fields, const ServedModel &model,
                  GenerationPlan &plan);

/// Whether a stream is to end with its usage ('stream_options').
bool includesUsage(const Fields &fields);

/// Holds a prompt and the new tokens to the model's context and the server's
/// bounds. `asked`: the new tokens that were asked for; negative: none were said,
/// and `otherwise` is taken, or what is left. Returns the new tokens.
uint64_t lengthFor(const ServedModel &model, size_t promptTokens, int64_t asked,
                   uint64_t otherwise, const char *field,
                   const char *promptField);

/// Ids of a list, which are to be of the vocabulary.
std::vector<int32_t> tokensOf(const nlohmann::ordered_json &list,
                              const ServedModel &model, const char *field);

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_API_SAMPLING_H
