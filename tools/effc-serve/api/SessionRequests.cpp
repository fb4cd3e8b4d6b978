// What the paths of sessions take.

#include "tools/effc-serve/api/Requests.h"

using namespace effc::serve;

static constexpr double kMostLife = 2592000; // seconds: 30 days

static constexpr Field kSession[] = {
    {"model", FieldType::Text, 0, 512},
    {"id", FieldType::Text, 0, 64},
    {"prompt", FieldType::Any},
    {"add_special_tokens", FieldType::Boolean},
    {"ttl", FieldType::Integer, 1, kMostLife},
};
static constexpr Field kAppend[] = {
    {"prompt", FieldType::Any},
    {"add_special_tokens", FieldType::Boolean},
};
static constexpr Field kFork[] = {
    {"id", FieldType::Text, 0, 64},
    {"ttl", FieldType::Integer, 1, kMostLife},
};
static constexpr Field kSave[] = {
    {"unload", FieldType::Boolean},
};

const BodyTable &effc::serve::sessionTable() {
  static const BodyTable table = {"/v1/sessions", kSession, {}};
  return table;
}
const BodyTable &effc::serve::appendTable() {
  static const BodyTable table = {"/v1/sessions/{session}/append", kAppend, {}};
  return table;
}
const BodyTable &effc::serve::forkTable() {
  static const BodyTable table = {"/v1/sessions/{session}/fork", kFork, {}};
  return table;
}
const BodyTable &effc::serve::saveTable() {
  static const BodyTable table = {"/v1/sessions/{session}/save", kSave, {}};
  return table;
}
const BodyTable &effc::serve::restoreTable() {
  static const BodyTable table = {"/v1/sessions/{session}/restore", {}, {}};
  return table;
}
