// The only source of the target that owns the precompiled headers of all test binaries.
