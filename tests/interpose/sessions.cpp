// An MPI that is used through a session only, so that MPI_Init is never called. All windows are left to the MPI.
#include <mpi.h>

int main(int, char**) {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all);
  MPI_Group_free(&group);
  int* data = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Barrier(all);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, all, &data, &win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Comm_free(&all);
  MPI_Session_finalize(&session);
  return 0;
}
