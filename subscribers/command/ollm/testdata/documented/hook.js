#!/usr/bin/env node

// Read input from stdin
let input = '';
process.stdin.on('data', (chunk) => {
  input += chunk;
});

process.stdin.on('end', () => {
  try {
    // Parse input
    const { event, data } = JSON.parse(input);
    
    // Process event
    if (event === 'before_model') {
      // Add custom logic here
      console.log('Model call intercepted:', data.model);
      
      // Return output
      const output = {
        continue: true,
        systemMessage: `Hook executed for model: ${data.model}`,
        data: {
          hookExecuted: true,
        },
      };
      
      process.stdout.write(JSON.stringify(output));
    } else {
      // Unknown event, continue
      process.stdout.write(JSON.stringify({ continue: true }));
    }
  } catch (error) {
    // Error handling
    process.stdout.write(JSON.stringify({
      continue: true,
      error: error.message,
    }));
  }
});
