# Included by ctest before it runs the tests. Removes the variables by which a user's shell configures jobs, launchers and networks, so that
# a test sees only those that it sets itself. SHMEMX_TEST_* and ROBUST_* stay: they select how long tests run.
execute_process(COMMAND env OUTPUT_VARIABLE shmemx_environment)
string(REGEX MATCHALL "\n(SHMEM|SMA_|XT_SYMMETRIC_|PMI_|PMIX_|OMPI_COMM_|OMPI_MCA_|HYDRA_|MPI_LOCAL|FLUX_JOB_|SLURM_|UCX_|FI_)[A-Za-z0-9_]*="
       shmemx_variables "\n${shmemx_environment}")
foreach(variable IN LISTS shmemx_variables)
  string(REGEX REPLACE "[\n=]" "" variable "${variable}")
  if(NOT variable MATCHES "^SHMEMX_TEST_")
    unset(ENV{${variable}})
  endif()
endforeach()
set(ENV{LC_ALL} C)  # tests compare the text of messages
