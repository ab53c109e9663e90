/**
 * Checks the Helm chart: `helm lint`, its resources with each file of values in `ci/`, and values that it must reject.
 * Arguments: the programs `helm` and `kubernetes-validate`.
 */
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parseAllDocuments, stringify } from 'yaml';

const CHART = 'packaging/helm/latchkey';
const KUBERNETES = '1.34.0';
/** Validated by their own rules below, because Kubernetes has no schema for it. */
const CUSTOM = 'ServiceMonitor';
/** What every container must have: only the volumes are writable, and processes cannot gain rights. */
const RESTRICTIONS = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};
const REJECTED = [
  ['an unknown value', ['--set', 'replica=3'], 'replica'],
  ['a base address without a scheme', ['--set', 'config.http.public_base=auth.example.org'], 'public_base'],
  [
    'an undocumented metric',
    ['--set', 'autoscaling.metrics[0].name=other,autoscaling.metrics[0].averageValue=1'],
    'name',
  ],
  ['a secret without a database', ['--set', 'secrets.existingSecret=,secrets.files=null'], 'secrets.databaseUri'],
  [
    'a monitor without metrics',
    ['--set', 'metrics.enabled=false,metrics.serviceMonitor.enabled=true'],
    'metrics.enabled',
  ],
];

const [helm, kubernetesValidate] = process.argv.slice(2);
const place = mkdtempSync(join(tmpdir(), 'latchkey-chart-'));
try {
  const files = readdirSync(join(CHART, 'ci')).map((name) => join(CHART, 'ci', name));
  for (const values of files) {
    execute(helm, ['lint', '--strict', '--quiet', CHART, '--values', values]);
    const resources = parseAllDocuments(execute(helm, template(values)))
      .map((document) => document.toJS())
      .filter((resource) => resource !== null);
    validate(resources.filter(({ kind }) => kind !== CUSTOM));
    examine(resources);
    process.stdout.write(`${values}: ${resources.length} resources\n`);
  }
  for (const [what, args, words] of REJECTED) {
    const { status, stderr } = spawnSync(helm, [...template(files[1]), ...args], { encoding: 'utf8' });
    if (status === 0 || !stderr.includes(words)) throw new Error(`${what} is not rejected: ${stderr}`);
  }
  process.stdout.write(`${REJECTED.length} wrong values are rejected\n`);
} finally {
  rmSync(place, { recursive: true, force: true });
}

function template(values) {
  return ['template', 'latchkey', CHART, '--kube-version', KUBERNETES, '--values', values];
}

function validate(resources) {
  const file = join(place, 'resources.yaml');
  writeFileSync(file, resources.map((resource) => `---\n${stringify(resource)}`).join(''));
  execute(kubernetesValidate, ['--strict', '--version', KUBERNETES.replace(/\.\d+$/, ''), file]);
}

/** Checks what a schema cannot: names that refer to each other, rights, and Latchkey's own configuration. */
function examine(resources) {
  const named = new Set(resources.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
  const pods = resources.filter(({ spec }) => spec?.template?.spec?.containers !== undefined);
  for (const { kind, metadata, spec } of pods) {
    const { containers, volumes, automountServiceAccountToken, securityContext } = spec.template.spec;
    const who = `${kind} ${metadata.name}`;
    for (const { name, securityContext: restrictions } of containers) {
      if (!isDeepStrictEqual(restrictions, RESTRICTIONS)) throw new Error(`${who}: ${name} is not restricted`);
    }
    if (automountServiceAccountToken !== false || !securityContext.runAsNonRoot) throw new Error(`${who} has rights`);
    for (const { configMap, secret } of volumes) {
      if (configMap !== undefined && !named.has(`ConfigMap/${configMap.name}`)) throw new Error(`${who}: no ConfigMap`);
      const isOwn = secret === undefined || named.has(`Secret/${secret.secretName}`);
      if (!isOwn && named.has('Secret/latchkey')) throw new Error(`${who}: no Secret ${secret.secretName}`);
    }
  }
  const services = resources.filter(({ kind }) => kind === 'Service');
  for (const { metadata, spec } of services) {
    const backends = pods.filter(
      ({
        spec: {
          template: { metadata: pod },
        },
      }) => includes(pod.labels, spec.selector),
    );
    if (backends.length !== 1) throw new Error(`Service ${metadata.name} selects ${backends.length} deployments`);
    const ports = backends[0].spec.template.spec.containers.flatMap((container) =>
      container.ports.map(({ name }) => name),
    );
    for (const { targetPort } of spec.ports) {
      if (!ports.includes(targetPort)) throw new Error(`Service ${metadata.name} has no port ${targetPort}`);
    }
  }
  for (const { spec } of resources.filter(({ kind }) => kind === CUSTOM)) {
    const { selector, endpoints, ...others } = spec;
    const monitored = services.filter(({ metadata }) => includes(metadata.labels, selector.matchLabels));
    const isComplete = endpoints.every(({ port, path, interval, ...rest }) => {
      const hasPort = monitored.every((service) => service.spec.ports.some(({ name }) => name === port));
      return hasPort && path === '/metrics' && /^\d+s$/.test(interval) && Object.keys(rest).length === 0;
    });
    if (monitored.length === 0 || !isComplete || Object.keys(others).length > 0) throw new Error(`${CUSTOM} is wrong`);
  }
  for (const { data } of resources.filter(({ kind }) => kind === 'ConfigMap')) checkConfiguration(data['config.yaml']);
}

function includes(labels, wanted) {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}

/** Latchkey must accept the configuration. */
function checkConfiguration(text) {
  const secrets = join(place, 'secrets');
  mkdirSync(join(secrets, 'keys'), { recursive: true });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const files = {
    'database-uri': 'postgres://latchkey:password@postgresql/latchkey',
    encryption: '0'.repeat(64),
    'smtp-password': 'password',
    'keys/rsa.pem': privateKey.export({ type: 'pkcs8', format: 'pem' }),
    'config.yaml': text.replaceAll('/secrets', secrets).replace('/data/latchkey', join(place, 'data')),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(secrets, name), content, { mode: 0o600 });
  execute(process.execPath, ['dist/main.js', 'config', 'check', '--config', join(secrets, 'config.yaml')]);
}

function execute(program, args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0)
    throw error ?? new Error(`${program} ${args.join(' ')} ended with code ${status}: ${stdout}${stderr}`);
  return stdout;
}
