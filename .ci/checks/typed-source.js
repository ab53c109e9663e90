/**
 * Runs the checks that need the types of the product, which take most of their time, in one process:
 *
 * - `awaits`: awaits of outside work without `outside(...)`.
 * - `generated`: generated files that differ from the current source: the reference pages of the manual, the import
 *   graph, the plot and the tables of the benchmark, and the JSON Schema of the configuration. (Tests compare
 *   `migrations/schema.sql` and `docs/sql/`, because they need a database.)
 *
 * An argument selects one of them.
 */
import { comparePages } from '../../scripts/reference/compare-pages.js';
import { productProgram } from '../../scripts/reference/product-program.js';
import { outsideAwaits } from './outside-awaits.js';

const root = process.cwd();
const [selected] = process.argv.slice(2);
const program = productProgram(root);

if (selected !== 'generated') {
  const { read, problems } = outsideAwaits(program, root);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.stdout.write(`${read} source files read, ${problems.length} awaits that bypass outside()\n`);
  if (problems.length > 0 || read === 0) process.exitCode = 1;
}
if (selected !== 'awaits' && (await comparePages({ root, program, isCheck: true })) > 0) process.exitCode = 1;
