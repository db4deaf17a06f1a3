/* SPDX-License-Identifier: MIT */
#include "src/lib/tensorrt/log.hpp"

#include <atomic>
#include <cstdio>

namespace bevpool {
namespace {

std::atomic<nvinfer1::ILoggerFinder *> its_finder{nullptr};

} // namespace

void set_finder(nvinfer1::ILoggerFinder *finder) {
    its_finder = finder;
}

void log_line(nvinfer1::ILogger::Severity severity, const std::string &line) {
    nvinfer1::ILoggerFinder *finder = its_finder;
    nvinfer1::ILogger *logger = finder ? finder->findLogger() : nullptr;
    std::string whole = "BevPool: " + line;
    if (logger)
        logger->log(severity, whole.c_str());
    else
        std::fprintf(stderr, "%s\n", whole.c_str());
}

std::int32_t log_error(const std::string &line) {
    log_line(nvinfer1::ILogger::Severity::kERROR, line);
    return 1;
}

} // namespace bevpool
