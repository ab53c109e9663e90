import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '#config/load.ts';
import { BUNDLED_PAGE_TEMPLATE } from '#config/page-template.ts';
import { CHECKS } from '#domain/health/finding.ts';
import { MAS_METRICS } from '#vocabulary/mas-metrics.ts';
import { parseRequestLine, REQUEST_LINE } from '../support/log-expression.ts';
import { selfSigned } from '../support/self-signed.ts';
import { allPages, type Page, readPage } from './pages.ts';
import { codeOf, tableRows } from './tables.ts';

const pages = allPages();
/**
 * Pages with instructions: not the decision records, which describe history, not the specification, which shortens names
 * and contains some that do not exist yet, and not the changelog.
 */
const instructions = pages.filter(
  ({ path }) => !/^docs\/(?:decisions|specification)\//.test(path) && path !== 'CHANGELOG.md',
);

test('every generated page matches the source; node scripts/generate-reference.js updates them', () => {
  const run = spawnSync(process.execPath, ['scripts/generate-reference.js', '--check'], { encoding: 'utf8' });
  expect(run.stderr).toBe('');
  expect(run.status).toBe(0);
}, 300_000);

test('the operator guide says for every doctor check when it fails', () => {
  const checks = tableRows('docs/guides/operate.md').map(([name]) => codeOf(name));
  expect(CHECKS.filter((name) => !checks.includes(name))).toEqual([]);
});

describe.each(pages)('$path', (page) => {
  test('only links to existing files and headings', () => {
    const targets = [...page.text.matchAll(/\]\(([^)\s]+)\)|<img src="([^"]+)"/g)].map(
      ([, link, image]) => link ?? image ?? '',
    );
    expect(targets.filter((target) => !/^https?:/.test(target) && !isThere(page, target))).toEqual([]);
  });

  test('describes its images', () => {
    const images = [...page.text.matchAll(/!\[([^\]]*)\]\(|<img [^>]*>/g)];
    const texts = images.map(([image, text]) => text ?? / alt="([^"]*)"/.exec(image)?.[1] ?? '');
    expect(texts.filter((text) => text.split(' ').length < 4)).toEqual([]);
  });

  test('has valid configuration examples', () => {
    for (const yaml of page.blocks('yaml')) expect(() => loaded(yaml), yaml).not.toThrow();
  });
});

test('the guides show every screenshot, each at most 60 KB', () => {
  const folder = 'docs/guides/images';
  const screenshots = readdirSync(folder);
  expect(screenshots.filter((name) => !pages.some(({ text }) => text.includes(`"images/${name}"`)))).toEqual([]);
  expect(screenshots.filter((name) => statSync(join(folder, name)).size > 60 * 1024)).toEqual([]);
});

function isThere(page: Page, target: string): boolean {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? page.path : join(dirname(page.path), file);
  if (!existsSync(path)) return false;
  return anchor === undefined || readPage(path).headings.map(slug).includes(anchor);
}

/** Returns the anchor that GitHub generates for a heading. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

const APPLE_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
  format: 'pem',
  type: 'pkcs8',
});

const PAIR = selfSigned(['auth.example.org']);

function loaded(yaml: string) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-manual-'));
  try {
    writeFileSync(join(folder, 'latchkey.yaml'), yaml);
    mkdirSync(join(folder, 'branding'));
    for (const [picture] of yaml.matchAll(/\bbranding\/[\w.-]+/g)) {
      copyFileSync('src/browser/assets/favicon.svg', join(folder, picture));
    }
    mkdirSync(join(folder, 'tls'));
    writeFileSync(join(folder, 'tls/fullchain.pem'), PAIR.cert);
    writeFileSync(join(folder, 'tls/privkey.pem'), PAIR.key, { mode: 0o600 });
    mkdirSync(join(folder, 'secrets'));
    for (const [secret] of yaml.matchAll(/\bsecrets\/[\w.-]+/g)) {
      writeFileSync(join(folder, secret), secret.endsWith('.p8') ? APPLE_KEY : 'a-secret', { mode: 0o600 });
    }
    return loadConfig({ files: [], environment: {}, flags: {}, workingDirectory: folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Attributes of its metrics, and metrics that Latchkey lacks. */
