// `npm run soak`: the long fault and load runs. None exists yet.
console.log("soak: nothing to run yet");
