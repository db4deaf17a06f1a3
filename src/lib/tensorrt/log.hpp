/* SPDX-License-Identifier: MIT */
// Logs one line to the logger that TensorRT provides, or else to standard error.
#pragma once

#include <NvInferRuntime.h>

#include <string>

namespace bevpool {

// Sets the logger finder, which TensorRT passes when it loads the library. May be NULL.
void set_finder(nvinfer1::ILoggerFinder *finder);

// Logs one line.
void log_line(nvinfer1::ILogger::Severity severity, const std::string &line);

// Logs an error and returns 1, for methods whose result is a status.
std::int32_t log_error(const std::string &line);

} // namespace bevpool
