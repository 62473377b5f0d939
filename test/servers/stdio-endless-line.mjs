/** In answer to the first request writes a line without end, as fast as it is read. */
const block = Buffer.alloc(65_536, "x");
const flood = () => {
  while (process.stdout.write(block));
  process.stdout.once("drain", flood);
};
process.stdin.once("data", flood);
