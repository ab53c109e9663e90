/** Every preset is complete and gives a client that the rules accept (administration A-11). */
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseClient } from '#config/sections/clients.ts';
import { applyPreset, filledSteps, serviceValues } from './apply-preset.ts';
import { CLIENT_PRESETS, findPreset } from './presets.ts';
import { type Preset, STEP_VARIABLES, URL_VARIABLE } from './programs/preset.ts';

const ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const SECRET = 'a-secret-of-at-least-16-characters';
const HTTP = { issuer: 'https://id.example.org', publicBase: 'https://id.example.org/' };

/** Programs that administration A-11 lists. */
const REQUIRED = `grafana nextcloud gitea forgejo gitlab immich jellyfin paperless-ngx outline vaultwarden proxmox portainer
  home-assistant argo-cd kubernetes minio open-webui mastodon discourse wordpress element-admin mcp`;

test('every required program has a preset, with a unique slug', () => {
  const slugs = CLIENT_PRESETS.map(({ slug }) => slug);
  expect(new Set(slugs).size).toBe(slugs.length);
  expect(slugs.length).toBeGreaterThanOrEqual(40);
  expect(slugs.filter((slug) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug))).toEqual([]);
  expect(REQUIRED.split(/\s+/).filter((slug) => findPreset(slug) === undefined)).toEqual([]);
});

describe.each(CLIENT_PRESETS.map((preset) => [preset.slug, preset] as const))('%s', (_, preset) => {
  const urls =
    preset.url === undefined ? [undefined] : [preset.url.example, 'https://other.example:8443/below/a/path/'];

  test.each(urls)('gives a client that the rules accept, for %s', (url) => {
    const applied = applyPreset(preset, url);
    if (!applied.ok) expect.fail(applied.reason);
    const isPublic = preset.client.client_auth_method === 'none';
    const members = { client_id: ID, ...applied.members, ...(!isPublic && { client_secret: SECRET }) };
    const parsed = parseClient(members, HTTP.publicBase);
    expect(parsed).toMatchObject({ ok: true, client: { clientName: preset.name, scope: preset.scopes } });
    const text = JSON.stringify([applied.members, filledSteps(preset, valuesFor(applied.url))]);
    expect(variablesOf(text)).toEqual([]);
  });

  test('uses only known variables, and only the URL in the client', () => {
    const known: readonly string[] = [URL_VARIABLE, ...STEP_VARIABLES];
    const { client, ...others } = preset;
    expect(variablesOf(JSON.stringify(others)).filter((name) => !known.includes(name))).toEqual([]);
    const inClient = variablesOf(JSON.stringify(client));
    expect(inClient.filter((name) => preset.url === undefined || name !== URL_VARIABLE)).toEqual([]);
  });

  test('has texts for both sides, and says how it was checked', () => {
    expect(preset.steps.length).toBeGreaterThan(0);
    const uses = variablesOf(JSON.stringify(preset.steps));
    if (preset.registersItself === undefined) expect(uses).toContain('client_id');
    expect(uses.includes('client_secret')).toBe(preset.client.client_auth_method !== 'none');
    expect(preset.scopes.includes('groups')).toBe(preset.groups !== undefined);
    const { checked } = preset;
    if (checked.how === 'documentation') expect(checked.url).toMatch(/^https:\/\//);
    else expect(existsSync(checked.test), checked.test).toBe(true);
  });
});

/** Doubled braces belong to the program's own templates. */
function variablesOf(text: string): readonly string[] {
  return [...text.matchAll(/(?<!\{)\{([a-z_]+)%?\}(?!\})/g)].map(([, name = '']) => name);
}

function valuesFor(url: string | undefined) {
  const values = { ...serviceValues(HTTP), client_id: ID, client_secret: SECRET };
  return url === undefined ? values : { ...values, url };
}

describe('a URL', () => {
  const grafana: Preset = findPreset('grafana') ?? expect.fail('no preset');

  test.each([
    ['https://Grafana.example/', 'https://grafana.example'],
    ['https://example.org/grafana//', 'https://example.org/grafana'],
    ['http://localhost:3000', 'http://localhost:3000'],
  ])('%s is normalized', (given, url) => {
    const { ok, ...applied } = applyPreset(grafana, given);
    expect(applied).toMatchObject({ url, members: { redirect_uris: [`${url}/login/generic_oauth`] } });
  });

  test.each([
    ['grafana.example', 'url-invalid'],
    ['ftp://grafana.example', 'url-invalid'],
    ['https://anna@grafana.example', 'url-invalid'],
    ['https://grafana.example/?a=b', 'url-invalid'],
    [undefined, 'url-missing'],
  ])('%s is refused', (given, reason) => {
    expect(applyPreset(grafana, given)).toMatchObject({ ok: false, reason });
  });

  test('is refused for a program without one', () => {
    const kubernetes = findPreset('kubernetes') ?? expect.fail('no preset');
    expect(applyPreset(kubernetes, 'https://k8s.example')).toEqual({ ok: false, reason: 'url-not-used' });
  });

  test('is encoded where a template says so', () => {
    const [step] = filledSteps(grafana, { ...valuesFor('https://g.example') });
    expect(JSON.stringify(step)).toContain(
      'https://id.example.org/oauth2/logout?post_logout_redirect_uri=https%3A%2F%2Fg.example%2Flogin',
    );
  });
});
