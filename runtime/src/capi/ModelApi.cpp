// effc_model_*: loading and asking.

#include "runtime/src/ModelChecks.h"
#include "runtime/src/Sha256.h"
#include "runtime/src/Status.h"
#include "runtime/src/capi/Handles.h"

#include <algorithm>
#include <cstring>

using namespace effc;
using namespace effc::rt;

const char *effc_version(void) { return EFFC_VERSION; }

effc_model_load_options_t effc_model_load_options_default(void) {
  return {sizeof(effc_model_load_options_t), nullptr, false, 0, nullptr};
}

effc_status_t *effc_model_load(const char *path, effc_model_t **out_model) {
  return effc_model_load_with(path, nullptr, out_model);
}

effc_status_t *effc_model_load_with(const char *path,
                                    const effc_model_load_options_t *options,
                                    effc_model_t **out_model) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"path", path}, {"out_model", out_model}}))
      return error;
    auto given = readSized(options, effc_model_load_options_default());
    if (!given)
      return given.error();
    LoadOptions chosen;
    if (given->weights_folder)
      chosen.weightsFolder = given->weights_folder;
    if (given->copy)
      chosen.access = Access::Copied;
    chosen.drawSeed = given->draw_seed;
    if (given->sha256) {
      chosen.sha256 = readSha256(given->sha256);
      if (!chosen.sha256)
        return invalidArgument("'sha256' expects ", kSha256Digits,
                               " hexadecimal digits, but got '", given->sha256,
                               "'");
    }
    auto model = Model::load(path, chosen);
    if (!model)
      return model.error();
    *out_model = new effc_model{std::move(*model)};
    return {};
  });
}

void effc_model_free(effc_model_t *model) { delete model; }

effc_status_t *effc_model_check(const effc_model_t *model,
                                void (*progress)(void *, uint64_t, uint64_t),
                                void *user) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"model", model}}))
      return error;
    return model->model->checkSegmentsAndWeights(progress, user);
  });
}

effc_status_t *effc_model_sha256(const effc_model_t *model,
                                 void (*progress)(void *, uint64_t, uint64_t),
                                 void *user, char *out_digits) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"model", model}, {"out_digits", out_digits}}))
      return error;
    std::string digits =
        describeSha256(sha256(model->model->bytes(), progress, user));
    std::memcpy(out_digits, digits.c_str(), digits.size() + 1);
    return {};
  });
}

uint32_t effc_model_vocabulary_size(const effc_model_t *model) {
  return model ? model->model->program().vocabulary_size() : 0;
}

uint32_t effc_model_hidden_width(const effc_model_t *model) {
  return model ? model->model->program().hidden_width().value_or(0) : 0;
}

size_t effc_model_tap_count(const effc_model_t *model) {
  return model && model->model->program().taps()
             ? model->model->program().taps()->size()
             : 0;
}

effc_status_t *effc_model_tap(const effc_model_t *model, size_t index,
                              effc_tap_t *out_tap) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"model", model}, {"out_tap", out_tap}}))
      return error;
    size_t count = effc_model_tap_count(model);
    if (index >= count)
      return invalidArgument("inner value ", index, " of ", count,
                             " is asked for");
    effc_tap_t filled = {};
    for (uint32_t i = 0; i <= index; ++i) {
      const artifact::Tap *tap = model->model->program().taps()->Get(i);
      filled.first += filled.count;
      filled.count = 1;
      for (uint32_t extent : *tap->shape())
        filled.count *= extent;
      filled.name = tap->name()->c_str();
      filled.shape = tap->shape()->data();
      filled.rank = tap->shape()->size();
    }
    copySized(filled, out_tap);
    return {};
  });
}

uint64_t effc_model_max_context(const effc_model_t *model) {
  return model ? model->model->program().max_context() : 0;
}

const char *effc_model_describe(const effc_model_t *model) {
  if (!model)
    return "";
  try {
    return model->model->description().c_str();
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

void effc_model_generation(const effc_model_t *model,
                           effc_generation_t *out_generation) {
  if (!model || !out_generation)
    return;
  effc_generation_t filled = {};
  filled.bos = -1;
  filled.temperature = 1;
  filled.top_p = 1;
  filled.repeat_penalty = 1;
  if (const artifact::Generation *from = model->model->program().generation()) {
    filled.bos = from->bos();
    if (from->eos()) {
      filled.eos = from->eos()->data();
      filled.eos_count = from->eos()->size();
    }
    filled.do_sample = from->do_sample();
    filled.temperature = from->temperature();
    filled.top_k = from->top_k();
    filled.top_p = from->top_p();
    filled.min_p = from->min_p();
    filled.repeat_penalty = from->repeat_penalty();
    filled.stop_count = from->stops() ? from->stops()->size() : 0;
  }
  copySized(filled, out_generation);
}

effc_status_t *effc_model_stop(const effc_model_t *model, size_t index,
                               const char **out_text) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"model", model}, {"out_text", out_text}}))
      return error;
    const artifact::Generation *from = model->model->program().generation();
    size_t count = from && from->stops() ? from->stops()->size() : 0;
    if (index >= count)
      return invalidArgument("stop text ", index, " of ", count,
                             " is asked for");
    *out_text = from->stops()->Get(static_cast<uint32_t>(index))->c_str();
    return {};
  });
}

