// effc_engine_counters and its counterpart for entries.

#include "runtime/src/Status.h"
#include "runtime/src/capi/Handles.h"

using namespace effc;
using namespace effc::rt;

void effc_engine_counters(const effc_engine_t *engine,
                          effc_engine_counters_t *out_counters) {
  if (!engine || !out_counters)
    return;
  const Counters &work = engine->engine->counters();
  const auto &entries = *engine->engine->plan().entries;
  effc_engine_counters_t filled = {};
  for (uint32_t i = 0; i < entries.size(); ++i) {
    const EntryWork &done = work.entries[i];
    bool isPrefill = entries.Get(i)->kind() == artifact::EntryKind::Prefill;
    (isPrefill ? filled.prefill_tokens : filled.decode_tokens) += done.tokens;
    filled.calls += done.calls;
    filled.seconds += done.seconds;
  }
  filled.choice_seconds = work.choiceSeconds;
  filled.copies = work.copies;
  filled.copied_bytes = work.copiedBytes;
  filled.sessions_now = work.sessions.now;
  filled.sessions_most = work.sessions.most;
  filled.state_bytes_now = work.stateBytes.now;
  filled.state_bytes_most = work.stateBytes.most;
  copySized(filled, out_counters);
}

size_t effc_engine_entry_count(const effc_engine_t *engine) {
  return engine ? engine->engine->plan().entries->size() : 0;
}

effc_status_t *effc_engine_entry_counters(const effc_engine_t *engine,
                                          size_t index,
                                          effc_entry_counters_t *out_counters) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"engine", engine}, {"out_counters", out_counters}}))
      return error;
    const auto &entries = *engine->engine->plan().entries;
    if (index >= entries.size())
      return invalidArgument("entry ", index, " of ", entries.size(),
                             " is asked for");
    const artifact::Entry &entry = *entries.Get(static_cast<uint32_t>(index));
    const EntryWork &done = engine->engine->counters().entries[index];
    effc_entry_counters_t filled = {};
    filled.name = entry.name()->c_str();
    filled.kind = entry.kind() == artifact::EntryKind::Prefill ? EFFC_PREFILL
                                                               : EFFC_DECODE;
    filled.rows = entry.rows();
    filled.calls = done.calls;
    filled.tokens = done.tokens;
    filled.outputs = done.outputs;
    filled.seconds = done.seconds;
    copySized(filled, out_counters);
    return {};
  });
}
