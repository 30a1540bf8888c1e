// The tables of the conversation store, as a list of steps from each version of the schema to the next.
#pragma once
#include <span>

#include "engine/store/database.h"

namespace warpchat {

// schema_steps()[v] leads from version v to v + 1; each is SQL without parameters. user_version holds the version.
std::span<const char* const> schema_steps();

// Takes the database to the newest version, whole or not at all. Error if it is newer than that.
void migrate(const Database& database);

// The search's indexes again, from the texts: what is damaged in them alone is mended so.
void rebuild_indexes(const Database& database);

}  // namespace warpchat
