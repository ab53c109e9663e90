/**
 * Generated files must match the current source: the reference pages of the manual, the import graph, the plot and
 * the tables of the benchmark, and the JSON Schema of the configuration. (`migrations/schema.sql` and `docs/sql/` are
 * compared by tests, which have a database.)
 */
import { spawnSync } from 'node:child_process';

const { status } = spawnSync(process.execPath, ['scripts/generate-reference.js', '--check'], { stdio: 'inherit' });
process.exitCode = status ?? 1;
