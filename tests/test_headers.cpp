// The one source of the target whose precompiled headers all test binaries use.
