import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The commands of the package, and the program names that they show. */
const COMMANDS = { latchkey: 'latchkey', 'mas-cli': 'mas-cli' };

/** Writes the commands as shell scripts for a system that has only a shell. */
export function writeLaunchers(folder, { findHome, node, main }) {
  mkdirSync(folder, { recursive: true });
  for (const [command, program] of Object.entries(COMMANDS)) {
    const lines = [
      '#!/bin/sh',
      ...findHome,
      'export UV_THREADPOOL_SIZE="$' + '{UV_THREADPOOL_SIZE:-12}"',
      ...(program === 'latchkey' ? [] : [`export LATCHKEY_PROGRAM=${program}`]),
      `exec ${node} --max-semi-space-size=8 ${main} "$@"`,
    ];
    writeFileSync(join(folder, command), `${lines.join('\n')}\n`, { mode: 0o755 });
  }
}
