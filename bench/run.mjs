// `npm run bench`: none exists yet.
console.log("bench: nothing to run yet");
