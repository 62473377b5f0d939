/** Never reads its stdin. */
// Lives on, but not for ever where a test fails.
setTimeout(() => process.exit(9), 120_000);
