/**
 * Who may import whom: the rank table of docs/architecture.md as rules. A folder imports only lower ranks and its own
 * files; `config` is read by types anywhere and by value only at the top.
 */
const tests = '[.]test[.]tsx?$|^test/';
const rank = {
  base: '^src/base/',
  protocol: '^src/protocol/',
  config: '^src/config/',
  db: '^src/db/',
  gateways: '^src/gateways/',
  jobs: '^src/jobs/',
  html: '^src/html/',
  domain: '^src/domain/',
  http: '^src/http/',
  features: '^src/features/',
  top: '^src/(app|main|commands)',
};
const ours = '^(src|web|test)/';

/** `from` may import only the folders named (and itself). */
function only(name, from, allowed) {
  return {
    name: `${name}-imports`,
    severity: 'error',
    from: { path: from, pathNot: tests },
    to: { path: ours, pathNot: [from, ...allowed].join('|'), dependencyTypesNot: ['type-only'] },
  };
}

/** The same for types, where `config` is allowed everywhere. */
function onlyTypes(name, from, allowed) {
  return {
    name: `${name}-type-imports`,
    severity: 'error',
    from: { path: from, pathNot: tests },
    to: { path: ours, pathNot: [from, rank.config, ...allowed].join('|'), dependencyTypes: ['type-only'] },
  };
}

const lower = {
  base: [],
  protocol: [rank.base],
  config: [rank.base, rank.protocol],
  db: [rank.base, rank.protocol],
  gateways: [rank.base, rank.protocol],
  jobs: [rank.base, rank.protocol, rank.db],
  html: [rank.base, rank.protocol],
  domain: [rank.base, rank.protocol, rank.db, rank.gateways, rank.jobs, rank.html],
  http: [rank.base, rank.protocol, rank.db, rank.gateways, rank.jobs, rank.html, rank.domain],
  features: [rank.base, rank.protocol, rank.db, rank.gateways, rank.jobs, rank.html, rank.domain, rank.http],
};

module.exports = {
  forbidden: [
    ...Object.entries(lower).flatMap(([name, allowed]) => [
      only(name, rank[name], allowed),
      onlyTypes(name, rank[name], allowed),
    ]),
    {
      name: 'base-needs-node-only',
      severity: 'error',
      from: { path: rank.base, pathNot: tests },
      to: { dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'] },
    },
    {
      name: 'no-feature-to-feature',
      comment: 'rooms talk sideways through a row and a URL',
      severity: 'error',
      from: { path: '^src/features/([^/]+)/', pathNot: tests },
      to: { path: rank.features, pathNot: '^src/features/$1/' },
    },
    {
      name: 'writes-are-private',
      comment: 'the only place that changes a table is its own folder',
      severity: 'error',
      from: { path: '^src/(?:domain/)?([^/]+)/', pathNot: tests },
      to: { path: '^src/domain/[^/]+/writes[.]ts$', pathNot: '^src/domain/$1/' },
    },
    {
      name: 'top-is-not-imported',
      severity: 'error',
      from: { path: '^src/(?!app|main|commands)', pathNot: tests },
      to: { path: rank.top },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'product-needs-no-dev-dependency',
      severity: 'error',
      from: { path: '^src/', pathNot: tests },
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
