// Numbers by a stated formula, which test/goldens/make_block_roundings.py computes too:
// every operation is exact in f32 or rounded once.
#ifndef EFFC_TEST_UNIT_DIALECTS_STORAGE_ROUNDEDNUMBERS_H
#define EFFC_TEST_UNIT_DIALECTS_STORAGE_ROUNDEDNUMBERS_H

#include <string_view>
#include <vector>

namespace effc::test {

/// 4,096 numbers; none where no distribution has that name.
std::vector<float> roundedNumbers(std::string_view distribution);

/// How much each of 512 columns counts: skewed, with zeros, also of a whole group.
std::vector<float> roundedImportance();

} // namespace effc::test

#endif // EFFC_TEST_UNIT_DIALECTS_STORAGE_ROUNDEDNUMBERS_H
