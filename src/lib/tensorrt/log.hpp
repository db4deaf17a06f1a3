// One line to whoever listens: the logger that TensorRT names, or else standard error.
#pragma once

#include <NvInferRuntime.h>

#include <string>

namespace bevpool {

// The library's logger finder, which TensorRT hands over when it loads the library. May be NULL.
void set_finder(nvinfer1::ILoggerFinder *finder);

void say(nvinfer1::ILogger::Severity severity, const std::string &line);

// Logs an error; returns 1, for methods whose result is a status.
std::int32_t refuse(const std::string &line);

} // namespace bevpool
