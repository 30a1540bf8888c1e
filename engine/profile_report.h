// A profile for people and for tools: a table in text, a table in Markdown, and a trace in Chrome's JSON.
#pragma once
#include <string>
#include <vector>

#include "engine/profile.h"

namespace warpchat {

// operation, calls, total, microseconds a call, share, GB/s, and the share of the peak bandwidth where that is known:
// "cache" for a row that is faster than memory can be. In the emulator instructions, sectors and bank conflicts instead
// of times. Where persistent phases ran, the share of each one's time that is waiting at the barrier behind it. Rows
// that never ran are left out, what a row does not have is "-", long names lose their middle.
std::string profile_table(const std::vector<OperationProfile>& rows, double peak_bandwidth = 0);

// The same as a Markdown table under a heading.
std::string profile_markdown(const Profile& profile, const std::string& title);

// Chrome's trace event format, which Perfetto opens: an X event a call, the title as the process's name, and a thread
// of its own for each multiprocessor whose shares were recorded.
std::string profile_trace_json(const Profile& profile, const std::string& title);

}  // namespace warpchat
