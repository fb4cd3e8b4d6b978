// The dialect's types.
#ifndef EFFC_DIALECTS_SEQ_SEQTYPES_H
#define EFFC_DIALECTS_SEQ_SEQTYPES_H

#include "dialects/seq/SeqAttributes.h"

#define GET_TYPEDEF_CLASSES
#include "dialects/seq/SeqTypes.h.inc"

#endif // EFFC_DIALECTS_SEQ_SEQTYPES_H
