import { expect, test } from 'vitest';
import { KeyRing } from '#platform/base/sealing.ts';
import { loadYaml } from './fixture.test-support.ts';
import { sharedSettingsDigest } from './shared-settings.ts';

const keys = new KeyRing(Buffer.alloc(32, 1));
const digest = (yaml: string, ring = keys) => sharedSettingsDigest(loadYaml(yaml), ring).toString('hex');
const BASE = 'http: { public_base: https://id.example }';

test('instances that differ only in machine-specific settings have the same digest (operations 8.1)', () => {
  const alike = [
    BASE,
    'http: { public_base: https://id.example, issuer: https://id.example, workers: 4, trusted_proxies: [] }',
    `${BASE}\ndata_dir: /other\nlogging: { level: debug }\nlimits: { max_in_flight: 5 }\njobs: { concurrency: 3 }`,
    `${BASE}\ndatabase: { max_connections: 50 }`,
    `${BASE}\nbranding: {}`,
  ];
  expect(new Set(alike.map((yaml) => digest(yaml))).size).toBe(1);
  const others = [
    'http: { public_base: https://other.example }',
    `${BASE}\nbranding: { service_name: Harbour }`,
    `${BASE}\nretention: { finished_sessions: 3d }`,
    `${BASE}\nhomeserver: { kind: synapse, secret: a-secret-of-16-characters }`,
    `${BASE}\nhomeserver: { kind: synapse, secret: b-secret-of-16-characters }`,
  ];
  expect(new Set([BASE, ...others].map((yaml) => digest(yaml))).size).toBe(1 + others.length);
});

test('a database reader cannot test secrets against the digest: it depends on the root key', () => {
  expect(digest(BASE, new KeyRing(Buffer.alloc(32, 2)))).not.toBe(digest(BASE));
});
