// What an endpoint's answer means that is no answer to the prompt, each in one sentence that says what to do.
#pragma once
#include <string>
#include <string_view>

#include "engine/remote/endpoint.h"
#include "engine/way_out.h"

namespace warpchat {

// An answer with a status that is not 2xx, redirects among them, after so many tries.
std::string refusal(const Endpoint& endpoint, const HttpAnswer& answer, int n_tries = 1);
WayOut way_out_of_refusal(const Endpoint& endpoint, const HttpAnswer& answer);

// What {"error": {"message": ...}} and its relatives say, cut and printable; empty if nothing.
std::string server_words(std::string_view body);

// Error if the text begins as HTML does.
void require_no_web_page(const std::string& host, std::string_view body);

}  // namespace warpchat
