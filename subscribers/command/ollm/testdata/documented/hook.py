#!/usr/bin/env python3

import sys
import json

def main():
    try:
        # Read input from stdin
        input_data = json.load(sys.stdin)
        event = input_data['event']
        data = input_data['data']
        
        # Process event
        if event == 'before_model':
            # Add custom logic here
            print(f"Model call intercepted: {data['model']}", file=sys.stderr)
            
            # Return output
            output = {
                'continue': True,
                'systemMessage': f"Hook executed for model: {data['model']}",
                'data': {
                    'hookExecuted': True,
                },
            }
            
            json.dump(output, sys.stdout)
        else:
            # Unknown event, continue
            json.dump({'continue': True}, sys.stdout)
    
    except Exception as e:
        # Error handling
        json.dump({
            'continue': True,
            'error': str(e),
        }, sys.stdout)

if __name__ == '__main__':
    main()
