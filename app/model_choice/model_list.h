// Lists of models, for people and for programs.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "app/model_choice/model_facts.h"
#include "engine/remote/endpoint.h"

namespace warpchat {

// A row a model, with tabs between its cells: name, size, quantisation, context, whether it fits; where it is from, and
// its path.
std::vector<std::string> listed_rows(const std::vector<ModelChoice>& models);

// An object, or an array of them; assets/manual/models.md has the names of their fields.
std::string model_json(const ModelChoice& model, const std::map<std::string, std::string>& aliases);
std::string models_json(const std::vector<ModelChoice>& models, const std::map<std::string, std::string>& aliases);

// Lines with a tab: all that is known of one.
std::string model_details(const ModelChoice& model, const std::map<std::string, std::string>& aliases);

// The same of an endpoint's models.
std::vector<std::string> served_rows(const std::vector<RemoteModel>& models);
std::string served_json(const std::vector<RemoteModel>& models);

}  // namespace warpchat
