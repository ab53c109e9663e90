#!/usr/bin/env -S UV_THREADPOOL_SIZE=12 node --max-semi-space-size=8
// The same program, for scripts that call the command of Matrix Authentication Service.
process.env.LATCHKEY_PROGRAM = 'mas-cli';
await import('./latchkey.js');
