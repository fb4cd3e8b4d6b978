// All programs, and what they write, state one version and one commit.
// RUN: effc --version > %t.version && FileCheck %s < %t.version
// CHECK: {{^}}effc {{[0-9]+\.[0-9]+\.[0-9]+}} (commit {{.+}}, LLVM {{.+}}){{$}}
// RUN: effc-compile --version | diff %t.version -
// RUN: effc-compile %goldens/mamba2/f32_plain --prefill-rows 16 --max-batch 1 -o %t.effc
// RUN: effc inspect %t.effc --json > %t.json
// RUN: sed -e 's/.*commit \([^,]*\),.*/"commit": "\1"/' %t.version > %t.commit
// RUN: grep -F -f %t.commit %t.json
