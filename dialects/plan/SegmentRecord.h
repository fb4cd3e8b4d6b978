// The bytes of one record of a call's segment table, as kernels read it. The
// artifact's writer checks that the schema's struct agrees.
#ifndef EFFC_DIALECTS_PLAN_SEGMENTRECORD_H
#define EFFC_DIALECTS_PLAN_SEGMENTRECORD_H

#include <cstdint>

namespace effc::plan {

struct SegmentRecord {
  static constexpr int32_t kBytes = 24;
  // Offsets: i32 slot, first row, length, flags; i64 start position.
  static constexpr int32_t kSlot = 0, kFirstRow = 4, kLength = 8, kFlags = 12,
                           kStart = 16;
};

} // namespace effc::plan

#endif // EFFC_DIALECTS_PLAN_SEGMENTRECORD_H
