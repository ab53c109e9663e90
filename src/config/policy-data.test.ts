import { expect, test } from 'vitest';
import { loadYaml } from './fixture.test-support.ts';
import { addPolicyData } from './policy-data.ts';

const ULID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const configured = () =>
  loadYaml(`
policy:
  data:
    admin_users: [root]
    admin_clients: [${ULID}]
    client_registration: {allow_host_mismatch: true}
    registration:
      allowed_usernames: {prefixes: [a], regexes: ['^b']}
      banned_usernames: {literals: [mine]}
    allowed_domains: ['*.example.org']
    banned_domains: [bad.example.org]
    emails: {banned_addresses: {suffixes: ['+spam@example.org']}}
    requester: {banned_ips: [192.0.2.0/24, '2001:db8::1'], banned_user_agents: {substrings: [bot]}}
`).policy.data;
const defaults = () => loadYaml('').policy.data;

function added(data: unknown) {
  const judged = addPolicyData(configured(), data);
  return judged.ok ? judged.data : expect.fail(judged.problem);
}

test('no overrides leave every setting unchanged', () => {
  expect(added({})).toEqual(configured());
  const none = addPolicyData(defaults(), {});
  expect(none.ok && none.data).toEqual(defaults());
});

test('lists are concatenated, switches are replaced, null restores the default', () => {
  const data = added({
    admin_users: ['adele'],
    client_registration: { allow_host_mismatch: false, allow_insecure_uris: true, preset: 'mcp' },
    registration: { banned_usernames: { literals: null, prefixes: ['x'] }, allowed_usernames: null },
    requester: { banned_ips: ['198.51.100.7'] },
    allowed_domains: null,
  });
  expect(data.adminUsers).toEqual(['root', 'adele']);
  expect(data.clientRegistration).toEqual({
    allowHostMismatch: false,
    allowInsecureUris: true,
    allowMissingClientUri: false,
    allowPrivateUseSchemes: false,
    preset: 'mcp',
  });
  expect(data.registration).toEqual({
    allowedUsernames: defaults().registration.allowedUsernames,
    bannedUsernames: { ...defaults().registration.bannedUsernames, prefixes: ['x'] },
  });
  expect(data.requester.bannedIps).toHaveLength(3);
  expect(data.emails.allowedDomains).toEqual([]);
});

test.each([
  [{ nothing: true }, 'data.nothing'],
  [{ admin_users: 'root' }, 'data.admin_users'],
  [{ admin_users: [1] }, 'data.admin_users.0'],
  [{ admin_users: [null] }, 'data.admin_users.0'],
  [{ requester: [] }, 'data.requester'],
  [{ requester: { banned_ips: ['192.0.2.1/24'] } }, 'data.requester.banned_ips.0'],
  [{ registration: { banned_usernames: { regexes: ['(?=x)'] } } }, 'data.registration.banned_usernames.regexes.0'],
  [{ client_registration: { allow_insecure_uris: 'yes' } }, 'data.client_registration.allow_insecure_uris'],
  [JSON.parse('{"requester": {"__proto__": {}}}'), 'data.requester.__proto__'],
  [{ admin_users: Array.from({ length: 10_001 }, (_, index) => `u${index}`) }, 'data'],
])('%.60j is rejected with its position', (data, path) => {
  const judged = addPolicyData(configured(), data);
  expect(!judged.ok && judged.path.join('.')).toBe(path);
});

test('an error names the position in the added list, not in the merged one', () => {
  const data = { registration: { allowed_usernames: { regexes: ['^ok', '('] } } };
  expect(addPolicyData(configured(), data)).toMatchObject({
    ok: false,
    path: ['data', 'registration', 'allowed_usernames', 'regexes', '1'],
  });
});
