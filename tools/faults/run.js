/**
 * The faults of security 5.2, each run separately under load: the service is broken in one way, and afterwards the
 * recorded responses are compared with the actual state.
 */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Checks, say } from '../browser/checks.js';

const isShort = process.argv.includes('--short');
const wanted = process.argv.slice(2).filter((argument) => argument.startsWith('F-'));

const rows = new URL('rows/', import.meta.url);
const modules = await Promise.all(
  readdirSync(rows)
    .sort()
    .map((file) => import(new URL(file, rows).href)),
);
const faults = modules.map(({ fault }) => fault);
const unknown = wanted.filter((id) => !faults.some((fault) => fault.id === id));
if (unknown.length > 0) throw new Error(`no such fault: ${unknown.join(', ')}`);

const checks = new Checks();
for (const { id, title, run } of faults) {
  if (wanted.length > 0 && !wanted.includes(id)) continue;
  const startedAt = performance.now();
  say(`-- ${id}: ${title}`);
  // A busy machine can be too slow for a fault.
  await checks.group(`${id}: ${title}`, (own) => inFolder((folder) => run({ checks: own, folder, isShort })));
  say(`${id} took ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}
// A fault that was aborted may have left connections open.
process.exit(checks.close());

async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-fault-'));
  // PostgreSQL does not run as root and uses a different account, which needs access.
  chmodSync(folder, 0o711);
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
