//===- GrammarHandle.h - What the opaque types of grammar.h are -----------===//
#ifndef EFFC_RUNTIME_SRC_GRAMMAR_GRAMMARHANDLE_H
#define EFFC_RUNTIME_SRC_GRAMMAR_GRAMMARHANDLE_H

#include "runtime/src/grammar/Grammar.h"

struct effc_grammar {
  std::shared_ptr<const effc::rt::grammar::Grammar> grammar;
  std::vector<int32_t> ends; // of the model
};

struct effc_grammar_matcher {
  effc::rt::grammar::Matcher matcher;
};

#endif // EFFC_RUNTIME_SRC_GRAMMAR_GRAMMARHANDLE_H
