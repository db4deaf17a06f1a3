/* SPDX-License-Identifier: MIT */
#include "src/lib/tensorrt/tactics.hpp"

namespace bevpool {

std::int32_t tactic_of(const std::string &kernel) {
    std::uint32_t hash = 2166136261u; // FNV-1a
    for (char c : kernel)
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return static_cast<std::int32_t>(hash >> 1 | 1u);
}

const char *kernel_of(std::int32_t tactic) {
    const char *name;
    for (std::int32_t i = 0; (name = bevpool_kernel_name(0, BEVPOOL_FORWARD, i)); i++)
        if (tactic_of(name) == tactic)
            return name;
    return nullptr;
}

std::vector<std::string> fitting_kernels(const BevpoolShape &shape, const BevpoolArrays &arrays,
                                         BevpoolOptions options, std::uint32_t flags) {
    std::vector<std::string> names;
    std::size_t bytes;
    for (std::int32_t i = 0; (options.kernel = bevpool_kernel_name(0, BEVPOOL_FORWARD, i)); i++)
        if (!bevpool_plan_check(&shape, &arrays, &options, flags, &bytes, nullptr))
            names.push_back(options.kernel);
    return names;
}

} // namespace bevpool