static const char *nameOf(artifact::StateKind kind) {
  static const char *const names[] = {"matrix",  "tail", "shift", "window",
                                      "growing", "sum",  "scalar"};
  static_assert(std::size(names) == size_t(artifact::StateKind::MAX) + 1);
  return names[size_t(kind)];
}

static const char *nameOf(artifact::ElementType type) {
  static const char *const names[] = {"f32", "bf16", "f16",
                                      "i32", "i64",  "int8"};
  static_assert(std::size(names) == size_t(artifact::ElementType::MAX) + 1);
  return names[size_t(type)];
}

size_t effc_model_state_count(const effc_model_t *model) {
  return model ? model->model->program().states()->size() : 0;
}

effc_status_t *effc_model_state(const effc_model_t *model, size_t index,
                                effc_state_info_t *out_state) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"model", model}, {"out_state", out_state}}))
      return error;
    const auto &states = *model->model->program().states();
    if (index >= states.size())
      return invalidArgument("state ", index, " of ", states.size(),
                             " is asked for");
    const artifact::State &state = *states.Get(static_cast<uint32_t>(index));
    effc_state_info_t filled = {};
    filled.name = state.name()->c_str();
    filled.kind = nameOf(state.kind());
    filled.type = nameOf(state.type());
    filled.shape = state.shape()->data();
    filled.rank = state.shape()->size();
    filled.bytes = state.size();
    copySized(filled, out_state);
    return {};
  });
}

size_t effc_model_entry_count(const effc_model_t *model) {
  return model ? defaultPlan(model->model->program()).entries->size() : 0;
}

effc_status_t *effc_model_entry(const effc_model_t *model, size_t index,
                                effc_entry_info_t *out_entry) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"model", model}, {"out_entry", out_entry}}))
      return error;
    const auto &entries = *defaultPlan(model->model->program()).entries;
    if (index >= entries.size())
      return invalidArgument("entry ", index, " of ", entries.size(),
                             " is asked for");
    const artifact::Entry &entry = *entries.Get(static_cast<uint32_t>(index));
    effc_entry_info_t filled = {};
    filled.name = entry.name()->c_str();
    filled.kind = entry.kind() == artifact::EntryKind::Prefill ? EFFC_PREFILL
                                                               : EFFC_DECODE;
    filled.rows = entry.rows();
    filled.chunk = entry.chunk();
    filled.arena_bytes = entry.arena_bytes();
    copySized(filled, out_entry);
    return {};
  });
}

static const char *nameOf(artifact::SegmentKind kind) {
  static const char *const names[] = {"host_code", "seq_module", "weights",
                                      "tokenizer", "sim_code",   "cubin",
                                      "ptx"};
  static_assert(std::size(names) == size_t(artifact::SegmentKind::MAX) + 1);
  return names[size_t(kind)];
}

size_t effc_model_segment_count(const effc_model_t *model) {
  return model ? model->model->program().segments()->size() : 0;
}

effc_status_t *effc_model_segment(const effc_model_t *model, size_t index,
                                  effc_segment_info_t *out_segment) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"model", model}, {"out_segment", out_segment}}))
      return error;
    const auto &segments = *model->model->program().segments();
    if (index >= segments.size())
      return invalidArgument("segment ", index, " of ", segments.size(),
                             " is asked for");
    const artifact::Segment &segment =
        *segments.Get(static_cast<uint32_t>(index));
    effc_segment_info_t filled = {};
    filled.kind = nameOf(segment.kind());
    filled.isa = segment.isa() ? segment.isa()->c_str() : "";
    filled.data = model->model->segmentBytes(segment).data();
    filled.bytes = segment.size();
    copySized(filled, out_segment);
    return {};
  });
}

size_t effc_model_weight_count(const effc_model_t *model) {
  return model ? model->model->program().weights()->size() : 0;
}

effc_status_t *effc_model_weight(const effc_model_t *model, size_t index,
                                 effc_weight_info_t *out_weight) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"model", model}, {"out_weight", out_weight}}))
      return error;
    const auto &weights = *model->model->program().weights();
    if (index >= weights.size())
      return invalidArgument("weight ", index, " of ", weights.size(),
                             " is asked for");
    const artifact::Weight &weight = *weights.Get(static_cast<uint32_t>(index));
    effc_weight_info_t filled = {};
    filled.name = weight.name()->c_str();
    filled.type = typeName(model->model->program(), weight).data();
    filled.shape = weight.shape()->data();
    filled.rank = weight.shape()->size();
    filled.row_stride_bytes = weight.row_stride_bytes();
    filled.row_bytes = rowBytes(model->model->program(), weight);
    auto together = blockSize(model->model->program(), weight);
    filled.rows_together = static_cast<uint32_t>(together.rows);
    filled.columns_together = static_cast<uint32_t>(together.elements);
    if (model->model->hasWeights())
      filled.data = model->model->weight(static_cast<uint32_t>(index));
    copySized(filled, out_weight);
    return {};
  });
}

void effc_model_memory(const effc_model_t *model, effc_memory_t *out_memory) {
  if (!model || !out_memory)
    return;
  const artifact::Program &program = model->model->program();
  Memory memory = memoryOf(program, defaultPlan(program));
  effc_memory_t filled = {};
  filled.weights = memory.weights;
  filled.per_session = memory.perSession;
  filled.arena = memory.arena;
  filled.logits = memory.logits;
  filled.tables = memory.tables;
  filled.fixed_per_session = memory.fixedPerSession;
  filled.per_token = memory.perToken;
  copySized(filled, out_memory);
}
