/**
 * Builds the documentation into a static site with search: `npm run --prefix tools site`. Ends with an error if a page is
 * missing, or a link leads nowhere.
 *
 * `--output FOLDER` names another place than `tools/site/_site`.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { addressOf, pagePaths } from './pages.js';

const folder = fileURLToPath(new URL('.', import.meta.url));
const built = join(folder, '_site');
const { values } = parseArgs({ options: { output: { type: 'string' } } });

if (!existsSync(join(folder, 'node_modules/@11ty')))
  execute('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
rmSync(built, { recursive: true, force: true });
execute(process.execPath, ['node_modules/@11ty/eleventy/cmd.cjs', '--quiet']);
execute(process.execPath, ['node_modules/pagefind/lib/runner/bin.cjs', '--site', '_site', '--silent']);
const problems = [...missingPages(), ...brokenLinks()];
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exit(1);
if (values.output !== undefined) cpSync(built, resolve(values.output), { recursive: true });
process.stdout.write(`${pagePaths().length} pages with search in ${values.output ?? built}\n`);

function missingPages() {
  return pagePaths()
    .filter((path) => !existsSync(join(built, addressOf(path))))
    .map((path) => `${path} is missing`);
}

/** Follows every link and picture of every page, with anchors. */
function brokenLinks() {
  const pages = new Map(
    readdirSync(built, { recursive: true })
      .filter((name) => name.endsWith('.html'))
      .map((name) => [name, readFileSync(join(built, name), 'utf8')]),
  );
  const idsOf = (text) => new Set([...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id));
  const ids = new Map([...pages].map(([name, text]) => [name, idsOf(text)]));
  return [...pages].flatMap(([name, text]) =>
    [...text.matchAll(/\s(?:href|src)="([^"]+)"/g)]
      .map(([, target]) => target.replaceAll('&amp;', '&'))
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => {
        const [file, anchor] = target.split('#');
        const path = file === '' ? name : join(dirname(name), file);
        if (!existsSync(join(built, path)) || statSync(join(built, path)).isDirectory()) return true;
        return anchor !== undefined && ids.has(path) && !ids.get(path).has(decodeURIComponent(anchor));
      })
      .map((target) => `${name}: ${target} leads nowhere`),
  );
}

function execute(program, args) {
  const { status, error } = spawnSync(program, args, { cwd: folder, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw error ?? new Error(`${program} ${args.join(' ')} ended with code ${status}`);
}
