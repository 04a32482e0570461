# Checked by reading and by Python's compiler only: Spack has never run it.
# A Spack recipe: copy it to packages/shmemx/package.py of a repository of your own (spack repo create).
from spack.package import *


class Shmemx(CMakePackage):
    """OpenSHMEM 1.6 library: mapped shared memory within a node, networks between nodes."""

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("ucx", default=True, description="Build the transport plug-in for UCX")
    variant("ofi", default=True, description="Build the transport plug-in for libfabric")
    variant("pmix", default=True, description="Start under launchers that speak PMIx")
    variant("hwloc", default=True, description="Show the topology in shmem_info")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.23:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("boost@1.74:", type="build")
    depends_on("cli11@2:", type="build")
    depends_on("nlohmann-json@3:", type="build")
    depends_on("ucx@1.13:", when="+ucx")
    depends_on("libfabric@1.17:", when="+ofi")
    depends_on("pmix@4:", when="+pmix")
    depends_on("hwloc@2:", when="+hwloc")

    generator("ninja")

    provides("shmem")

    conflicts("platform=darwin", msg="Linux only: memfd, futex, epoll")
    conflicts("platform=windows", msg="Linux only: memfd, futex, epoll")
    conflicts("%gcc@:11", msg="C++20")

    def cmake_args(self):
        return [
            self.define("SHMEMX_BUILD_TESTS", False),
            self.define("SHMEMX_BUILD_EXAMPLES", False),
            self.define("SHMEMX_MPICH_CC", ""),
            self.define("SHMEMX_OPENMPI_CC", ""),
        ]

    # UCX, libfabric and PMIx are loaded at run time by their names.
    def setup_run_environment(self, env):
        for name in ("ucx", "libfabric", "pmix", "hwloc"):
            if name in self.spec:
                env.prepend_path("LD_LIBRARY_PATH", self.spec[name].libs.directories[0])

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_two_pes(self):
        perf = join_path(self.prefix.bin, "shmem_perf")
        Executable(join_path(self.prefix.bin, "oshrun"))("-n", "2", perf, "put_latency", "barrier", "-i", "10")
