// Profile exports: a text table, a Markdown table, and a trace in Chrome's JSON.
#pragma once
#include <string>
#include <vector>

#include "engine/profile.h"

namespace warpchat {

// Columns: operation, calls, total, microseconds per call, share, GB/s, and share of the peak bandwidth if known
// ("cache" for a row faster than memory). An emulator shows instructions, sectors and bank conflicts instead of times.
// Persistent phases add the share of time waiting at the barrier after each. Rows that never ran are left out, a
// missing value is "-", long names lose their middle.
std::string profile_table(const std::vector<OperationProfile>& rows, double peak_bandwidth = 0);

// The same as a Markdown table under a heading.
std::string profile_markdown(const Profile& profile, const std::string& title);

// Chrome's trace event format, which Perfetto opens: one X event per call, the title as process name, and one thread
// per multiprocessor with recorded shares.
std::string profile_trace_json(const Profile& profile, const std::string& title);

}  // namespace warpchat
