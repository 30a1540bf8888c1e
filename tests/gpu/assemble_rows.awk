# Rows of tests/gpu/assemble.sh from, in this order: what chat kernels lists, ptxas -v logs and nvdisasm
# prints.
# Variables: target, shape, faults (a file).

# Limits of a multiprocessor: threads, blocks, bytes of shared memory, and extra bytes per block. Source: "Technical
# Specifications per Compute Capability" in NVIDIA's CUDA C++ Programming Guide.
BEGIN {
  limits["sm_75"] = "1024 16 65536 0"
  limits["sm_80"] = "2048 32 167936 1024"
  limits["sm_86"] = "1536 16 102400 1024"
  limits["sm_89"] = "1536 24 102400 1024"
  limits["sm_90"] = limits["sm_100"] = "2048 32 233472 1024"
  limits["sm_120"] = "1536 24 102400 1024"
  if (split(limits[target], limit, " ") != 4) {
    print "assemble_rows.awk: no limits are known of " target > "/dev/stderr"
    exit 1
  }
}

function least(a, b) { return a < b ? a : b }

# A warp gets registers in units of 256; each of four schedulers has 16,384.
function blocks_per_sm(registers, threads, shared,   warps, of_a_warp, blocks) {
  if (threads == 0) return 0
  warps = int((threads + 31) / 32)
  of_a_warp = int((registers * 32 + 255) / 256) * 256
  blocks = least(int(limit[1] / (warps * 32)), limit[2])
  blocks = least(blocks, int(4 * int(16384 / of_a_warp) / warps))
  if (shared + limit[4] > 0) blocks = least(blocks, int(limit[3] / (shared + limit[4])))
  return blocks
}

# Evaluates the section just read. Loops are backward branches; among loops that stream, only innermost ones count.
function end_section(   i, j, n, from, to, inner, k) {
  if (section == "") return
  n = 0
  for (i = 1; i <= n_branches; ++i) {
    if (!((section, label_of[i]) in place) || place[section, label_of[i]] > branch[i]) continue
    from[++n] = place[section, label_of[i]]
    to[n] = branch[i]
    streams[n] = 0
    for (j = 1; j <= n_loads; ++j) if (load[j] >= from[n] && load[j] <= to[n]) ++streams[n]
  }
  calls[section] = n_calls
  in_loops[section] = 0
  for (k = 1; k <= n_calls; ++k) {
    for (i = 1; i <= n; ++i) {
      if (!streams[i] || call[k] < from[i] || call[k] > to[i]) continue
      inner = 1
      for (j = 1; j <= n; ++j)
        if (j != i && streams[j] && from[j] >= from[i] && to[j] <= to[i] && to[j] - from[j] < to[i] - from[i]) inner = 0
      if (!inner) continue
      ++in_loops[section]
      print target " " shape " " section ": a call inside a loop over weights: " callee[k] >> faults
      break
    }
  }
  section = ""
}

FNR == 1 { ++file }

file == 1 && split($0, cell, /  +/) >= 7 && cell[4] ~ /^[0-9,]+$/ {
  gsub(/,/, "", cell[3])
  gsub(/,/, "", cell[4])
  threads[cell[1]] = cell[3]
  shared_bytes[cell[1]] = cell[4]
}

file == 2 && /Compiling entry function/ { split($0, quoted, "'"); entry = quoted[2]; entries[++n_entries] = entry }
file == 2 && /bytes stack frame/ {
  for (i = 1; i < NF; ++i) if ($i == "bytes") {
    if ($(i + 1) == "stack") stack[entry] = $(i - 1) > stack[entry] + 0 ? $(i - 1) : stack[entry] + 0
    if ($(i + 1) == "spill") spilled[entry] += $(i - 1)
  }
}
file == 2 && /Used [0-9]+ registers/ {
  match($0, /Used [0-9]+/)
  registers[entry] = substr($0, RSTART + 5, RLENGTH - 5)
}

file == 3 && /^[ \t]*\.section[ \t]/ {
  end_section()
  if ($0 ~ /\.section[ \t]+\.text\./) {
    section = $0
    sub(/.*\.section[ \t]+\.text\./, "", section)
    sub(/,.*/, "", section)
  }
  n_branches = n_loads = n_calls = at = 0
}
file == 3 && section != "" && /^\.L_x?_?[0-9]+:/ { pending[++n_pending] = substr($1, 1, length($1) - 1) }
file == 3 && section != "" && /^[ \t]*\/\*[0-9a-f]+\*\// {
  ++at
  for (i = 1; i <= n_pending; ++i) place[section, pending[i]] = at
  n_pending = 0
  if ($0 ~ /[ \t]BRA/ && match($0, /\.L_x?_?[0-9]+/)) {
    branch[++n_branches] = at
    label_of[n_branches] = substr($0, RSTART, RLENGTH)
  }
  if ($0 ~ /LDG\.[A-Z0-9.]*NA/ || $0 ~ /LDGSTS/ || $0 ~ /UBLKCP/) load[++n_loads] = at
  if ($0 ~ /[ \t]CALL/ && $0 !~ /`\(\.L_/) {  # ptxas leaves a loop by calling a label; such a call never returns
    call[++n_calls] = at
    match($0, /`\(.*\)/)
    callee[n_calls] = RSTART ? substr($0, RSTART + 2, RLENGTH - 3) : "an address"
    sub(/.*\$/, "", callee[n_calls])
  }
}

END {
  end_section()
  for (i = 1; i <= n_entries; ++i) {
    e = entries[i]
    if (spilled[e] > 0) print target " " shape " " e ": " spilled[e] " bytes of spills" >> faults
    if (!(e in calls)) print target " " shape " " e ": nvdisasm shows no such kernel" >> faults
    printf "%s %s %s %d %d %d %d %d %d\n", target, shape, e, registers[e], spilled[e], stack[e], calls[e], in_loops[e],
      blocks_per_sm(registers[e], threads[e], shared_bytes[e])
  }
}
