// Tables of the conversation store, as migration steps between versions of the schema.
#pragma once
#include <span>

#include "engine/store/database.h"

namespace warpchat {

// schema_steps()[v] migrates version v to v + 1 with SQL without parameters. user_version stores the version.
std::span<const char* const> schema_steps();

// Migrates to the newest version atomically. Error if the database is newer.
void migrate(const Database& database);

// Rebuilds the search indexes from the texts, which repairs damage in them.
void rebuild_indexes(const Database& database);

}  // namespace warpchat
