import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BUNDLED_LANGUAGES } from '#vocabulary/languages.ts';
import { runCommand } from './run-command.test-support.ts';

let folder: string;
let count = 0;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-templates-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs it in a separate directory with these files and the templates below `looks/`. */
async function check(files: Readonly<Record<string, string>>, ...options: readonly string[]) {
  count += 1;
  const workingDirectory = join(folder, String(count));
  mkdirSync(workingDirectory);
  const configuration = 'http:\n  public_base: https://id.example/\ntemplates:\n  path: looks\n';
  for (const [name, text] of Object.entries({ 'latchkey.yaml': configuration, 'looks/x.txt': '', ...files })) {
    mkdirSync(dirname(join(workingDirectory, name)), { recursive: true });
    writeFileSync(join(workingDirectory, name), text);
  }
  const argv = ['templates', 'check', '--stabilise', ...options];
  const json = argv.includes('--json') ? ['--json', ...argv.filter((word) => word !== '--json')] : argv;
  return { workingDirectory, ...(await runCommand(['-c', 'latchkey.yaml', ...json], { workingDirectory })) };
}

test('templates check: the bundled templates are valid in every language and written to --out-dir (operations 3.7)', async () => {
  const { exitCode, out, workingDirectory } = await check({}, '--out-dir', 'out/renders');
  expect(out).toMatch(new RegExp(`^Templates are valid: \\d+ texts in ${BUNDLED_LANGUAGES.length} languages\\n$`));
  expect(exitCode).toBe(0);
  const read = (name: string) => readFileSync(join(workingDirectory, 'out/renders', name), 'utf8');
  expect(readdirSync(join(workingDirectory, 'out/renders'))).toEqual(['emails', 'pages']);
  expect(read('pages/login.ar.html')).toContain('<html lang="ar" dir="rtl">');
  expect(read('emails/verification.de.subject')).toContain('123456');
  expect(read('emails/recovery.en.html')).toContain('https://id.example/');
});

test('templates check: --stabilise produces the same files each time', async () => {
  const rendered = async () => {
    const { workingDirectory } = await check({}, '--out-dir', 'out');
    const below = join(workingDirectory, 'out');
    return readdirSync(below, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:html|txt|subject)$/.test(name))
      .toSorted()
      .map((name) => `${name}\n${readFileSync(join(below, name), 'utf8')}`);
  };
  expect(await rendered()).toEqual(await rendered());
});

test('templates check: reports each problem of a template in one line with file and line, exit 1', async () => {
  const { exitCode, out, err, workingDirectory } = await check({
    'looks/page.html': '<div>\n{{ content }}\n<p style="color: red">{{ user }}</p>\n',
    'looks/emails/recovery.html': '<p>{{ link }}</p>\n<script>1</script>',
    'looks/emails/recovry.txt': '{{ link }}',
  });
  expect({ exitCode, err }).toEqual({ exitCode: 1, err: '' });
  const looks = join(workingDirectory, 'looks');
  expect(out.split('\n').map((line) => line.replace(looks, 'looks'))).toEqual([
    expect.stringContaining('looks/emails/recovery.html:2: <script is not allowed in an email'),
    expect.stringContaining('looks/emails/recovry.txt:1: '),
    expect.stringContaining('looks/page.html:3: unknown variable "user"'),
    'looks/page.html:1: <div> is not closed',
    'looks/page.html:3: inline styles are blocked by the browser; use the CSS classes of the pages',
    '',
  ]);
});

test('templates check: a template problem that appears only within a page is reported with the page, in one language', async () => {
  const { exitCode, out } = await check({ 'looks/page.html': '<p id="username">x</p>\n{{ content }}' }, '--json');
  expect(exitCode).toBe(1);
  const { problems, languages } = JSON.parse(out);
  expect(languages).toEqual(BUNDLED_LANGUAGES);
  expect(problems).toContainEqual({
    template: 'pages/login.en.html',
    line: 3,
    text: 'duplicate id "username"',
  });
  expect(problems.filter(({ template }: { template: string }) => template.startsWith('pages/login.'))).toHaveLength(1);
});

test("templates check: renders in the operator's languages, and reports a wrong text with its line", async () => {
  const files = {
    'latchkey.yaml': 'templates:\n  translations_path: texts\n',
    'texts/he.json': '{\n  "login.title": "כניסה",\n  "login.continue": "{who}"\n}',
  };
  const { exitCode, out, workingDirectory } = await check(files, '--out-dir', 'out');
  expect(exitCode).toBe(1);
  const problem = 'texts/he.json:3: login.continue: unknown value {who}; available: {client}\n';
  expect(out.endsWith(`/${problem}`)).toBe(true);
  expect(out.split('\n')).toHaveLength(2);
  expect(readFileSync(join(workingDirectory, 'out/pages/login.he.html'), 'utf8')).toContain('כניסה');
});

test('templates check: reports malformed emails and an empty rendered subject', async () => {
  const { exitCode, out } = await check({
    'looks/emails/verification.html': '<p>{{ code }}<b></p>',
    'looks/emails/data_export.subject': '{{ code }}',
  });
  expect(exitCode).toBe(1);
  expect(out).toContain('emails/verification.en.html:1: </p> does not close an element\n');
  expect(out).toContain('emails/data_export.en.subject:1: expected one line\n');
});

test('templates check: --out-dir of a non-empty directory or a file is exit 1', async () => {
  const used = await check({ 'out/x': '' }, '--out-dir', 'out');
  expect(used).toMatchObject({ exitCode: 1, out: '' });
  expect(used.err).toMatch(/^latchkey: --out-dir .*\/out: the directory is not empty\n$/);
  const file = await check({ out: '' }, '--out-dir', 'out');
  expect(file).toMatchObject({ exitCode: 1, out: '' });
  expect(file.err).toMatch(/^latchkey: --out-dir .*\/out: /);
});

test('templates check: an otherwise invalid configuration is exit 78', async () => {
  const { exitCode, err } = await check({ 'latchkey.yaml': 'branding:\n  service_nam: x\n' });
  expect(exitCode).toBe(78);
  expect(err).toContain('branding.service_nam');
});
