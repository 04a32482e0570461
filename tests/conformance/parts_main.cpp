#include <boost/test/unit_test.hpp>

#include "../support/all_descriptors.hpp"

BOOST_TEST_GLOBAL_FIXTURE(AllDescriptors);