const OTHER_NAMES_OF_MAS = [
  ...['db.connections.max', 'db.client.connections.create_time', 'mas.activity_tracker.messages'],
  ...['http.request.method', 'http.response.status_class', 'http.response.status_code', 'job.queue.name'],
  ...['mas.listener.name', 'network.protocol.name', 'network.protocol.version', 'peer.service', 'service.name'],
  ...['service.version', 'url.scheme'],
];

test('the manual shows the bundled page template unchanged', () => {
  expect(readPage('docs/guides/appearance.md').blocks('html')).toEqual([BUNDLED_PAGE_TEMPLATE]);
});

describe('names in the manual', () => {
  const settings = tableRows('docs/reference/configuration.md').map(([key]) => codeOf(key));
  const logRows = tableRows('docs/reference/log.md');
  const logNames = logRows.flatMap(([event, , , fields]) => [event, fields].flatMap((cell) => codesOf(cell)));

  test('settings, log events, log fields and doctor checks exist', () => {
    const known = new Set([...settings.flatMap(withSections), ...logNames, ...CHECKS, 'http.server.response']);
    const dotted = /^[a-z][a-z_]*(\[\])?(\.[a-z_]+(\[\])?)+$/;
    const named = instructions.flatMap(({ path, codes }) =>
      codes
        // Excludes names that Latchkey does not define: the chat protocol's, OpenTelemetry's, members of GraphQL
        // errors, span attributes, and hosts.
        .filter(
          (code) =>
            dotted.test(code) &&
            !/^(?:db\.client|http\.(?:client|route|server\.request)|process|service\.instance)\b/.test(code) &&
            !/^(?:m|io\.element|extensions|latchkey)\.|\.(?:m?js|tsx?|md|sql|key|previous|json|jwt|yaml|html|net|org)$/.test(
              code,
            ),
        )
        .map((code) => `${path}: ${code}`),
    );
    expect(named.length).toBeGreaterThan(50);
    // This page is generated from the keys of another program.
    const ofMas = /^docs\/reference\/mas-configuration\.md: /;
    const instruments = Object.values(MAS_METRICS).map(({ name }) => name);
    for (const name of [...instruments, ...OTHER_NAMES_OF_MAS]) known.add(name);
    expect(named.filter((one) => !ofMas.test(one) && !known.has(one.split(': ')[1] ?? ''))).toEqual([]);
  });

  test('commands and their options exist', () => {
    const commands = readPage('docs/reference/commands.md');
    const names = commands.headings.map((heading) =>
      codeOf(heading)
        .split(' ')
        .filter((word) => /^[a-z-]+$/.test(word))
        .join(' '),
    );
    const options = new Set(
      commands.codes.flatMap((code) => [...code.matchAll(/--?[a-z][a-z-]*/g)].map(([option]) => option)),
    );
    const lines = instructions.flatMap((page) => [
      ...page.codes,
      ...page.blocks('sh').flatMap((block) => block.split('\n')),
    ]);
    const calls = lines.flatMap((line) =>
      [
        ...line.matchAll(/(?:latchkey|bin\/latchkey\.js) ((?:activity|config|database|jobs|manage|serve)\b[^#|]*)/g),
      ].map(([, call = '']) => call),
    );
    expect(calls.length).toBeGreaterThan(10);
    for (const call of calls) {
      const words = call.trim().split(/\s+/);
      expect(
        names.some((name) => name !== '' && call.startsWith(name)),
        call,
      ).toBe(true);
      for (const word of words.filter((one) => /^-+[a-z]/.test(one))) expect(options, call).toContain(word);
    }
  });

  function codesOf(cell: string | undefined): string[] {
    return [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
  }

  /** Returns `a.b.c` with `a.b` and `a`, because the manual may refer to a group. */
  function withSections(key: string): string[] {
    const parts = key.split('.');
    return parts.map((_, index) => parts.slice(0, index + 1).join('.'));
  }
});

describe('docs/reference/log.md', () => {
  const [example = '', expression = ''] = readPage('docs/reference/log.md').blocks('');

  test('shows a request line in the current log layout', () => {
    expect(parseRequestLine(example.trim())).toMatchObject({ id: 'POST-71', status: 303 });
    expect(new RegExp(expression.trim()).test(example.trim())).toBe(true);
  });

  test('gives the expression that the tests apply to request lines', () => {
    expect(expression.trim()).toBe(REQUEST_LINE.source);
  });
});
