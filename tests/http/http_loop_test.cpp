// Whatever an end does, each request has one, and the loop goes on. Nothing listens at the address.
#include "engine/http/http_loop.h"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>

namespace warpchat {
namespace {

using namespace std::chrono_literals;

constexpr char kNowhere[] = "http://127.0.0.1:1/";

std::string sentence_of(const std::exception_ptr& fault) {
  try {
    if (fault) std::rethrow_exception(fault);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "none";
}

TEST(HttpLoop, AnEndThatThrowsIsToldOfItAndTheNextRequestHasItsOwn) {
  HttpLoop loop({.origin = kNowhere});
  std::promise<std::string> second_call, next_request;
  int n_calls = 0;
  loop.start({.url = kNowhere}, [&](const HttpAnswer&, const std::exception_ptr& fault) {
    if (++n_calls == 1) throw std::runtime_error("no memory for the end");
    second_call.set_value(sentence_of(fault));
  });
  std::future<std::string> told = second_call.get_future();
  ASSERT_EQ(told.wait_for(60s), std::future_status::ready);
  EXPECT_EQ(told.get(), "no memory for the end");
  loop.start({.url = kNowhere},
             [&](const HttpAnswer&, const std::exception_ptr& fault) { next_request.set_value(sentence_of(fault)); });
  std::future<std::string> next = next_request.get_future();
  ASSERT_EQ(next.wait_for(60s), std::future_status::ready);
  EXPECT_NE(next.get(), "none");
}

TEST(HttpLoop, ARequestThatCannotBeginFailsAloneAndOthersEnd) {
  HttpLoop loop({.origin = kNowhere});
  std::promise<std::string> ended;
  loop.start({.url = "file:///etc/passwd"},
             [&](const HttpAnswer&, const std::exception_ptr& fault) { ended.set_value(sentence_of(fault)); });
  std::future<std::string> told = ended.get_future();
  ASSERT_EQ(told.wait_for(60s), std::future_status::ready);
  EXPECT_NE(told.get(), "none");
}

}  // namespace
}  // namespace warpchat
