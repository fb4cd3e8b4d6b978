# Installs or unpacks the runtime in a scratch folder, builds a C and a C++ project
# against it by find_package(effc), and runs them on a model. Their tokens must be
# those of the installed `effc run`.

function(run output)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: status ${status}\n${out}\n${err}")
  endif()
  set(${output} "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})
if(KIND STREQUAL install)
  set(prefix ${SCRATCH}/prefix)
  run(ignored ${CMAKE_COMMAND} --install ${BUILD} --component runtime --prefix ${prefix})
else()
  run(ignored ${CMAKE_COMMAND} --build ${BUILD} --target runtime-tarball)
  run(ignored ${CMAKE_COMMAND} -E chdir ${SCRATCH} ${CMAKE_COMMAND} -E tar xzf ${TARBALL})
  set(prefix ${SCRATCH}/${TARBALL_NAME})
endif()

# Nothing of the compiler, and all of the runtime.
file(GLOB_RECURSE found RELATIVE ${prefix} ${prefix}/*)
list(SORT found)
set(expected
  include/effc/chat.h
  include/effc/chat.hpp
  include/effc/checkpoint.h
  include/effc/counters.h
  include/effc/device.h
  include/effc/effc.h
  include/effc/profile.h
  include/effc/grammar.h
  include/effc/sampler.h
  include/effc/scheduler.h
  include/effc/scheduler.hpp
  include/effc/state.h
  include/effc/steps.h
  include/effc/stop.h
  include/effc/product_inputs.h
  include/effc/taps.h
  include/effc/effc.hpp
  include/effc/version.h
  ${LIBDIR}/cmake/effc/effcConfig.cmake
  ${LIBDIR}/cmake/effc/effcConfigVersion.cmake
  ${LIBDIR}/libeffc.a
  ${LIBDIR}/libeffc.so
  ${LIBDIR}/libeffc.so.${SOVERSION}
  ${LIBDIR}/libeffc.so.${VERSION}
  ${LIBDIR}/pkgconfig/effc.pc
  share/bash-completion/completions/effc
  share/doc/effc/NOTICE
  share/doc/effc/README.md
  share/doc/effc/examples/generate.c
  share/doc/effc/examples/generate_explained.c
  share/doc/effc/examples/serve.c
  share/fish/vendor_completions.d/effc.fish
  share/man/man1/effc.1
  share/zsh/site-functions/_effc)
foreach(program IN LISTS PROGRAMS)
  list(APPEND expected bin/${program})
endforeach()
foreach(command IN LISTS COMMANDS)
  list(APPEND expected share/man/man1/effc-${command}.1)
endforeach()
list(SORT expected)
if(NOT found STREQUAL expected)
  message(FATAL_ERROR "expected ${expected}\nbut found ${found}")
endif()

run(ignored ${STRIP} -o ${SCRATCH}/stripped.so ${prefix}/${LIBDIR}/libeffc.so.${VERSION})
file(SIZE ${SCRATCH}/stripped.so bytes)
message("the stripped library has ${bytes} bytes")
if(bytes GREATER_EQUAL 2097152)
  message(FATAL_ERROR "the stripped library has ${bytes} bytes, but 2 MiB are the limit")
endif()

run(ignored ${CMAKE_COMMAND} -S ${CONSUMER} -B ${SCRATCH}/build -G ${GENERATOR}
  -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=Release -DSIMULATOR=${SIMULATOR}
  -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER})
run(ignored ${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(tokens ${prefix}/bin/effc run ${MODEL} --tokens 1,2,3 -n 8 --print-tokens --temperature 0)
foreach(program consumer-c consumer-cpp consumer-static)
  run(out ${SCRATCH}/build/${program} ${MODEL})
  if(NOT out STREQUAL tokens)
    message(FATAL_ERROR "${program} says '${out}', but effc run '${tokens}'")
  endif()
endforeach()

# A project without C++ links the static library as well.
run(ignored ${CMAKE_COMMAND} -S ${CONSUMER}_c -B ${SCRATCH}/build_c -G ${GENERATOR}
  -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=Release -DSIMULATOR=${SIMULATOR}
  -DCMAKE_C_COMPILER=${C_COMPILER})
run(ignored ${CMAKE_COMMAND} --build ${SCRATCH}/build_c)
run(out ${SCRATCH}/build_c/consumer-c-static ${MODEL})
if(NOT out STREQUAL tokens)
  message(FATAL_ERROR "consumer-c-static says '${out}', but effc run '${tokens}'")
endif()

# What a linker is told by pkg-config, the library's own version name, and that a
# project may have the sources as a part of its own.
file(READ ${prefix}/${LIBDIR}/pkgconfig/effc.pc pc)
if(NOT pc MATCHES "Libs.private: -lstdc\\+\\+ -lm -lpthread -ldl")
  message(FATAL_ERROR "effc.pc does not say what the static library needs:\n${pc}")
endif()
run(symbols ${READELF} --dyn-syms --wide ${prefix}/${LIBDIR}/libeffc.so.${VERSION})
if(NOT symbols MATCHES "effc_model_load@@EFFC_${SOVERSION}")
  message(FATAL_ERROR "effc_model_load has no version EFFC_${SOVERSION}")
endif()
run(ignored ${CMAKE_COMMAND} -S ${CONSUMER}_sources -B ${SCRATCH}/build_sources -G ${GENERATOR}
  -DEFFC_SOURCES=${SOURCES} -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER})
message("${KIND}: ${tokens}")
