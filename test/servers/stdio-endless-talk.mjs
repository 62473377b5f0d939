/** In answer to the first request writes the line that is its second argument without end, as fast as it is read, to `stdout` or `stderr`. */
const [, , name, line] = process.argv;
const stream = process[name];
const block = `${line}\n`.repeat(Math.ceil(65_536 / (line.length + 1)));
const flood = () => {
  while (stream.write(block));
  stream.once("drain", flood);
};
process.stdin.once("data", flood);
