#!/usr/bin/env node
// Save as: ~/.ollm/hooks/log-model-calls.js

const fs = require('fs');
const path = require('path');

let input = '';
process.stdin.on('data', (chunk) => { input += chunk; });
process.stdin.on('end', () => {
  try {
    const { event, data } = JSON.parse(input);
    
    if (event === 'before_model') {
      const logFile = path.join(process.env.HOME, '.ollm', 'model-calls.log');
      const logEntry = `${new Date().toISOString()} - Model: ${data.model}\n`;
      fs.appendFileSync(logFile, logEntry);
    }
    
    process.stdout.write(JSON.stringify({ continue: true }));
  } catch (error) {
    process.stdout.write(JSON.stringify({
      continue: true,
      error: error.message,
    }));
  }
});
