/** Releases: what they install, what they may do, and how to report a vulnerability. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const MANIFEST = z.object({
  scripts: z.record(z.string(), z.string()),
  dependencies: z.record(z.string(), z.string()),
  optionalDependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
});
const LOCKFILE = z.object({
  packages: z.record(
    z.string(),
    z.object({ integrity: z.string().optional(), resolved: z.string().optional(), link: z.boolean().optional() }),
  ),
});

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('what a release installs (S-170)', () => {
  const manifest = MANIFEST.parse(JSON.parse(textOf('package.json')));

  test.each(['package-lock.json', 'tools/package-lock.json', 'tools/site/package-lock.json'])(
    '%s has a checksum for every package',
    (path) => {
      const { packages } = LOCKFILE.parse(JSON.parse(textOf(path)));
      const others = Object.entries(packages).filter(([name]) => name !== '');
      expect(others.length).toBeGreaterThan(50);
      expect(others.filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? '')).map(([name]) => name)).toEqual([]);
      expect(others.flatMap(([, { resolved }]) => resolved ?? [])).toEqual([]);
    },
  );

  test('every version is pinned, so that no registry decides what the next installation brings', () => {
    // `npm:NAME@VERSION` installs a package under another name.
    const all = { ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.devDependencies };
    expect(
      Object.entries(all).filter(([, version]) => !/^(?:npm:[@\w/-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)),
    ).toEqual([]);
  });

  test('no install script of this project runs', () => {
    expect(Object.keys(manifest.scripts).filter((name) => /^(?:pre|post)?install$|^prepare$/.test(name))).toEqual([]);
  });
});

describe('what a released image may do (S-170, S-171)', () => {
  test('it runs as an unprivileged user, and starts the program without a shell', () => {
    const file = textOf('packaging/Containerfile');
    expect(file).toMatch(/^USER 1000:1000$/m);
    expect(file).toMatch(/^ENTRYPOINT \["node", /m);
    // The last step as root precedes the switch to this user, so no installed file belongs to it.
    expect(file.indexOf('USER 1000:1000')).toBeGreaterThan(file.lastIndexOf('RUN '));
  });

  test('in the Kubernetes example it can only write to its volumes', () => {
    const file = textOf('packaging/kubernetes.yaml');
    for (const setting of ['readOnlyRootFilesystem: true', 'runAsNonRoot: true', 'allowPrivilegeEscalation: false']) {
      expect(file).toContain(setting);
    }
    expect(file).toMatch(/capabilities:\s+drop: \[ALL\]/);
    expect(file).toContain('automountServiceAccountToken: false');
  });

  test('in the systemd unit it can only write to its data', () => {
    const file = textOf('packaging/latchkey.service');
    for (const setting of ['ProtectSystem=strict', 'NoNewPrivileges=true', 'CapabilityBoundingSet=', 'User=latchkey']) {
      expect(file.split('\n')).toContain(setting);
    }
  });

  test('it contains no secrets of the build machine', () => {
    const ignored = textOf('.dockerignore').split('\n');
    for (const path of ['.git', 'data', 'latchkey.yaml', 'config.yaml', '.env']) expect(ignored).toContain(path);
  });
});

test('the security policy says where to report a vulnerability and when to expect a response (S-174)', () => {
  expect(textOf('SECURITY.md')).toMatch(/first response within \w+ working days/);
});
