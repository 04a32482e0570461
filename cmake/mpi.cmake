# Programs that use MPI and this library, for each flavour of MPI that is installed under its own name, as Debian does.
# Sets SHMEMX_MPI_FLAVOURS, and for each SHMEMX_MPICC_<flavour> and SHMEMX_MPIEXEC_<flavour> (a list: program and options).
set(SHMEMX_MPI_FLAVOURS)
foreach(flavour mpich openmpi)
  find_program(SHMEMX_MPICC_PATH_${flavour} mpicc.${flavour})
  if(flavour STREQUAL "mpich")
    find_program(SHMEMX_MPIEXEC_PATH_${flavour} NAMES mpiexec.mpich mpiexec.hydra)
    set(options)
  else()
    find_program(SHMEMX_MPIEXEC_PATH_${flavour} mpirun.openmpi)
    set(options --allow-run-as-root --oversubscribe)
  endif()
  mark_as_advanced(SHMEMX_MPICC_PATH_${flavour} SHMEMX_MPIEXEC_PATH_${flavour})
  if(SHMEMX_MPICC_PATH_${flavour} AND SHMEMX_MPIEXEC_PATH_${flavour})
    list(APPEND SHMEMX_MPI_FLAVOURS ${flavour})
    set(SHMEMX_MPICC_${flavour} ${SHMEMX_MPICC_PATH_${flavour}})
    set(SHMEMX_MPIEXEC_${flavour} ${SHMEMX_MPIEXEC_PATH_${flavour}} ${options})
  endif()
endforeach()

# shmemx_add_mpi_program(<target> <flavour> <output> <C source>...): compiled by the flavour's own compiler wrapper.
function(shmemx_add_mpi_program target flavour output source)
  get_filename_component(folder ${output} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${output}
    COMMAND ${SHMEMX_MPICC_${flavour}} -std=c11 -O1 -g1 -Wall -Wextra -Werror -I${PROJECT_SOURCE_DIR}/include ${source} ${ARGN} -o ${output}
            $<TARGET_FILE:shmemx::shmemx> -Wl,-rpath,$<TARGET_FILE_DIR:shmemx::shmemx> -lm
    DEPENDS ${source} ${ARGN} shmemx VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${output})
endfunction()
