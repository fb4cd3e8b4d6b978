// A mixer of class `linear` as a model: between an embedding, whose table holds
// the operands of every token of a test, and a choice of rows, which leads its
// result out.
#ifndef EFFC_TEST_UNIT_CONTRACT_LINEARMODEL_H
#define EFFC_TEST_UNIT_CONTRACT_LINEARMODEL_H

#include "test/unit/contract/LinearCase.h"

namespace effc::test {

/// Elements that an operand has for one token.
int64_t tokenSizeOf(const LinearOperand &operand, const Extents &extents);

/// The model, whose table has rows of `tableElement`; its weights are "table"
/// and the mixer's parameters, its states the mixer's. With `handedOn` each operand
/// comes from a kernel of its own, as it is.
std::string linearModelText(const LinearCase &mixer, const Extents &extents,
                            int64_t tableRows, const std::string &tableElement,
                            bool handedOn = false);

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CONTRACT_LINEARMODEL_H
