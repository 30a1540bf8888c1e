// Messages for an endpoint's error answers, each with advice.
#pragma once
#include <string>
#include <string_view>

#include "engine/remedy.h"
#include "engine/remote/endpoint.h"
#include "engine/remote/server_words.h"

namespace warpchat {

// For an answer whose status is not 2xx, e.g. a redirect, after n_tries tries. 0: more tries follow.
std::string refusal(const Endpoint& endpoint, const HttpAnswer& answer, int n_tries = 1);
Remedy remedy_of_refusal(const HttpAnswer& answer);

// A refusal that a later try does not change: the account's quota or credit is used up.
bool is_quota_spent(const HttpAnswer& answer);

// Throws if the text begins like HTML.
void require_no_web_page(const std::string& host, std::string_view body);

}  // namespace warpchat
