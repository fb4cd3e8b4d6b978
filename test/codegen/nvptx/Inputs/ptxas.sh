#!/bin/sh
# Plays ptxas: says its version, else of each kernel of the text that it gets that it
# takes 7 registers, and writes 64 bytes that begin like a module. Where
# SERIALISES_UNLESS is set, products are serialised in a text without that word; where
# SPILLS_WITH is, kernels of a text with it spill.
if [ "$1" = --version ]; then
  echo "ptxas: NVIDIA (R) Ptx optimizing assembler"
  echo "Cuda compilation tools, release 12.8, V12.8.93"
  exit 0
fi
while [ $# -gt 1 ]; do
  [ "$1" = -o ] && output=$2
  shift
done
sed -n 's/^\.visible \.entry \([^(]*\).*/\1/p' "$1" | while read -r kernel; do
  if [ -n "$SERIALISES_UNLESS" ] && ! grep -q "$SERIALISES_UNLESS" "$1"; then
    echo "ptxas info    : (C7519) warpgroup.arrive is injected in around line 13 by" \
         "compiler to allow use of registers in GMMA in function '$kernel'"
  fi
  echo "ptxas info    : Compiling entry function '$kernel' for 'sm_80'"
  spilled=0
  if [ -n "$SPILLS_WITH" ] && grep -q "$SPILLS_WITH" "$1"; then spilled=8; fi
  echo "    0 bytes stack frame, $spilled bytes spill stores, $spilled bytes spill loads"
  echo "ptxas info    : Used 7 registers, used 0 barriers"
done
printf '\177ELF%060d' 7 > "$output"
