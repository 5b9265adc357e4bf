#!/usr/bin/env node

let input = '';
process.stdin.on('data', (chunk) => { input += chunk; });
process.stdin.on('end', () => {
  const { event, data } = JSON.parse(input);
  
  // Log to file
  const fs = require('fs');
  fs.appendFileSync('/tmp/hook.log', `${event}: ${JSON.stringify(data)}\n`);
  
  // Continue
  process.stdout.write(JSON.stringify({ continue: true }));
});
