#!/usr/bin/env node
console.log('v', process.version)
