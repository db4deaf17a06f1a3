/* SPDX-License-Identifier: MIT */
// Tactics: one for each kernel that fits, so that TensorRT's builder times all kernels. A tactic's
// number follows from the kernel's name, so that engines stay valid when kernels are added.
#pragma once

#include "src/lib/bevpool.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bevpool {

// Returns the tactic of a kernel: positive, as 0 is TensorRT's "no tactic".
std::int32_t tactic_of(const std::string &kernel);

// Returns the kernel of a tactic of this library, or NULL.
const char *kernel_of(std::int32_t tactic);

// Returns the kernels that fit such a plan, in the table's order; none for a view transform, whose
// kernel the library chooses. `flags`: as for bevpool_plan_check.
std::vector<std::string> fitting_kernels(const BevpoolShape &shape, const BevpoolArrays &arrays,
                                         BevpoolOptions options, std::uint32_t flags);

} // namespace bevpool
