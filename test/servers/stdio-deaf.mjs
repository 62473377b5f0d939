/** Never reads its stdin. */
setInterval(() => undefined, 1_000);
