#define BOOST_TEST_MODULE shmemx_unit
#include <boost/test/unit_test.hpp>
