// The seq dialect: everything a user of it includes.
#ifndef EFFC_DIALECTS_SEQ_SEQ_H
#define EFFC_DIALECTS_SEQ_SEQ_H

#include "dialects/seq/SeqAttributes.h"
#include "dialects/seq/SeqDialect.h"
#include "dialects/seq/SeqInterfaces.h"
#include "dialects/seq/SeqOps.h"
#include "dialects/seq/TensorTypes.h"

#endif // EFFC_DIALECTS_SEQ_SEQ_H
