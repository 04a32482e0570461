#define BOOST_TEST_MODULE shmemx_transport_tcp
#include <boost/test/unit_test.hpp>
