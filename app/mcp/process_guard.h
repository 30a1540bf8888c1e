// Ends the children of servers when this program is killed. The kernel then kills the servers themselves
// (PR_SET_PDEATHSIG), but not what they have started: npx and uvx, for example, run the real server as a child.
#pragma once
#include <sys/types.h>

namespace warpchat {

// The process group of a server: killed once this program has ended in any way, until it is released. Without /bin/sh
// nothing is guarded.
void guard_group(pid_t group);
void release_group(pid_t group);  // before its leader is reaped, since its number may be used again after that

}  // namespace warpchat
