// Why a prompt had no more of the cache of states, as answers and metrics call it.
#ifndef EFFC_TOOLS_EFFC_SERVE_WIRE_CACHEREASON_H
#define EFFC_TOOLS_EFFC_SERVE_WIRE_CACHEREASON_H

#include "runtime/include/effc/effc.h"

namespace effc::serve {

inline constexpr const char *kCacheReasons[EFFC_CACHE_MISSES] = {
    "hit",      "no_prefix", "nearest_checkpoint", "inexact_refused", "evicted",
    "disabled", "salt"};

inline const char *cacheReason(effc_cache_miss_t miss) {
  return kCacheReasons[miss];
}

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_WIRE_CACHEREASON_H
