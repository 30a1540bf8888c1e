// Messages for an endpoint's error answers, each with advice.
#pragma once
#include <string>
#include <string_view>

#include "engine/remedy.h"
#include "engine/remote/endpoint.h"

namespace warpchat {

// For an answer whose status is not 2xx, e.g. a redirect, after n_tries tries.
std::string refusal(const Endpoint& endpoint, const HttpAnswer& answer, int n_tries = 1);
Remedy remedy_of_refusal(const Endpoint& endpoint, const HttpAnswer& answer);

// Text of {"error": {"message": ...}} and similar bodies, shortened and printable; empty if none.
std::string server_words(std::string_view body);

// Throws if the text begins like HTML.
void require_no_web_page(const std::string& host, std::string_view body);

}  // namespace warpchat
