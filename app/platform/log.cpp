// spdlog stays in this file.
#include "app/platform/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "models/error.h"

namespace warpchat {

namespace {

std::shared_ptr<spdlog::logger>& logger() {
  static std::shared_ptr<spdlog::logger> instance;
  return instance;
}

}  // namespace

void open_log(const std::string& path) {
  try {
    logger() = spdlog::basic_logger_mt("chat", path);
    logger()->set_pattern("%Y-%m-%d %H:%M:%S.%e %v");
    logger()->flush_on(spdlog::level::info);
  } catch (const spdlog::spdlog_ex&) {
    throw Error("cannot write the log file " + path + "; is its folder there and writable?");
  }
}

bool has_log() { return logger() != nullptr; }

void log_line(std::string_view text) {
  if (logger()) logger()->info("{}", text);
}

}  // namespace warpchat
