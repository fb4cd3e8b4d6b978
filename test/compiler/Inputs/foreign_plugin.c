// What a dialect's plug-in for another MLIR looks like: its version is not
// ours.
struct Info {
  unsigned apiVersion;
  const char *name, *version;
  void (*registerDialects)(void *);
};

struct Info mlirGetDialectPluginInfo(void) {
  struct Info info = {99, "foreign", "of another MLIR", 0};
  return info;
}
