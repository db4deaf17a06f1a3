// Tactics: one for each kernel that fits, so that TensorRT's builder times them all. A tactic's
// number follows from the kernel's name, so that an engine keeps its meaning when kernels are
// added.
#pragma once

#include "src/lib/bevpool.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bevpool {

// Positive; never 0, which is TensorRT's word for "no tactic".
std::int32_t tactic_of(const std::string &kernel);

// The kernel of a tactic of this library, or NULL.
const char *kernel_of(std::int32_t tactic);

// The kernels that fit such a plan, in the order of the ladder; none for a view transform, whose
// kernel the library chooses. `flags`: as bevpool_plan_check.
std::vector<std::string> fitting_kernels(const BevpoolShape &shape, const BevpoolArrays &arrays,
                                         BevpoolOptions options, std::uint32_t flags);

} // namespace bevpool
