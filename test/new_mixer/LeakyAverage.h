// The op of LeakyAverage.td.
#ifndef EFFC_TEST_NEW_MIXER_LEAKYAVERAGE_H
#define EFFC_TEST_NEW_MIXER_LEAKYAVERAGE_H

#include "dialects/seq/Seq.h"

#define GET_OP_CLASSES
#include "test/new_mixer/LeakyAverage.h.inc"

#endif // EFFC_TEST_NEW_MIXER_LEAKYAVERAGE_H
