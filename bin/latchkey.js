#!/usr/bin/env -S UV_THREADPOOL_SIZE=12 node --max-semi-space-size=8
// In a clone this installs and builds first what is missing; the published package comes built, without scripts/.
import { existsSync } from 'node:fs';

const start = new URL('../scripts/start.js', import.meta.url);
await import(existsSync(start) ? start.href : '../dist/main.js');
