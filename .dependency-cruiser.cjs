/**
 * Who may import whom: the rank table of docs/architecture.md as rules. A module imports lower ranks and its own files;
 * types count as much as values.
 */
const tests = '[.]test(-support)?[.]tsx?$|^test/';
const ours = '^(src|web|test)/';

/** Modules by rank, lowest first. Those of one rank do not import one another unless `besides` names them. */
const RANKS = [
  { base: '^src/platform/base/' },
  { log: '^src/platform/log/' },
  { postgres: '^src/platform/postgres/' },
  { platform: '^src/platform/(?!base/|log/|postgres/)' },
  { vocabulary: '^src/vocabulary/' },
  { protocol: '^src/protocol/', config: '^src/config/' },
  { records: '^src/domain/records/' },
  { domain: '^src/domain/(?!records/)' },
  { browser: '^src/browser/', 'oauth-endpoint': '^src/oauth-endpoint/' },
  { features: '^src/features/' },
  { app: '^src/app/' },
  { cli: '^src/(cli/|main[.]ts$)' },
];

/** Imports beyond the lower ranks: the sections of the configuration use the vocabulary of the protocols. */
const BESIDES = { config: ['^src/protocol/'] };

function importRules() {
  const lower = [];
  const rules = [];
  for (const rank of RANKS) {
    for (const [name, path] of Object.entries(rank)) {
      rules.push({
        name: `${name}-imports`,
        severity: 'error',
        from: { path, pathNot: tests },
        to: { path: ours, pathNot: [path, ...lower, ...(BESIDES[name] ?? [])].join('|') },
      });
    }
    lower.push(...Object.values(rank));
  }
  return rules;
}

module.exports = {
  forbidden: [
    ...importRules(),
    {
      name: 'platform-modules-stand-alone',
      comment: 'what every part of the platform may use is base, log and postgres',
      severity: 'error',
      from: { path: '^src/platform/([^/]+)/', pathNot: tests },
      to: { path: '^src/platform/', pathNot: '^src/platform/($1|base|log|postgres)/' },
    },
    {
      name: 'vocabulary-knows-no-mechanism',
      comment: 'the vocabulary contains names, so that it may be imported by everything above the platform',
      severity: 'error',
      from: { path: '^src/vocabulary/', pathNot: tests },
      to: { path: '^src/platform/', pathNot: '^src/platform/base/' },
    },
    {
      name: 'no-feature-to-feature',
      comment: 'features pass one another the browser by an address, and state by a row',
      severity: 'error',
      from: { path: '^src/features/([^/]+)/', pathNot: tests },
      to: { path: '^src/features/', pathNot: '^src/features/$1/' },
    },
    {
      name: 'web-imports',
      comment:
        'the account area meets the server through the account API; it shares components, message formats and names of browsers',
      severity: 'error',
      from: { path: '^web/', pathNot: tests },
      to: { path: '^(src|test|scripts)/', pathNot: '^src/browser/(components/|i18n/language[.]ts$|user-agent[.]ts$)' },
    },
    {
      name: 'admin-web-imports',
      comment: 'the admin area meets the server through the admin API, not through what calls the account API',
      severity: 'error',
      from: { path: '^web/admin/', pathNot: tests },
      to: { path: '^web/', pathNot: '^web/(admin|components|i18n)/' },
    },
    {
      name: 'account-web-imports',
      comment: 'nothing of the admin area is loaded by the account area',
      severity: 'error',
      from: { path: '^web/(?!admin/)', pathNot: tests },
      to: { path: '^web/admin/' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'product-needs-no-dev-dependency',
      severity: 'error',
      from: { path: '^(src|web)/', pathNot: tests },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|data|node_modules)/' },
    tsPreCompilationDeps: true,

    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.cjs', '.json'],
    },
  },
};
