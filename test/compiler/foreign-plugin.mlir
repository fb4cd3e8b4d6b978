// A plug-in of another MLIR, or a file that is none, is named and not loaded; a
// pass that it should have brought is an error.
// RUN: cc -shared -fPIC %S/Inputs/foreign_plugin.c -o %t.so
// RUN: effc-opt --load-dialect-plugin=%t.so %s 2>&1 | FileCheck %s -DFILE=%t.so
// RUN: effc-opt --load-dialect-plugin=%s %s 2>&1 | FileCheck %s -DFILE=%s
// RUN: not effc-opt --load-pass-plugin=%t.so --foreign-pass %s 2>&1 | FileCheck %s --check-prefix=PASS -DFILE=%t.so

// CHECK: Failed to load dialect plugin from '[[FILE]]'
// CHECK: func.func @f
// PASS: Failed to load passes from '[[FILE]]'
// PASS: Unknown command line argument '--foreign-pass'
func.func @f() {
  return
}
