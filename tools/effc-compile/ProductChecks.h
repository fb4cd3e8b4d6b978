// Which kinds of products the targets and the weights of a compilation allow.
#ifndef EFFC_TOOLS_EFFC_COMPILE_PRODUCTCHECKS_H
#define EFFC_TOOLS_EFFC_COMPILE_PRODUCTCHECKS_H

#include "compiler/Compiler.h"

namespace effc::cli {

/// What is wrong with `options.pipeline.products`; empty where nothing is.
std::string checkProducts(const CompileOptions &options);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_COMPILE_PRODUCTCHECKS_H
