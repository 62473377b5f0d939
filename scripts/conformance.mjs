// `npm run conformance`: none exists yet.
console.log("conformance: nothing to run yet");
